"""Cumulative distributions: one-way delay and completion time."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

from airpath.metrics.run import columns, flows_under_test, measured_span_s, sources_under_test
from airpath.plots.style import COLUMN_IN, Style, layers_above, legend_above, new_axes, style_for, styled
from airpath.results import RunResult

Distribution = tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]
"""Values in rising order, and the part of the items that do not exceed each."""


@styled
def delay_distribution(
    runs: Sequence[RunResult], axes: Axes | None = None, style: Style | None = None
) -> Axes:
    """Draw the cumulative distribution of one-way delay over the packets of all runs of each scheme.

    Parameters
    ----------
    runs
        The runs; those of one scheme are pooled.
    axes
        Where to draw; new axes when absent.
    style
        How schemes look; as registered when absent.
    """
    axes = _draw(delay_distributions(runs), axes, style)
    axes.set_xlabel("one-way delay (ms)")
    axes.set_ylabel("cumulative fraction of packets")
    return axes


@styled
def completion_distribution(
    runs: Sequence[RunResult], axes: Axes | None = None, style: Style | None = None
) -> Axes:
    """Draw the cumulative distribution of completion time over the transfers of all runs of each scheme.

    Parameters
    ----------
    runs
        The runs; those of one scheme are pooled.
    axes
        Where to draw; new axes when absent.
    style
        How schemes look; as registered when absent.
    """
    axes = _draw(completion_distributions(runs), axes, style)
    axes.set_xlabel("completion time (s)")
    axes.set_ylabel("part of transfers")
    return axes


def delay_distributions(runs: Sequence[RunResult]) -> dict[str, Distribution]:
    """One-way delay in ms of the flows under test, by scheme; schemes without packets are left out."""
    pooled: dict[str, list[Distribution]] = {}
    for run in runs:
        histogram = columns(run.delay_histogram)
        rows = (histogram["kind"] == "one-way") & sources_under_test(run.record.plan)[histogram["source"]]
        pooled.setdefault(run.record.scheme, []).append(
            (histogram["delay_s"][rows] * 1e3, histogram["packets"][rows])
        )
    return _cumulate(pooled)


def completion_distributions(runs: Sequence[RunResult]) -> dict[str, Distribution]:
    """Completion time in s of the transfers that count, by scheme; schemes without any are left out."""
    pooled: dict[str, list[Distribution]] = {}
    for run in runs:
        completions, flows = columns(run.completions), columns(run.flows)
        tested = flows["flow"][flows_under_test(run.record.plan, flows)]
        start_s, _ = measured_span_s(run.record.plan)
        rows = np.isin(completions["flow"], tested) & (completions["start_s"] >= start_s)
        times = (completions["end_s"] - completions["start_s"])[rows]
        pooled.setdefault(run.record.scheme, []).append((times, np.ones(times.size)))
    return _cumulate(pooled)


_LOGARITHMIC_FROM = 20.0


def _cumulate(pooled: Mapping[str, Sequence[Distribution]]) -> dict[str, Distribution]:
    distributions = {}
    for scheme, parts in pooled.items():
        values = np.concatenate([part[0] for part in parts])
        counts = np.concatenate([part[1] for part in parts])
        if counts.sum() > 0:
            distinct, index = np.unique(values, return_inverse=True)
            cumulative = np.cumsum(np.bincount(index, weights=counts))
            distributions[scheme] = (distinct, cumulative / cumulative[-1])
    return distributions


def _quantiles(values: npt.NDArray[np.float64], part: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the values that 2, 4, … 98 % of the items do not exceed, in rows."""
    return values[np.searchsorted(part, np.arange(1, 50) / 50), np.newaxis]


def _draw(distributions: Mapping[str, Distribution], axes: Axes | None, style: Style | None) -> Axes:
    axes = axes or new_axes(COLUMN_IN, 2.6)
    style = style or style_for(distributions)
    everything = (
        np.concatenate([values for values, _ in distributions.values()]) if distributions else np.empty(0)
    )
    positive = everything[everything > 0]
    logarithmic = positive.size > 0 and positive.max() > _LOGARITHMIC_FROM * positive.min()

    def shown(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return np.log(np.maximum(values, positive.min())) if logarithmic else values

    quantiles = [shown(_quantiles(*distribution)) for distribution in distributions.values()]
    above = layers_above(
        quantiles, np.ptp(shown(everything), keepdims=True) if everything.size else everything
    )
    for (scheme, (values, part)), layers in zip(distributions.items(), above, strict=True):
        look = style[scheme]
        steps = np.concatenate((values[:1], values)), np.concatenate(([0.0], part))
        axes.step(
            *steps,
            where="post",
            color=look.colour,
            linewidth=rcParams["lines.linewidth"] * (1 + 1.5 * layers),
            label=look.label,
        )
    if logarithmic:
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
    axes.margins(x=0.03)
    axes.set_ylim(0, 1.02)
    legend_above(axes)
    return axes

"""Cumulative distributions: one-way delay and completion time."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

from airpath.plots.style import COLUMN_IN, layers_above, legend_above, new_axes, styled
from airpath.results import RunResult
from airpath.views.distributions import (
    Cumulative,
    completion_distributions,
    delay_distributions,
    is_wide,
)
from airpath.views.styles import Style, style_for


@styled
def delay_distribution(
    runs: Sequence[RunResult], axes: Axes | None = None, style: Style | None = None
) -> Axes:
    """Plot the cumulative distribution of one-way delay over the packets of all runs of each scheme.

    Parameters
    ----------
    runs
        The runs; those of one scheme are pooled.
    axes
        The axes to plot on; new axes by default.
    style
        Style of each scheme; as registered by default.
    """
    axes = _draw(delay_distributions(runs), axes, style)
    axes.set_xlabel("one-way delay (ms)")
    axes.set_ylabel("cumulative fraction of packets")
    return axes


@styled
def completion_distribution(
    runs: Sequence[RunResult], axes: Axes | None = None, style: Style | None = None
) -> Axes:
    """Plot the cumulative distribution of completion time over the transfers of all runs of each scheme.

    Parameters
    ----------
    runs
        The runs; those of one scheme are pooled.
    axes
        The axes to plot on; new axes by default.
    style
        Style of each scheme; as registered by default.
    """
    axes = _draw(completion_distributions(runs), axes, style)
    axes.set_xlabel("completion time (s)")
    axes.set_ylabel("part of transfers")
    return axes


def _quantiles(values: npt.NDArray[np.float64], part: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the values that 2, 4, … 98 % of the items do not exceed, in rows."""
    return values[np.searchsorted(part, np.arange(1, 50) / 50), np.newaxis]


def _draw(distributions: Mapping[str, Cumulative], axes: Axes | None, style: Style | None) -> Axes:
    axes = axes or new_axes(COLUMN_IN, 2.6)
    style = style or style_for(distributions)
    everything = (
        np.concatenate([values for values, _ in distributions.values()]) if distributions else np.empty(0)
    )
    positive = everything[everything > 0]
    logarithmic = is_wide(list(distributions.values()))

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

"""Figures of the differences between backends."""

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from airpath._backends import BACKENDS, BackendName
from airpath.gap.compared import Compared, Gap
from airpath.gap.differences import Difference
from airpath.metrics import METRICS, RATE_BIN_S, TimeBins
from airpath.metrics.run import columns, link_under_test
from airpath.plots.standard_figure import StandardFigure
from airpath.plots.style import PAGE_IN, legend_above, styled
from airpath.results import RunResult

FARTHEST = 10.0
"""Limit of the axis, in tolerances: a larger difference is plotted there, hollow, with its number."""


def gap_figures(gap: Gap) -> list[StandardFigure]:
    """Return the differences of each scheme in all metrics, and the first run of each backend over time."""
    figures = []
    for number, one in enumerate(gap.compared):
        if "sim" not in one.labels:
            continue
        stem = "" if len(gap.compared) == 1 else f"-{number + 1}"
        if any(not math.isnan(d.difference) for found in one.differences.values() for d in found):
            figures.append(
                StandardFigure(
                    f"gap{stem}",
                    f"{one.scheme}: differences of each backend from the simulator, in tolerances. Within the"
                    " shaded band they agree. Whiskers are 95 % confidence intervals over repetitions"
                    f" (Welch). Differences above {FARTHEST:g} have hollow markers and are labelled.",
                    differences_figure(one),
                )
            )
        figures.append(
            StandardFigure(
                f"gap-over-time{stem}",
                f"{one.scheme}: rate of the link under test in bins of {RATE_BIN_S:g} s over its shaded"
                " capacity, and its mean queue in each recorded interval; first repetition on each backend.",
                over_time_figure(gap, one),
            )
        )
    return figures


@styled
def differences_figure(one: Compared) -> Figure:
    """Plot each difference, divided by its tolerance, with its interval."""
    drawn = {
        world: [d for d in found if not math.isnan(d.difference)] for world, found in one.differences.items()
    }
    metrics = list(dict.fromkeys(d.metric for found in drawn.values() for d in found))
    figure = Figure(figsize=(PAGE_IN, 1.0 + 0.34 * len(metrics)), layout="constrained")
    axes = figure.add_subplot()
    axes.axvspan(-1, 1, color="#e4e4e4", linewidth=0)
    axes.axvline(0, color="#888888", linewidth=0.6)
    worlds = [world for world, found in drawn.items() if found]
    for offset, world in zip(_offsets(len(worlds)), worlds, strict=True):
        _draw(axes, drawn[world], metrics, offset, world)
    axes.set_yticks(range(len(metrics)), [METRICS[metric].title for metric in metrics])
    axes.invert_yaxis()
    reach = max(1.5, *(_reach(d) for found in drawn.values() for d in found))
    axes.set_xlim(-reach * 1.08, reach * 1.08)
    axes.set_xlabel("difference from the simulator, in tolerances")
    legend_above(axes)
    return figure


def _offsets(count: int) -> Sequence[float]:
    return [0.0] if count == 1 else list(np.linspace(-0.16, 0.16, count))


def _draw(axes: Axes, found: list[Difference], metrics: list[str], offset: float, world: BackendName) -> None:
    backend = BACKENDS[world]
    colour = backend.colour
    for first, one in enumerate(found):
        tolerance, at = one.tolerance.share, metrics.index(one.metric) + offset
        if not math.isnan(one.low):
            axes.plot([one.low / tolerance, one.high / tolerance], [at, at], color=colour, linewidth=1.1)
        where = one.difference / tolerance
        beyond = abs(where) > FARTHEST
        axes.plot(
            math.copysign(FARTHEST, where) if beyond else where,
            at,
            linestyle="none",
            color=colour,
            marker=backend.marker,
            markersize=4.5,
            markerfacecolor="white" if beyond else colour,
            label="" if first else backend.title,
        )
        if beyond:
            side = "right" if where > 0 else "left"
            inwards = -6 if where > 0 else 6
            axes.annotate(
                f"{where:+.0f}",
                (math.copysign(FARTHEST, where), at),
                xytext=(inwards, 0),
                textcoords="offset points",
                color=colour,
                fontsize="x-small",
                ha=side,
                va="center",
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6},
            )


def _reach(one: Difference) -> float:
    """Return the extent of a difference with its interval in tolerances, up to the limit of the axis."""
    bounds = (one.difference, one.low, one.high)
    return min(FARTHEST, max(abs(b) / one.tolerance.share for b in bounds if not math.isnan(b)))


@styled
def over_time_figure(gap: Gap, one: Compared) -> Figure:
    """Plot rate and queue of the link under test over time, one backend over the other.

    Earlier lines are wider, so that they remain visible where later ones cover them.
    """
    figure = Figure(figsize=(PAGE_IN, 4.2), layout="constrained")
    rates, queues = figure.add_subplot(2, 1, 1), figure.add_subplot(2, 1, 2)
    for number, (world, label) in enumerate(one.labels.items()):
        run = gap.results.run(label)
        width = 1.0 + 0.8 * (len(one.labels) - 1 - number)
        _over_time(run, world, rates, queues, width, shade=number == 0)
    rates.set_ylabel("rate (Mbit/s)")
    queues.set_ylabel("mean queue (kB)")
    queues.set_xlabel("time (s)")
    for axes in (rates, queues):
        axes.set_ylim(bottom=0)
        axes.set_xlim(0, gap.results.run(one.labels["sim"]).record.plan["duration_ns"] / 1e9)
    legend_above(rates)
    return figure


def _over_time(
    run: RunResult, world: BackendName, rates: Axes, queues: Axes, width: float, *, shade: bool
) -> None:
    plan = run.record.plan
    series = columns(run.link_series)
    mine = series["link"] == link_under_test(plan)
    times, bins = series["time_s"][mine], TimeBins(plan, RATE_BIN_S)
    edges = np.append(bins.start_s, bins.end_s[-1:])
    colour = BACKENDS[world].colour
    if shade and not np.isnan(series["offered_bytes"][mine]).any():
        capacity = bins.rate_mbps(times, series["offered_bytes"][mine])
        rates.stairs(capacity, edges, fill=True, color="#dcdcdc", label="capacity")
    carried = bins.rate_mbps(times, series["departed_bytes"][mine])
    rates.stairs(carried, edges, baseline=None, color=colour, linewidth=width, label=BACKENDS[world].title)
    queues.plot(times, series["queue_mean_bytes"][mine] * 1e-3, color=colour, linewidth=width)

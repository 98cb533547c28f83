"""Precision of means after each repetition."""

import math
from collections.abc import Mapping
from typing import Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator

from airpath.metrics import METRICS
from airpath.plots.style import COLUMN_IN, legend_above, new_axes, styled
from airpath.precision.reached import WIDE, share_after
from airpath.precision.rule import CONFIDENCE, DEFAULT_METRIC
from airpath.results import Results
from airpath.views.styles import Style, style_for

FEWEST: Final = 5
"""The minimum number of repetitions: fewer give three points at most."""
_MOST_TICKS: Final = 12
"""The largest number of repetitions that each have a tick."""
_MOST_POINTS: Final = 120


@styled
def precision(results: Results, axes: Axes | None = None, style: Style | None = None) -> Axes:
    """Plot the relative half-width of the interval of each scheme's mean over the number of repetitions.

    Intervals are those of the stopping rule if repetitions were added by one, otherwise 95 % intervals. The
    dashed line is the requested precision, otherwise 5 %. Metrics without variation have no interval and are
    not plotted.

    Parameters
    ----------
    results
        The results.
    axes
        The axes to plot on; new axes by default.
    style
        Style of each scheme; as registered by default.
    """
    axes = axes or new_axes(COLUMN_IN * 1.4, COLUMN_IN)
    style = style or style_for(results.schemes)
    rule = results.until
    drawn = precision_points(results)
    for scheme, points in drawn.items():
        look = style[scheme]
        axes.plot(*zip(*points.items(), strict=True), color=look.colour, linewidth=1.2, label=look.label)
    target = WIDE if rule is None else rule.precision
    if target is not None:
        axes.axhline(100 * target, color="#444444", linestyle="--", linewidth=0.8)
    if rule is not None:
        for look_at in rule.looks:
            axes.axvline(look_at, color="#cccccc", linewidth=0.6, zorder=0)
        axes.set_xlim(right=1.05 * max(run.record.repetition + 1 for run in results.runs))
    axes.set_xscale("log")
    axes.set_yscale("log")
    for axis, subs in ((axes.xaxis, (1.0, 2.0, 5.0)), (axes.yaxis, (1.0, 2.0, 5.0))):
        axis.set_major_locator(LogLocator(subs=subs))
        axis.set_major_formatter(FuncFormatter(_tick))
        axis.set_minor_formatter(NullFormatter())
    if (most := max((max(points) for points in drawn.values()), default=0)) <= _MOST_TICKS:
        axes.xaxis.set_major_locator(FixedLocator(range(2, most + 1)))
        axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("repetitions")
    metric = METRICS[DEFAULT_METRIC if rule is None else rule.metric]
    axes.set_ylabel(f"half-width of the interval of\n{metric.title} (% of the mean)")
    legend_above(axes)
    return axes


def _tick(value: float, _: int | None) -> str:
    return f"{value:g}"


def precision_points(results: Results) -> Mapping[str, dict[int, float]]:
    """Return for each scheme the half-width by number of repetitions, % of the mean, if not zero."""
    rule = results.until
    metric, level = (DEFAULT_METRIC, 1.0 - CONFIDENCE) if rule is None else (rule.metric, rule.level)
    found = {}
    for scheme in results.schemes:
        values = np.array([run.metrics[metric] for run in results.runs if run.record.scheme == scheme])
        if len(values) < FEWEST:
            continue
        counts = np.unique(np.geomspace(2, len(values), _MOST_POINTS).round().astype(int))
        shares = {int(n): 100 * share_after(values[:n], level) for n in counts}
        if drawn := {n: share for n, share in shares.items() if share > 0 and math.isfinite(share)}:
            found[scheme] = drawn
    return found

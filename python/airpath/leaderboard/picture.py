"""The trade-off between the entries of a leaderboard as a figure."""

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator

from airpath.leaderboard.scores import Scores
from airpath.leaderboard.standings import Standing, axes_of, higher_is_better
from airpath.metrics import METRICS
from airpath.plots.style import COLUMN_IN, new_axes, styled
from airpath.results.formatting import NO_VALUE
from airpath.views.styles import style_for


@styled
def trade_off_of_entries(scores: Scores, ranks: Sequence[Standing]) -> Axes:
    """Plot the axes of the leaderboard against each other, with intervals and the Pareto front.

    The better direction of both axes is up and right.
    """
    axes = new_axes(COLUMN_IN * 1.9, COLUMN_IN * 1.25)
    x, y = axes_of(scores)
    shown = [one for one in ranks if not any(math.isnan(one.values[axis].mean) for axis in (x, y))]
    looks = style_for(one.entry for one in shown)
    least = min((one.values[x].mean for one in shown), default=1.0)
    most = max((one.values[x].mean for one in shown), default=1.0)
    if 0 < least * _LOGARITHMIC_FROM < most:
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_formatter("")
    front = sorted((one.values[x].mean, one.values[y].mean) for one in shown if one.on_front)
    axes.plot(*zip(*front, strict=True), color="0.75", linewidth=1.5, zorder=1, label="Pareto front")
    for one in shown:
        look = looks[one.entry]
        axes.errorbar(
            one.values[x].mean,
            one.values[y].mean,
            xerr=_known(one.values[x].half),
            yerr=_known(one.values[y].half),
            color=look.colour,
            marker=look.marker,
            markersize=6,
            linestyle="none",
            elinewidth=0.8,
            label=f"{one.rank or NO_VALUE}  {one.entry}",
        )
    # Long intervals of few seeds leave the axes.
    axes.set_xlim(_around([one.values[x].mean for one in shown], logarithmic=axes.get_xscale() == "log"))
    axes.set_ylim(_around([one.values[y].mean for one in shown]))
    axes.set(xlabel=METRICS[x].heading, ylabel=METRICS[y].heading)
    if not higher_is_better(x):
        axes.invert_xaxis()
        axes.set_xlabel(f"{METRICS[x].heading}, reversed")
    if not higher_is_better(y):
        axes.invert_yaxis()
        axes.set_ylabel(f"{METRICS[y].heading}, reversed")
    axes.legend(loc="center left", bbox_to_anchor=(1.02, 0.5), fontsize=6)
    return axes


_LOGARITHMIC_FROM = 4.0
"""Ratio of the largest to the smallest value from which the x axis is logarithmic."""


def _around(values: Sequence[float], *, logarithmic: bool = False) -> tuple[float, float]:
    """Return limits with a tenth of the range of the values on either side."""
    if not values:
        return 0.0, 1.0
    if logarithmic:
        low, high = _around([math.log(value) for value in values])
        return math.exp(low), math.exp(high)
    low, high = min(values), max(values)
    margin = 0.1 * (high - low) or 1.0
    return low - margin, high + margin


def _known(half: float) -> float:
    return 0.0 if math.isnan(half) else half

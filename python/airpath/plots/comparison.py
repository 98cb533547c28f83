"""Comparison of schemes: throughput against delay, and bars with confidence intervals."""

import math
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MaxNLocator

from airpath.metrics import METRICS
from airpath.plots.style import COLUMN_IN, layers_above, new_axes, styled
from airpath.results.formatting import number
from airpath.views.styles import SchemeStyle, Style, style_for


@styled
def trade_off(summary: pa.Table, axes: Axes | None = None, style: Style | None = None) -> Axes:
    """Plot throughput against p95 one-way delay; the delay axis is reversed, so that up and right is better.

    Small points are runs, the marker is their mean, and with three or more runs the ellipse is one standard
    deviation of the runs (the 1-sigma contour of their covariance, in the coordinates of the axes). The delay
    axis is logarithmic to base 2 if delays span more than a factor of four.

    Parameters
    ----------
    summary
        One row for each run.
    axes
        The axes to plot on; new axes by default.
    style
        Style of each scheme; as registered by default.
    """
    axes = axes or new_axes(COLUMN_IN * 1.3, COLUMN_IN)
    points = _points(summary)
    style = style or style_for(points)
    drawn = np.concatenate(list(points.values())) if points else np.empty((0, 2))
    logarithmic = drawn.size > 0 and drawn[:, 0].max() > _LOGARITHMIC_FROM * drawn[:, 0].min()
    if logarithmic:
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_formatter(FuncFormatter(_tick))
    most_runs = max((len(runs) for runs in points.values()), default=0)
    # Crosses are plotted above all other markers, and hide little.
    filled = [scheme for scheme in points if style[scheme].marker not in _CROSSES]
    means = [_shown(points[scheme].mean(axis=0, keepdims=True), logarithmic) for scheme in filled]
    span = np.ptp(_shown(drawn, logarithmic), axis=0) if drawn.size else np.empty(2)
    above = dict(zip(filled, layers_above(means, span), strict=True))
    # Rings are narrow if many markers coincide: otherwise the lowest would cover its neighbours.
    larger = min(5.0, _MOST_LARGER / max(1, *above.values())) if above else 0.0
    for scheme, runs in points.items():
        look = style[scheme]
        if len(runs) > 1:
            axes.plot(
                *runs.T, linestyle="none", marker=look.marker, markersize=2.5, color=look.colour, alpha=0.45
            )
        if len(runs) >= _ELLIPSE_FROM:
            contour = ellipse(runs, logarithmic=logarithmic)
            axes.plot(*contour.T, color=look.colour, linewidth=0.8)
            drawn = np.concatenate((drawn, contour))
        mean = runs.mean(axis=0)
        cross = look.marker in _CROSSES
        axes.plot(
            *mean,
            linestyle="none",
            marker=look.marker,
            markersize=6 if cross else 7 + larger * above[scheme],
            color=look.colour,
            markeredgecolor="white" if look.marker in Line2D.filled_markers else look.colour,
            markeredgewidth=0.3 if cross else 1.0,
            zorder=3 if cross else 2,
            label=look.label,
        )
    axes.set_xlabel("p95 one-way delay (ms), reversed")
    axes.set_ylabel("throughput (Mbit/s)")
    axes.margins(0.12)
    axes.set_ylim(bottom=max(0.0, axes.get_ylim()[0]))
    axes.invert_xaxis()
    if points:
        _better_arrow(axes, drawn)
        legend = axes.legend(
            loc="center left", bbox_to_anchor=(1.02, 0.5), title=_legend_title(most_runs), title_fontsize=6
        )
        for handle in legend.legend_handles:
            if isinstance(handle, Line2D):
                handle.set_markersize(min(handle.get_markersize(), _LARGEST_IN_LEGEND))
    return axes


def _shown(points: npt.NDArray[np.float64], logarithmic: bool) -> npt.NDArray[np.float64]:
    """Return (delay, throughput) points in the coordinates of the axes."""
    return np.column_stack([np.log2(points[:, 0]), points[:, 1]]) if logarithmic else points


def ellipse(points: npt.NDArray[np.float64], *, logarithmic: bool = False) -> npt.NDArray[np.float64]:
    """Return the 1-sigma contour of the sample covariance of (delay, throughput) points, a closed line.

    With `logarithmic`, mean and covariance are those of the logarithm of the delay.
    """
    x = _shown(points, logarithmic)
    values, vectors = np.linalg.eigh(np.cov(x, rowvar=False))
    angle = np.linspace(0, 2 * math.pi, 73)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    line = x.mean(axis=0) + (circle * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    return np.column_stack([np.exp2(line[:, 0]), line[:, 1]]) if logarithmic else line


@styled
def metric_bars(
    statistics: pa.Table, metric: str, axes: Axes | None = None, style: Style | None = None
) -> Axes:
    """Plot the mean of one metric for each scheme, with its 95 % confidence interval.

    Parameters
    ----------
    statistics
        One row for each scheme and metric (`airpath.metrics.statistics`).
    metric
        Name of the metric.
    axes
        The axes to plot on; new axes by default.
    style
        Style of each scheme; as registered by default.
    """
    axes = axes or new_axes(COLUMN_IN)
    rows = [row for row in statistics.to_pylist() if row["metric"] == metric and row["n"]]
    style = style or style_for(row["scheme"] for row in rows)
    looks: list[SchemeStyle] = [style[row["scheme"]] for row in rows]
    means = np.array([row["mean"] for row in rows])
    half = np.array([(row["ci95_high"] - row["ci95_low"]) / 2 for row in rows])
    # A label of several lines takes the height that `bar_heights_in` returns; other bars are one unit apart.
    room = np.array(bar_heights_in([look.label for look in looks])) / BAR_IN
    position = np.cumsum(room) - (room + 1) / 2
    axes.barh(position, means, height=0.62, color=[look.colour for look in looks], alpha=0.85)
    # A single run has no interval: its half-width is NaN, which is not plotted.
    axes.errorbar(means, position, xerr=half, fmt="none", ecolor="black", elinewidth=0.8, capsize=2.5)
    axes.set_yticks(position, [look.label for look in looks])
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    # An interval is symmetrical, even if values below zero are impossible.
    least = axes.get_xlim()[0] if means.min(initial=0.0) < 0 else 0.0
    axes.set_xlim(left=least, right=axes.get_xlim()[1] * 1.05 or 1.0)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=5))
    axes.set_xlabel(METRICS[metric].heading)
    return axes


def bar_heights_in(labels: Iterable[str]) -> list[float]:
    """Return the heights of bars at which their labels do not overlap, in inches."""
    return [max(BAR_IN, 0.13 * (1 + label.count("\n"))) for label in labels]


BAR_IN = 0.24
"""Height of a bar with a label of one line, in inches."""
_LOGARITHMIC_FROM = 4.0
_ELLIPSE_FROM = 3
_MOST_LARGER = 20.0
"""The maximum enlargement, in points, of the lowest of coincident markers."""
_LARGEST_IN_LEGEND = 8.0
"""Largest marker in a legend, in points: a larger one covers names."""
_CROSSES = frozenset("PX")
"""Markers that would vanish behind another at the same place: plotted on top, smaller, with a thin edge."""


def _tick(delay: float, _: int | None) -> str:
    return number(delay)


def _points(summary: pa.Table) -> dict[str, npt.NDArray[np.float64]]:
    """Return (delay in ms, throughput in Mbit/s) of each run, by scheme; runs without either are left out."""
    points: dict[str, list[tuple[float, float]]] = {}
    for row in summary.select(["scheme", "delay_p95_ms", "throughput_mbps"]).to_pylist():
        if row["delay_p95_ms"] > 0 and not math.isnan(row["throughput_mbps"]):
            points.setdefault(row["scheme"], []).append((row["delay_p95_ms"], row["throughput_mbps"]))
    return {scheme: np.array(runs) for scheme, runs in points.items()}


def _legend_title(most_runs: int) -> str:
    if most_runs == 1:
        return "mark: the run"
    if most_runs < _ELLIPSE_FROM:
        return "mark: mean\npoints: runs"
    return "mark: mean\npoints: runs\nellipse: 1 sd of runs"


def _better_arrow(axes: Axes, drawn: npt.NDArray[np.float64]) -> None:
    """Plot an arrow up and right, at the place farthest from all data."""
    places = axes.transAxes.inverted().transform(axes.transData.transform(drawn))
    spots = [(x, y) for x in np.linspace(0.14, 0.86, 13) for y in np.linspace(0.12, 0.88, 13)]
    x, y = max(spots, key=lambda spot: float(np.hypot(*(places - spot).T).min()))
    axes.annotate(
        "",
        xy=(x + 0.09, y + 0.1),
        xytext=(x - 0.09, y - 0.06),
        xycoords="axes fraction",
        arrowprops={
            "arrowstyle": "simple",
            "facecolor": "#c8c8c8",
            "edgecolor": "none",
            "mutation_scale": 16,
        },
    )
    axes.text(
        x, y - 0.07, "better", transform=axes.transAxes, fontsize=7, color="#666666", va="top", ha="center"
    )

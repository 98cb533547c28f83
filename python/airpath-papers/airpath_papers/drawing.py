"""Plots that several figures share: queue, utilisation and windows over time."""

import textwrap
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from airpath.plots import PAGE_IN
from airpath.plots.style import legend_above, styled
from airpath.schemes import SCHEMES
from airpath.views.styles import SchemeStyle, style_for
from airpath_papers.figure import FigureRuns
from airpath_papers.measures import link
from airpath_papers.run_data import RunData

Looks = Mapping[str, SchemeStyle]

WIDEST_TICK = 14
"""Longest line of a label below a group of bars, in characters."""

PANEL_IN = 2.1
"""Height of one panel, in inches."""


def looks_of(labels: Sequence[str]) -> Looks:
    """Return the styles of experiments: those of the registry if their labels are schemes."""
    if set(labels) <= {scheme.id for scheme in SCHEMES}:
        return style_for(labels)
    # Variants of one scheme need different colours.
    return {
        label: SchemeStyle(label, _SERIES[number % len(_SERIES)], "o") for number, label in enumerate(labels)
    }


@styled
def panels(count: int, height_in: float = PANEL_IN, columns: int = 1) -> tuple[Picture, list[Axes]]:
    """Return a figure with panels below each other, or in columns."""
    rows = -(-count // columns)
    picture = Picture(figsize=(PAGE_IN, rows * height_in + 0.3), layout="constrained")
    return picture, [picture.add_subplot(rows, columns, number + 1) for number in range(count)]


def without_legend(axes: Axes) -> None:
    """Remove the legend if another panel shows the same one."""
    if legend := axes.get_legend():
        legend.remove()


@styled
def over_time_by_choice(runs: FigureRuns, what: str, name: str | None = None, span_s: float = 0.0) -> Picture:
    """Plot the first run of each experiment over time, a panel for each choice.

    Parameters
    ----------
    runs
        The runs.
    what
        `queue` or `utilisation`.
    name
        The link; by default the one under test.
    span_s
        Width of the bins, in seconds; the recorded interval if 0.
    """
    picture, axes = panels(len(runs.choices))
    for choice, panel in zip(runs.choices, axes, strict=True):
        looks = looks_of(runs.labels(choice))
        first = {label: runs.of(choice)(label)[0] for label in runs.labels(choice)}
        draw = queues if what == "queue" else utilisations
        draw(panel, first, looks, name, span_s)
        panel.set_title(choice, loc="right")
    return picture


@styled
def queues(
    axes: Axes, runs: Mapping[str, RunData], looks: Looks, name: str | None = None, span_s: float = 0.0
) -> None:
    """Plot the queue of a link over time, as a share of its buffer."""
    for label, run in runs.items():
        chosen = link(run, name)
        time_s, queue = binned(chosen.series["time_s"], chosen.series["queue_mean_bytes"], span_s)
        percent = queue / chosen.buffer_bytes * 100
        look = looks[label]
        axes.plot(
            time_s, percent, color=look.colour, label=f"{look.display_name}, mean {percent.mean():.1f} %"
        )
    axes.set_ylabel("queue (% of buffer)")
    finish(axes, next(iter(runs.values())).duration_s)


@styled
def utilisations(
    axes: Axes, runs: Mapping[str, RunData], looks: Looks, name: str | None = None, span_s: float = 0.0
) -> None:
    """Plot throughput over time over the shaded capacity of a link; the legend shows utilisation."""
    shaded = False
    for label, run in runs.items():
        series = link(run, name).series
        if not shaded:
            edges, capacity = rate_mbps(series["time_s"], series["offered_bytes"], span_s)
            axes.stairs(capacity, edges, fill=True, color="#e6e6e6", label="capacity")
            shaded = True
        edges, rate = rate_mbps(series["time_s"], series["departed_bytes"], span_s)
        look = looks[label]
        share = series["departed_bytes"].sum() / series["offered_bytes"].sum() * 100
        axes.stairs(
            rate,
            edges,
            baseline=None,
            color=look.colour,
            linewidth=1.0,
            label=f"{look.display_name}, {share:.1f} %",
        )
    axes.set_ylabel("throughput (Mbit/s)")
    finish(axes, next(iter(runs.values())).duration_s)


@styled
def windows(axes: Axes, run: RunData, look: SchemeStyle, most: int = 5) -> None:
    """Plot the congestion windows of a few flows; of more, one flow and the 10th and 90th percentile."""
    time_s, sizes = run.window_time_s, run.windows_packets
    if len(sizes) <= most:
        for number, one in enumerate(sizes):
            axes.plot(time_s, one, linewidth=0.8, color=_SERIES[number % len(_SERIES)])
        axes.plot([], [], color="#666666", label=f"{look.display_name}, {len(sizes)} flows")
    else:
        known = ~np.isnan(sizes).all(axis=0)  # some times are before the first flow
        low, high = np.nanpercentile(sizes[:, known], (10, 90), axis=0)
        axes.fill_between(
            time_s[known],
            low,
            high,
            color=look.colour,
            alpha=0.3,
            label=f"10th to 90th percentile of {len(sizes)} flows",
        )
        axes.plot(time_s, sizes[0], color=look.colour, label=f"{look.display_name}, one flow")
    axes.set_ylabel("window (packets)")
    finish(axes, run.duration_s)


@styled
def bars(
    axes: Axes,
    groups: Sequence[str],
    values: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    looks: Looks,
    ylabel: str,
) -> None:
    """Plot grouped bars with the half-width of their interval: for each label, means and half-widths."""
    width = 0.8 / len(values)
    places = np.arange(len(groups))
    axes.set_xlim(-0.6, len(groups) - 0.4)
    for number, (label, (means, halves)) in enumerate(values.items()):
        axes.bar(
            places + (number - (len(values) - 1) / 2) * width,
            means,
            width,
            yerr=halves,  # NaN, and therefore not plotted, for a single run without an interval
            color=looks[label].colour,
            label=looks[label].display_name,
            error_kw={"elinewidth": 0.7, "capsize": 1.5},
        )
    axes.set_xticks(places, [textwrap.fill(name, WIDEST_TICK) for name in groups])
    axes.set_ylim(bottom=0)
    axes.set_ylabel(ylabel)
    legend_above(axes)


def finish(axes: Axes, duration_s: float) -> None:
    """Label the axis of time and put the legend above."""
    axes.set_xlabel("time (s)")
    axes.set_xlim(0, duration_s)
    axes.set_ylim(bottom=0)
    legend_above(axes)


def binned(time_s: np.ndarray, values: np.ndarray, span_s: float) -> tuple[np.ndarray, np.ndarray]:
    """Return ends and means of bins of `span_s`; an incomplete last bin is left out."""
    per_bin = max(1, round(span_s / float(time_s[0]))) if span_s else 1
    count = len(time_s) // per_bin
    means = values[: count * per_bin].reshape(count, per_bin).mean(axis=1)
    return time_s[per_bin - 1 :: per_bin][:count], means


def rate_mbps(time_s: np.ndarray, sizes: np.ndarray, span_s: float) -> tuple[np.ndarray, np.ndarray]:
    """Return edges of bins of `span_s` and the mean rate in each, in Mbit/s."""
    ends, means = binned(time_s, sizes, span_s)
    interval = float(time_s[0])
    start = ends[0] - (ends[1] - ends[0] if len(ends) > 1 else ends[0])
    return np.append(start, ends), means * 8e-6 / interval


_SERIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#7f7f7f")

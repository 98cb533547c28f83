"""Plots of the testbed's figures."""

from collections.abc import Callable, Mapping, Sequence

from matplotlib.axes import Axes

from airpath.plots.style import legend_above, styled
from airpath.views.styles import SchemeStyle
from airpath_papers.claim import Runs
from airpath_papers.drawing import binned, finish
from airpath_papers.measures import link, of_each
from airpath_papers.run_data import RunData
from airpath_papers.sample import Sample, sample
from airpath_papers.vcp_w.testbed_settings import GROUPS

GROUP_LOOKS: Mapping[str, str] = {"near": "#0072b2", "middle": "#e69f00", "far": "#d55e00"}
RTTS: Mapping[str, str] = {"near": "400 ms", "middle": "500 ms", "far": "550 ms"}
"""Default RTTs of the groups."""


@styled
def utilisation_over_time(
    axes: Axes,
    runs: Mapping[str, RunData],
    looks: Mapping[str, SchemeStyle],
    until_s: float,
    span_s: float = 1.0,
) -> None:
    """Plot the utilisation of the bottleneck."""
    for label, run in runs.items():
        series = link(run).series
        time_s, departed = binned(series["time_s"], series["departed_bytes"], span_s)
        _, offered = binned(series["time_s"], series["offered_bytes"], span_s)
        look = looks[label]
        axes.plot(time_s, departed / offered * 100, color=look.colour, linewidth=1.0, label=look.display_name)
    axes.set_ylabel("utilisation (%)")
    finish(axes, min(until_s, max(run.duration_s for run in runs.values())))
    axes.set_ylim(0, 102)


@styled
def queue_over_time(
    axes: Axes, runs: Mapping[str, RunData], looks: Mapping[str, SchemeStyle], until_s: float
) -> None:
    """Plot the queue of the bottleneck as a share of the buffer."""
    for label, run in runs.items():
        chosen = link(run)
        percent = chosen.series["queue_mean_bytes"] / chosen.buffer_bytes * 100
        look = looks[label]
        axes.plot(chosen.series["time_s"], percent, color=look.colour, linewidth=1.0, label=look.display_name)
    axes.set_ylabel("queue (% of buffer)")
    finish(axes, until_s)


@styled
def groups_over_time(axes: Axes, run: RunData, until_s: float, span_s: float = 2.0) -> None:
    """Plot the rate of each group of transfers."""
    for group in GROUPS:
        departed = run.group_departed_bytes[run.groups.index(group)]
        time_s, rate = binned(run.group_time_s, departed, span_s)
        mbps = rate * 8e-6 / float(run.group_time_s[0])
        axes.plot(time_s, mbps, color=GROUP_LOOKS[group], linewidth=1.0, label=f"RTT {RTTS[group]}")
    axes.set_ylabel("rate (Mbit/s)")
    finish(axes, until_s)


@styled
def over(
    axes: Axes,
    places: Sequence[float],
    lines: Mapping[str, tuple[SchemeStyle, Callable[[float], Sequence[float]]]],
    xlabel: str,
    ylabel: str,
) -> None:
    """Plot means with 95 % intervals over a setting: for each label its style and the values at a place."""
    for label, (look, values) in lines.items():
        samples = [sample(values(place)) for place in places]
        halves = [(one.interval[1] - one.interval[0]) / 2 for one in samples]
        axes.errorbar(
            places,
            [one.mean for one in samples],
            halves,
            color=look.colour,
            marker=look.marker,
            markersize=3.5,
            linewidth=1.0,
            elinewidth=0.7,
            capsize=1.5,
            label=label,
        )
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)
    # Without a margin, the axes would cut the markers at the first and the last place.
    axes.margins(x=0.03)
    axes.set_ylim(bottom=0)
    legend_above(axes)


def ran(of: Runs, label: str) -> bool:
    """Return whether an experiment ran: in simulation all do, on real kernels some."""
    try:
        of(label)
    except KeyError:
        return False
    return True


def each(of: Runs, label: str, measure: Callable[[RunData], float]) -> Sample:
    """Return a measure of the repetitions of an experiment."""
    return sample(of_each(of(label), measure))

"""One run over time: throughput, queue, window, delay; fairness of several runs."""

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes

from airpath.metrics import FAIRNESS_BIN_S, RATE_BIN_S, TimeBins, capacity_changes_s, nearest_rank
from airpath.metrics.run import (
    columns,
    flows_under_test,
    link_under_test,
    long_lived,
    measured_span_s,
    windowed_jain,
)
from airpath.plots.style import legend_above, new_axes, styled
from airpath.results import RunResult
from airpath.results.formatting import NO_VALUE
from airpath.views.styles import NO_SCHEME, SchemeStyle, Style, style_for


@styled
def throughput(
    run: RunResult, axes: Axes | None = None, style: Style | None = None, bin_s: float = RATE_BIN_S
) -> Axes:
    """Plot the throughput of each group of flows over the shaded capacity of the link under test.

    A group of several flows is plotted as its sum, with its flows as thin lines or, for more than four flows,
    as the band between their 10th and 90th percentile.

    Parameters
    ----------
    run
        The run.
    axes
        The axes to plot on; new axes by default.
    style
        Style of each scheme; as registered by default.
    bin_s
        Width of the bins over which rates are averaged, in seconds.
    """
    axes = axes or new_axes()
    plan, link = run.record.plan, link_under_test(run.record.plan)
    bins = TimeBins(plan, bin_s)
    start_s, end_s = measured_span_s(plan)
    edges = np.append(bins.start_s, bins.end_s[-1:])
    series = columns(run.link_series)
    mine = series["link"] == link
    if mine.any() and not np.isnan(series["offered_bytes"][mine]).any():
        capacity = bins.rate_mbps(series["time_s"][mine], series["offered_bytes"][mine])
        label = f"capacity, mean {run.metrics['capacity_mbps']:.3g} Mbit/s"
        axes.stairs(capacity, edges, fill=True, color="#dcdcdc", label=label)
    measured = TimeBins(plan, 0.0, start_s)
    for group in _groups(run, style, measured_at=link):
        rows = group.series
        rates = np.array(
            [bins.rate_mbps(rows["time_s"][m], rows["departed_bytes"][m]) for m in group.each_flow()]
        )
        total = measured.sum(rows["time_s"], rows["departed_bytes"]).sum() * 8e-6 / (end_s - start_s)
        _individuals(axes, edges, rates, group)
        axes.stairs(
            rates.sum(axis=0),
            edges,
            baseline=None,
            color=group.look.colour,
            linestyle=group.linestyle,
            linewidth=1.1,
            label=f"{group.label}, mean {total:.3g} Mbit/s",
        )
    axes.set_ylabel("throughput (Mbit/s)")
    return _finish(axes, run)


@styled
def queue(
    run: RunResult, axes: Axes | None = None, style: Style | None = None, link: int | None = None
) -> Axes:
    """Plot the queue over time: mean (line) and longest (band) in each recorded interval, and its limit.

    Parameters
    ----------
    run
        The run.
    axes
        The axes to plot on; new axes by default.
    style
        Style of each scheme; as registered by default.
    link
        Index of the link; the link under test by default.
    """
    axes = axes or new_axes()
    plan = run.record.plan
    link = link_under_test(plan) if link is None else link
    look = (style or style_for([run.record.scheme]))[run.record.scheme]
    series = columns(run.link_series)
    mine = series["link"] == link
    limits = plan["links"][link]["queue"]
    in_packets = limits.get("limit_bytes") is None and limits.get("limit_packets") is not None
    # The engine records the longest queue of an interval in bytes only.
    scale, unit = (1.0, "packets") if in_packets else (1e-3, "kB")
    mean = series["queue_mean_packets" if in_packets else "queue_mean_bytes"][mine] * scale
    for number, change_s in enumerate(_drawn_changes_s(plan, link)):
        axes.axvline(
            change_s,
            color="#b8b8b8",
            linewidth=0.6,
            linestyle=":",
            label="" if number else "capacity changes",
        )
    if not in_packets:
        longest = series["queue_max_bytes"][mine] * scale
        axes.fill_between(
            series["time_s"][mine], mean, longest, color=look.colour, alpha=0.2, label="longest in interval"
        )
    axes.plot(series["time_s"][mine], mean, color=look.colour, label=f"{look.display_name}, mean in interval")
    limit = limits.get("limit_packets" if in_packets else "limit_bytes")
    if limit:
        axes.axhline(limit * scale, color="#444444", linewidth=0.8, linestyle="--", label="limit")
        percent = axes.secondary_yaxis("right", functions=_in_units_of(limit * scale / 100))
        percent.set_ylabel("% of buffer")
    axes.set_ylabel(f"queue ({unit})")
    return _finish(axes, run)


@styled
def window(
    run: RunResult, axes: Axes | None = None, style: Style | None = None, flow: int | None = None
) -> Axes:
    """Plot the congestion window and slow-start threshold of one flow, with its congestion events.

    If more than two flows of the flow's group share the run, the band between the 10th and 90th percentile of
    their windows is plotted too.

    Parameters
    ----------
    run
        The run.
    axes
        The axes to plot on; new axes by default.
    style
        Style of each scheme; as registered by default.
    flow
        Flow number; the first flow under test by default.
    """
    axes = axes or new_axes()
    flows = columns(run.flows)
    tested = flows["flow"][flows_under_test(run.record.plan, flows)]
    flow = flow if flow is not None else (int(tested[0]) if tested.size else -1)
    group = next((group for group in _groups(run, style) if flow in group.flows), None)
    if group is None:
        axes.set_ylabel("window (kB)")
        return _finish(axes, run)
    rows = group.series
    mine = rows["flow"] == flow
    time_s, cwnd = rows["time_s"][mine], rows["cwnd_bytes"][mine] / 1e3
    if len(group.flows) > 2:  # percentiles of fewer flows are not meaningful
        times, windows = _by_time(rows, "cwnd_bytes")
        known = ~np.isnan(windows).all(axis=0)
        if known.any():
            low, high = np.nanpercentile(windows[:, known] / 1e3, (10, 90), axis=0)
            label = f"10th to 90th percentile of {len(group.flows)} flows"
            axes.fill_between(times[known], low, high, color=group.look.colour, alpha=0.2, label=label)
    whose = f" of flow {flow}" if len(group.flows) > 1 else ""
    axes.plot(time_s, cwnd, color=group.look.colour, label=f"{group.name}, window{whose}")
    ssthresh = rows["ssthresh_bytes"][mine] / 1e3
    if not np.isnan(ssthresh).all():  # not every scheme has a threshold
        axes.plot(time_s, ssthresh, color="#555555", linewidth=0.8, linestyle="--", label="ssthresh")
    events = columns(run.flow_events)
    for event, (marker, colour) in _EVENT_MARKS.items():
        times = events["time_s"][(events["flow"] == flow) & (events["event"] == event)]
        label = event
        if times.size > _MOST_MARKED_EVENTS:  # the markers would hide the window
            label, times = f"{event}, {times.size} times: not marked", times[:0]
        if times.size or label != event:
            height = np.interp(times, time_s, cwnd) if time_s.size else np.zeros(times.size)
            axes.plot(times, height, linestyle="none", marker=marker, color=colour, label=label, zorder=3)
    transport = run.record.plan["flows"][int(flows["source"][flow])].get("transport")
    if transport:
        packets = axes.secondary_yaxis("right", functions=_in_units_of(transport["mss_bytes"] / 1e3))
        packets.set_ylabel("window (packets)")
    axes.set_ylabel("window (kB)")
    return _finish(axes, run)


@styled
def one_way_delay(run: RunResult, axes: Axes | None = None, style: Style | None = None) -> Axes:
    """Plot one-way delay over time for each group of flows measured at the link under test.

    The plot has one point for each packet if packets were recorded; otherwise the mean (line) and the largest
    (band) in each recorded interval.

    Parameters
    ----------
    run
        The run.
    axes
        The axes to plot on; new axes by default.
    style
        Style of each scheme; as registered by default.
    """
    axes = axes or new_axes()
    packets, histogram = columns(run.packets), columns(run.delay_histogram)
    one_way = histogram["kind"] == "one-way"
    for group in _groups(run, style, measured_at=link_under_test(run.record.plan)):
        rows = one_way & np.isin(histogram["source"], group.sources)
        p95 = nearest_rank(histogram["delay_s"][rows], 95, histogram["packets"][rows]) * 1e3
        label = f"{group.label}, p95 {NO_VALUE if np.isnan(p95) else f'{p95:.3g} ms'}"
        mine = np.isin(packets["flow"], group.flows)
        if mine.any():
            delay_ms = (packets["received_s"] - packets["sent_s"])[mine] * 1e3
            axes.plot(
                packets["received_s"][mine],
                delay_ms,
                ".",
                markersize=1,
                color=group.look.colour,
                rasterized=True,
            )
            axes.plot([], [], ".", markersize=5, color=group.look.colour, label=label)
            continue
        times, means = _by_time(group.series, "delay_mean_s")
        _, largest = _by_time(group.series, "delay_max_s")
        _, weights = _by_time(group.series, "departed_bytes")
        weights = np.where(np.isnan(means), 0.0, np.nan_to_num(weights))
        total = weights.sum(axis=0)
        mean = np.divide(
            (np.nan_to_num(means) * weights).sum(axis=0),
            total,
            out=np.full(len(times), np.nan),
            where=total > 0,
        )
        highest = np.fmax.reduce(largest, axis=0) if len(largest) else mean
        axes.fill_between(times, mean * 1e3, highest * 1e3, color=group.look.colour, alpha=0.2)
        # A single interval has no line, only a point.
        marker = "." if np.isfinite(mean).sum() == 1 else None
        axes.plot(
            times, mean * 1e3, color=group.look.colour, linestyle=group.linestyle, marker=marker, label=label
        )
    axes.set_ylabel("one-way delay (ms)")
    return _finish(axes, run)


@styled
def fairness(
    runs: Sequence[RunResult],
    axes: Axes | None = None,
    style: Style | None = None,
    window_s: float = FAIRNESS_BIN_S,
) -> Axes:
    """Plot the Jain index in windows, one line for each run that has two or more long-lived flows under test.

    Parameters
    ----------
    runs
        The runs, one for each scheme.
    axes
        The axes to plot on; new axes by default.
    style
        Style of each scheme; as registered by default.
    window_s
        Width of the windows, in seconds.
    """
    axes = axes or new_axes()
    style = style or style_for(run.record.scheme for run in runs)
    for run in runs:
        plan, flows = run.record.plan, columns(run.flows)
        tested = flows_under_test(plan, flows) & long_lived(plan, flows)
        bins = TimeBins(plan, window_s)
        index = windowed_jain(columns(run.flow_series), flows["flow"][tested], flows["start_s"][tested], bins)
        if not np.isnan(index).all():
            look = style[run.record.scheme]
            label = f"{look.display_name}, mean {run.metrics['jain_index_windowed']:.3f}"
            axes.plot(
                bins.middle_s, index, color=look.colour, marker=look.marker, markersize=2.5, label=label
            )
    axes.set_ylabel(f"Jain index over {window_s:g} s")
    axes.set_ylim(0, 1.03)
    return _finish(axes, *runs)


_EVENT_MARKS = {
    "loss": ("v", "#b2182b"),
    "timeout": ("X", "#000000"),
    "ecn reduction": ("d", "#7b3294"),
    "spurious timeout": ("*", "#e08214"),
}
_BAND = "10th to 90th percentile of flows"
_MOST_LINES = 4
_MOST_MARKED_CHANGES = 60
_MOST_MARKED_EVENTS = 300


@dataclass(frozen=True)
class _Group:
    """Flows that are plotted together."""

    name: str
    look: SchemeStyle
    linestyle: Any
    flows: npt.NDArray[np.int64]
    sources: npt.NDArray[np.int64]
    series: Mapping[str, npt.NDArray[Any]]

    @property
    def label(self) -> str:
        return f"{self.name}, {len(self.flows)} flows" if len(self.flows) > 1 else self.name

    def each_flow(self) -> Iterator[npt.NDArray[np.bool_]]:
        """Yield the mask of the rows of each flow in the series."""
        for flow in self.flows:
            yield self.series["flow"] == flow


def _groups(run: RunResult, style: Style | None, measured_at: int | None = None) -> list[_Group]:
    flows, series = columns(run.flows), columns(run.flow_series)
    if measured_at is not None:
        there = np.array(
            [source["measured_at"] == measured_at for source in run.record.plan["flows"]], dtype=bool
        )
        kept = there[flows["source"]]
        flows = {name: values[kept] for name, values in flows.items()}
    schemes = [scheme for scheme in dict.fromkeys(flows["flow_scheme"]) if scheme is not None]
    style = style_for([run.record.scheme, *schemes]) if style is None else {**style_for(schemes), **style}
    groups: list[_Group] = []
    lines_of_scheme: dict[str | None, int] = {}
    for name in dict.fromkeys(flows["group"]):
        rows = flows["group"] == name
        scheme = flows["flow_scheme"][rows][0]
        look = NO_SCHEME if scheme is None else style[scheme]
        number = lines_of_scheme.get(scheme, 0)
        lines_of_scheme[scheme] = number + 1
        mine = np.isin(series["flow"], flows["flow"][rows])
        if not mine.any():
            continue  # no data
        groups.append(
            _Group(
                name=look.display_name if name == scheme else name,
                look=look,
                linestyle=("-", "--", "-.", ":")[number % 4],
                flows=flows["flow"][rows],
                sources=np.unique(flows["source"][rows]),
                series={column: values[mine] for column, values in series.items()},
            )
        )
    return groups


def _individuals(
    axes: Axes, edges: npt.NDArray[np.float64], values: npt.NDArray[np.float64], group: _Group
) -> None:
    """Plot the flows of a group, behind their sum."""
    if len(values) <= 1:
        return
    if len(values) <= _MOST_LINES:
        for flow in values:
            axes.stairs(flow, edges, baseline=None, color=group.look.colour, alpha=0.5, linewidth=0.7)
        return
    low, high = np.percentile(values, (10, 90), axis=0)
    axes.stairs(
        high,
        edges,
        baseline=low,
        fill=True,
        color=group.look.colour,
        alpha=0.3,
        # One entry for all groups, whose bands look alike; a label that begins with "_" is not in the legend.
        label=_BAND if _BAND not in axes.get_legend_handles_labels()[1] else f"_{_BAND}",
    )


def _by_time(
    series: Mapping[str, npt.NDArray[Any]], column: str
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return times, and `column` as a matrix of flows by times, with NaN if a flow was not active."""
    times, time_index = np.unique(series["time_s"], return_inverse=True)
    flows, flow_index = np.unique(series["flow"], return_inverse=True)
    values = np.full((len(flows), len(times)), np.nan)
    values[flow_index, time_index] = series[column]
    return times, values


def _drawn_changes_s(plan: Mapping[str, Any], link: int) -> list[float]:
    """Return the times of capacity steps of a link, in seconds; nothing if there are too many to plot."""
    changes = capacity_changes_s(plan, link)
    return changes if len(changes) <= _MOST_MARKED_CHANGES else []


# Named functions, because figures with lambdas cannot be pickled for another process.
def _in_units_of(unit: float) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return the functions between an axis and one in multiples of `unit`."""
    return functools.partial(_divided, unit), functools.partial(np.multiply, unit)


def _divided(unit: float, values: npt.ArrayLike) -> Any:
    return np.divide(values, unit)


def _finish(axes: Axes, *runs: RunResult) -> Axes:
    axes.set_xlabel("time (s)")
    axes.set_xlim(0, max((run.record.plan["duration_ns"] for run in runs), default=1e9) / 1e9)
    if axes.get_ylim()[0] != 0:
        axes.set_ylim(bottom=0)
    legend_above(axes)
    return axes

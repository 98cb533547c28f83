"""Measures of one run, over a span of its time, from its stored data.

Shares of the buffer are fractions of its limit. Spans are [start, end) in seconds and include the recorded
intervals that lie entirely within them.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

from airpath.metrics import jain_index, nearest_rank
from airpath_papers.run_data import LinkData, Numbers, RunData
from airpath_papers.settings import PARKING_LOT_LINKS

WHOLE = (0.0, math.inf)
"""The whole run."""

Span = tuple[float, float]


def of_each(runs: Sequence[RunData], measure: Callable[[RunData], float]) -> list[float]:
    """Return a measure of each run."""
    return [measure(run) for run in runs]


def link(run: RunData, name: str | None = None) -> LinkData:
    """Return a link by name; by default the link under test."""
    return run.links[name or run.link_under_test]


def utilisation(run: RunData, span: Span = WHOLE, name: str | None = None) -> float:
    """Return the bytes that left a link divided by its capacity."""
    offered = _sum(link(run, name), "offered_bytes", span)
    return _sum(link(run, name), "departed_bytes", span) / offered if offered > 0 else math.nan


def throughput_mbps(run: RunData, span: Span = WHOLE, name: str | None = None) -> float:
    """Return the mean rate of all packets that left a link, with acknowledgments and headers, in Mbit/s."""
    chosen = link(run, name)
    seconds = _rows(chosen, span).sum() * _interval_s(chosen)
    return _sum(chosen, "departed_bytes", span) * 8e-6 / seconds if seconds > 0 else math.nan


def goodput_mbps(run: RunData) -> float:
    """Return new payload over the time from the first to the last departure, in Mbit/s.

    The metric of this name divides by the length of the measured interval instead.
    """
    metrics = run.metrics
    throughput = metrics["throughput_mbps"]
    if throughput == 0.0:
        return math.nan
    return metrics["goodput_mbps"] * metrics["pantheon_throughput_mbps"] / throughput


def mean_queue(run: RunData, span: Span = WHOLE, name: str | None = None) -> float:
    """Return the time-weighted mean queue as a share of the buffer."""
    chosen = link(run, name)
    queue = chosen.series["queue_mean_bytes"][_rows(chosen, span)]
    return float(queue.mean()) / chosen.buffer_bytes if queue.size else math.nan


def p95_queue(run: RunData, span: Span = WHOLE, name: str | None = None) -> float:
    """Return the 95th percentile (nearest rank) of the mean queue of intervals, as a share of the buffer."""
    chosen = link(run, name)
    return nearest_rank(chosen.series["queue_mean_bytes"][_rows(chosen, span)], 95) / chosen.buffer_bytes


def longest_queue(run: RunData, span: Span = WHOLE, name: str | None = None) -> float:
    """Return the longest queue as a share of the buffer."""
    chosen = link(run, name)
    queue = chosen.series["queue_max_bytes"][_rows(chosen, span)]
    return float(queue.max()) / chosen.buffer_bytes if queue.size else math.nan


def queue_deviation(run: RunData, span: Span = WHOLE, name: str | None = None) -> float:
    """Return the standard deviation over time of the queue, as a share of the buffer."""
    chosen = link(run, name)
    queue = chosen.series["queue_mean_bytes"][_rows(chosen, span)]
    return float(queue.std()) / chosen.buffer_bytes if queue.size else math.nan


def drops(run: RunData, span: Span = WHOLE, name: str | None = None) -> float:
    """Return the number of packets lost at a link."""
    return _sum(link(run, name), "dropped_packets", span)


def loss_share(run: RunData, span: Span = WHOLE, name: str | None = None) -> float:
    """Return the share of bytes that reached a link's queue and did not leave it.

    Packets that wait at the ends of the span are included; over 100 s and more, this does not matter.
    """
    arrived = _sum(link(run, name), "arrived_bytes", span)
    return 1 - _sum(link(run, name), "departed_bytes", span) / arrived if arrived > 0 else math.nan


def damaged_share(run: RunData) -> float:
    """Return the share of bytes corrupted by the channel of the link under test, of those that arrived there.

    The metric ``channel_loss_rate`` excludes packets that still wait at the end.
    """
    arrived = _sum(link(run), "arrived_bytes", WHOLE)
    decided = _sum(link(run), "departed_bytes", WHOLE) / (1.0 - run.metrics["congestion_loss_rate"])
    return run.metrics["channel_loss_rate"] * decided / arrived if arrived > 0 else math.nan


def rises(
    run: RunData, hold_s: float, least: float, span: Span = WHOLE, name: str | None = None
) -> list[float]:
    """Return the times at which the capacity of a link, constant for `hold_s`, rises by more than `least`.

    Parameters
    ----------
    run
        The run.
    hold_s
        Duration of each rate, in seconds; the first begins with the run.
    least
        The smallest rise that counts, as a share of the rate before.
    span
        The span in which rises count.
    name
        The link; by default the one under test.
    """
    chosen = link(run, name)
    offered = chosen.series["offered_bytes"]
    per_hold = round(hold_s / _interval_s(chosen))
    holds = offered[: offered.size // per_hold * per_hold].reshape(-1, per_hold).sum(axis=1)
    found = np.flatnonzero(holds[1:] > (1 + least) * holds[:-1]) + 1
    return [float(number) * hold_s for number in found if span[0] <= number * hold_s < span[1]]


def catch_up(run: RunData, hold_s: float, least: float, span: Span = WHOLE, name: str | None = None) -> float:
    """Return the mean time to 90 % of the new capacity over the rises of `rises`; `hold_s` if never reached.

    NaN without a rise.
    """
    times = [time_to(run, rise, 0.9, rise + hold_s, name) for rise in rises(run, hold_s, least, span, name)]
    return sum(times) / len(times) if times else math.nan


def group_goodput_mbps(run: RunData, group: str) -> float:
    """Return the new payload that the flows of a group received over the length of the run, in Mbit/s."""
    mine = np.array([name == group for name in run.flow_group], dtype=bool)
    return float(run.flow_goodput_bytes[mine].sum()) * 8e-6 / run.duration_s


def time_to(run: RunData, change_s: float, share: float, until_s: float, name: str | None = None) -> float:
    """Return the time from a change of capacity until the mean over 1 s is at least `share` of it, in s.

    `until_s` minus `change_s` if that does not happen before `until_s`: a lower bound, so that a scheme that
    never reaches it is not left out of a mean.
    """
    chosen = link(run, name)
    rows = _rows(chosen, (change_s, until_s))
    width = max(1, round(1.0 / _interval_s(chosen)))
    kernel = np.ones(width)
    departed = np.convolve(chosen.series["departed_bytes"][rows], kernel, "valid")
    offered = np.convolve(chosen.series["offered_bytes"][rows], kernel, "valid")
    reached = np.flatnonzero(departed >= share * offered)
    return float(reached[0]) * _interval_s(chosen) if reached.size else until_s - change_s


def window_band(run: RunData, span: Span = WHOLE) -> float:
    """Return the mean over time of the 90th divided by the 10th percentile of the congestion windows."""
    times = (run.window_time_s > span[0]) & (run.window_time_s <= span[1])
    windows = run.windows_packets[:, times]
    windows = windows[:, ~np.isnan(windows).any(axis=0)]
    if windows.size == 0:
        return math.nan
    low, high = np.percentile(windows, (10, 90), axis=0)
    return float((high / low).mean())


def window_variation(run: RunData, span: Span = WHOLE) -> float:
    """Return the coefficient of variation over time of each congestion window, averaged over the flows."""
    times = (run.window_time_s > span[0]) & (run.window_time_s <= span[1])
    windows = run.windows_packets[:, times]
    if windows.size == 0:
        return math.nan
    return float((np.nanstd(windows, axis=1) / np.nanmean(windows, axis=1)).mean())


def jain_each_second(run: RunData) -> float:
    """Return the mean over the seconds of a run of the Jain index of the long-lived flows under test."""
    return run.metrics["jain_index_windowed"]


def jain(run: RunData) -> float:
    """Return the Jain index of the throughputs of the long-lived flows under test over the whole run."""
    return run.metrics["jain_index"]


def jain_over(run: RunData, span: Span) -> float:
    """Return the Jain index of each long flow's bytes from the link under test within a span; 1 is fair."""
    times = (run.window_time_s > span[0]) & (run.window_time_s <= span[1])
    return jain_index(np.nan_to_num(run.departed_bytes[:, times]).sum(axis=1))


def completion_s(run: RunData, group: str, count: int) -> float:
    """Return the mean completion time of the transfers of a group; NaN unless all `count` of them ended."""
    mine = np.array([name == group for name in run.completion_group], dtype=bool)
    times = (run.completion_end_s - run.completion_start_s)[mine]
    return float(times.mean()) if times.size == count else math.nan


def estimate_errors(run: RunData, span: Span = WHOLE, name: str | None = None) -> Numbers:
    """Return the relative error of the capacity estimate at the end of each interval.

    The reference is the true capacity in the interval. Intervals without capacity are left out; empty if the
    link's queue has no estimate.
    """
    chosen = link(run, name)
    observed = chosen.observations.get("capacity_estimate_bps")
    if observed is None:
        return np.empty(0)
    rows = _rows(chosen, span)
    offered = chosen.series["offered_bytes"][rows] * 8 / _interval_s(chosen)
    estimate = np.interp(chosen.series["time_s"][rows], observed[0], observed[1])
    there = offered > 0
    errors: Numbers = estimate[there] / offered[there] - 1
    return errors


def median_estimate_error(run: RunData, span: Span = WHOLE, name: str | None = None) -> float:
    """Return the median absolute relative error of the capacity estimate; NaN without an estimate."""
    errors = np.abs(estimate_errors(run, span, name))
    return float(np.median(errors)) if errors.size else math.nan


def bottlenecks(run: RunData) -> Sequence[str]:
    """Return the names of the forward bottlenecks: five in the parking lot, else the link under test."""
    return [name for name in PARKING_LOT_LINKS if name in run.links] or [run.link_under_test]


def mean_over(links: Sequence[str], measure: Callable[..., float]) -> Callable[[RunData], float]:
    """Return the mean of a measure over some links."""
    return lambda run: sum(measure(run, name=name) for name in links) / len(links)


def over_bottlenecks(measure: Callable[..., float]) -> Callable[[RunData], float]:
    """Return the mean of a measure over the forward bottlenecks."""
    return lambda run: mean_over(bottlenecks(run), measure)(run)


def _rows(chosen: LinkData, span: Span) -> np.ndarray:
    """Return a mask of the intervals within a span, ignoring rounding errors of their ends."""
    ends, slack = chosen.series["time_s"], 1e-6
    inside: np.ndarray = (ends - _interval_s(chosen) >= span[0] - slack) & (ends <= span[1] + slack)
    return inside


def _interval_s(chosen: LinkData) -> float:
    ends = chosen.series["time_s"]
    return float(ends[1] - ends[0]) if ends.size > 1 else float(ends[0]) if ends.size else math.nan


def _sum(chosen: LinkData, column: str, span: Span) -> float:
    return float(chosen.series[column][_rows(chosen, span)].sum())

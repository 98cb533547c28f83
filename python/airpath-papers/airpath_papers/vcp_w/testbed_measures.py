"""Measures of one run of the testbed."""

import math
from typing import Final

import numpy as np

from airpath_papers.measures import WHOLE, Span, link, utilisation
from airpath_papers.run_data import Numbers, RunData
from airpath_papers.vcp_w.testbed_settings import GROUPS, TRANSFERS

SPAN_S: Final = 5.0
"""Width of the means that count as steady."""
FULL: Final = 0.9
"""The utilisation that counts as converged (our choice)."""


def transfer_times_s(run: RunData) -> Numbers:
    """Return the duration of each forward transfer; unfinished ones count as the length of the run."""
    mine = np.array([group in GROUPS for group in run.completion_group], dtype=bool)
    times: Numbers = (run.completion_end_s - run.completion_start_s)[mine]
    missing = TRANSFERS - len(times)
    return np.append(times, np.full(missing, run.duration_s))


def mean_transfer_s(run: RunData) -> float:
    """Return the mean duration of the forward transfers."""
    return float(transfer_times_s(run).mean())


def last_end_s(run: RunData) -> float:
    """Return the end of the last forward transfer; the end of the run if one is unfinished."""
    mine = np.array([group in GROUPS for group in run.completion_group], dtype=bool)
    ends = run.completion_end_s[mine]
    return float(ends.max()) if len(ends) == TRANSFERS else run.duration_s


def first_group_ends_s(run: RunData) -> float:
    """Return the end of the last transfer of the group with the shortest RTT; NaN if one is unfinished."""
    mine = np.array([group == GROUPS[0] for group in run.completion_group], dtype=bool)
    return float(run.completion_end_s[mine].max()) if mine.sum() == TRANSFERS // 3 else math.nan


def group_mbps(run: RunData, group: str, span: Span = WHOLE) -> float:
    """Return the mean rate on the wire of a group over a span."""
    rows = (run.group_time_s > span[0]) & (run.group_time_s <= span[1])
    departed = run.group_departed_bytes[run.groups.index(group), rows]
    seconds = rows.sum() * float(run.group_time_s[1] - run.group_time_s[0])
    return float(departed.sum()) * 8e-6 / seconds if seconds else math.nan


def near_over_far(run: RunData, span: Span = WHOLE) -> float:
    """Return the rate of the group with the shortest RTT relative to that of the group with the longest."""
    return group_mbps(run, GROUPS[0], span) / group_mbps(run, GROUPS[-1], span)


def unfairness(run: RunData, span: Span = WHOLE) -> float:
    """Return the rate of the fastest group relative to that of the slowest."""
    rates = [group_mbps(run, group, span) for group in GROUPS]
    return max(rates) / min(rates)


def rolling_utilisation(run: RunData) -> tuple[Numbers, Numbers]:
    """Return start times and utilisations of all spans of `SPAN_S`."""
    series = link(run).series
    width = round(SPAN_S / float(series["time_s"][0]))
    kernel = np.ones(width)
    share: Numbers = np.convolve(series["departed_bytes"], kernel, "valid") / np.convolve(
        series["offered_bytes"], kernel, "valid"
    )
    starts: Numbers = series["time_s"][: len(share)] - float(series["time_s"][0])
    return starts, share


def converged_s(run: RunData) -> float:
    """Return the start of the first 5 s with a utilisation of 90 %; NaN if there are none."""
    starts, share = rolling_utilisation(run)
    there = np.flatnonzero(share > FULL)
    return float(starts[there[0]]) if there.size else math.nan


def gets_there(run: RunData) -> float:
    """Return 1 if there are 5 s with a utilisation of 90 %, else 0."""
    return 0.0 if math.isnan(converged_s(run)) else 1.0


def variation(run: RunData, span: Span = WHOLE) -> float:
    """Return the standard deviation over time of the utilisation of 5 s."""
    starts, share = rolling_utilisation(run)
    rows = (starts >= span[0]) & (starts + SPAN_S <= span[1])
    return float(share[rows].std()) if rows.any() else math.nan


def drop_after_first_group(run: RunData) -> float:
    """Return the decrease of the lowest second from 10 s before to 10 s after the first group's end."""
    end = first_group_ends_s(run)
    if math.isnan(end):
        return math.nan

    def lowest(begin: int) -> float:
        return min(utilisation(run, (begin + k, begin + k + 1)) for k in range(10))

    return lowest(math.floor(end) - 10) - lowest(math.ceil(end))


def queue_deviation_share(run: RunData, span: Span) -> float:
    """Return the longest minus the shortest mean queue of a second, as a share of the buffer."""
    chosen = link(run)
    rows = (chosen.series["time_s"] > span[0]) & (chosen.series["time_s"] <= span[1])
    queue = chosen.series["queue_mean_bytes"][rows]
    return float(queue.max() - queue.min()) / chosen.buffer_bytes


def dismissed_share(run: RunData) -> float:
    """Return the share of losses that the heuristic attributed to errors; NaN without losses."""
    dismissed = float(np.nansum(run.flow_reports.get("losses_dismissed", np.zeros(1))))
    answered = float(np.nansum(run.flow_reports.get("losses_answered", np.zeros(1))))
    return dismissed / (dismissed + answered) if dismissed + answered else math.nan

"""How well an ACK-rate estimate of one run follows the truth: level, spread, step response, lag.

Estimates and truth are rates of payload in Mbit/s, sampled at the ends of recorded intervals.
"""

import math
from collections.abc import Sequence

import numpy as np

from airpath.metrics import SETTLING_HOLD_S, SETTLING_TOLERANCE, nearest_rank, settling_time
from airpath_papers.measures import WHOLE, Span
from airpath_papers.run_data import Numbers, RunData

LONGEST_LAG_S = 5.0
"""Largest lag that is searched for."""


def estimate_mbps(run: RunData, name: str, flow: int = 0) -> tuple[Numbers, Numbers]:
    """Return times in seconds and an estimate in Mbit/s, from its first value on; empty without values.

    Parameters
    ----------
    run
        The run.
    name
        The estimator, as named in the flow's `estimators`, or `controller` for that of its controller.
    flow
        Index among the run's long flows.
    """
    if name not in run.estimates:
        return np.empty(0), np.empty(0)
    bps = run.estimates[name].last_bps[flow]
    known = np.isfinite(bps)
    return run.window_time_s[known], bps[known] * 1e-6


def within(time_s: Numbers, values: Numbers, span: Span = WHOLE) -> Numbers:
    """Return the values within a span."""
    inside: Numbers = values[(time_s > span[0] + _ROUNDING_S) & (time_s <= span[1] + _ROUNDING_S)]
    return inside


def mean_absolute_error(estimate: Numbers, truth: Numbers) -> float:
    """Return the mean absolute error of an estimate, relative to the truth at the same time."""
    return float((np.abs(estimate - truth) / truth).mean()) if truth.size else math.nan


def p95_absolute_error(estimate: Numbers, truth: Numbers) -> float:
    """Return the 95th percentile (nearest rank) of the absolute error, relative to the truth at that time."""
    return nearest_rank(np.abs(estimate - truth) / truth, 95)


def bias(estimate: Numbers, truth: Numbers) -> float:
    """Return the mean of the estimate over the mean of the truth, minus one."""
    return float(estimate.mean() / truth.mean()) - 1 if truth.size else math.nan


def settling_s(time_s: Numbers, estimate: Numbers, level: float, span: Span) -> float:
    """Return the time after the start of a span until the estimate stays within 10 % of a level for 1 s.

    The length of the span, in seconds, if that does not happen within it.
    """
    settled = settling_time(
        within(time_s, time_s, span),
        within(time_s, estimate, span),
        level,
        event_s=span[0],
        tolerance=SETTLING_TOLERANCE,
        hold_s=SETTLING_HOLD_S,
    )
    return span[1] - span[0] if math.isnan(settled) else settled


def response_s(time_s: Numbers, estimate: Numbers, before: Span, after: Span) -> float:
    """Return the time in seconds after a step until an estimate covers 90 % of its own change.

    The change is from its median in the second half of the span before the step to that of the span after,
    whether these are correct or not. The length of the span if it does not cover 90 %.
    """
    old, new = (_settled_level(time_s, estimate, span) for span in (before, after))
    if math.isnan(old) or math.isnan(new) or old == new:
        return math.nan
    times = within(time_s, time_s, after)
    covered = (within(time_s, estimate, after) - old) / (new - old) >= 0.9
    return float(times[covered.argmax()]) - after[0] if covered.any() else after[1] - after[0]


def spread(time_s: Numbers, estimate: Numbers, spans: Sequence[Span]) -> float:
    """Return the standard deviation over time in the second half of each span, mean of all, in Mbit/s."""
    halves = [within(time_s, estimate, _second_half(span)) for span in spans]
    deviations = [float(values.std(ddof=1)) for values in halves if values.size >= 2]
    return sum(deviations) / len(deviations) if deviations else math.nan


def lag_s(estimate: Numbers, truth: Numbers, interval_s: float) -> float:
    """Return the lag of the estimate in seconds: the shift at which it correlates best with the truth.

    Shifts are from 0 to `LONGEST_LAG_S`, which means that or longer; the best one has the largest coefficient
    of correlation. NaN for constants.
    """
    shifts = range(min(round(LONGEST_LAG_S / interval_s), truth.size // 2) + 1)
    pairs = [(estimate[shift:], truth[: truth.size - shift]) for shift in shifts]
    if not pairs or any(one.std() == 0 or other.std() == 0 for one, other in pairs):
        return math.nan
    correlations = [float(np.corrcoef(one, other)[0, 1]) for one, other in pairs]
    return int(np.argmax(correlations)) * interval_s


def _settled_level(time_s: Numbers, estimate: Numbers, span: Span) -> float:
    values = within(time_s, estimate, _second_half(span))
    return float(np.median(values)) if values.size else math.nan


def _second_half(span: Span) -> Span:
    return (span[0] + span[1]) / 2, span[1]


_ROUNDING_S = 1e-6
"""Ends of intervals that differ by at most this are equal up to rounding."""

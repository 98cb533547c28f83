"""How well a router's capacity estimate follows the true capacity."""

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from airpath.metrics.capacity import constant_stretches_s
from airpath.metrics.formulas import nearest_rank, settling_time
from airpath.metrics.time_bins import Plan

SETTLING_TOLERANCE = 0.1
"""Largest distance of a settled estimate from the capacity, as a share of the capacity."""

SETTLING_HOLD_S = 1.0
"""Time for which an estimate must stay within the tolerance, in seconds."""

Columns = Mapping[str, npt.NDArray[Any]]
Numbers = npt.NDArray[np.float64]


def estimator_metrics(
    plan: Plan, observations: Columns, link_series: Columns, link: int, from_s: float
) -> dict[str, float]:
    """Compare the capacity estimate at a link with its true capacity, interval by interval.

    Parameters
    ----------
    plan
        The resolved scenario of the run.
    observations, link_series
        The columns of these tables.
    link
        Index of the link.
    from_s
        Only intervals that end after this time count, in seconds.

    Returns
    -------
    dict of str to float
        The metrics whose names begin with ``capacity_estimate``; NaN if the link has no estimate, or no known
        capacity.
    """
    time_s, estimate, capacity = estimate_and_capacity(observations, link_series, link)
    measured = time_s > from_s + _rounding(plan)
    error = percentage_error(estimate[measured], capacity[measured])
    # Rounded because rates are rounded: a router with the configured capacity has no error.
    error = np.abs(error[~np.isnan(error)]).round(9)
    # Stretches of links without an estimate are not computed, because the rate may change often.
    stretches = constant_stretches_s(plan, link) if len(time_s) > 0 else []
    return {
        # Rounded to the millibit per second: smaller values come from rounding of rates, not from a bias.
        "capacity_estimate_bias_mbps": round(_mean((estimate - capacity)[measured] * 1e-6), 9),
        "capacity_estimate_error_mean_percent": _mean(error),
        "capacity_estimate_error_p95_percent": nearest_rank(error, 95),
        "capacity_estimate_settling_s": _settling_s(plan, stretches, time_s, estimate, capacity, from_s),
        "capacity_estimate_variation": _variation(plan, stretches, time_s, estimate, capacity, from_s),
    }


def estimate_and_capacity(
    observations: Columns, link_series: Columns, link: int
) -> tuple[Numbers, Numbers, Numbers]:
    """Return ends of intervals in seconds, the estimate there and the capacity of the interval, in bit/s.

    Intervals without an estimate or a known capacity are left out; the last one may be shorter.
    """
    time_s, estimate = observed(observations, link, "capacity_estimate_bps")
    mine = link_series["link"] == link
    ends, offered = link_series["time_s"][mine], link_series["offered_bytes"][mine]
    length = np.diff(ends, prepend=0.0)
    _, ours, theirs = np.intersect1d(time_s, ends, return_indices=True)
    capacity = offered[theirs] * 8 / length[theirs]
    known = np.isfinite(estimate[ours]) & np.isfinite(capacity)
    return time_s[ours][known], estimate[ours][known], capacity[known]


def observed(observations: Columns, link: int, quantity: str) -> tuple[Numbers, Numbers]:
    """Return times in seconds and values of one quantity of a router; empty if it reports none."""
    mine = (observations["link"] == link) & (observations["quantity"] == quantity)
    return observations["time_s"][mine], observations["value"][mine]


def percentage_error(estimate: Numbers, capacity: Numbers) -> Numbers:
    """Return 100 (estimate - capacity) / capacity; NaN without capacity."""
    error = np.full(len(estimate), math.nan)
    np.divide(100 * (estimate - capacity), capacity, out=error, where=capacity > 0)
    return error


def _settling_s(
    plan: Plan,
    stretches: list[tuple[float, float]],
    time_s: Numbers,
    estimate: Numbers,
    capacity: Numbers,
    from_s: float,
) -> float:
    """Return the mean settling time over steps; a step not settled before the next one counts in full."""
    times = []
    for before, (start, end) in pairwise(stretches):
        if start < from_s or _holds_no_interval(plan, start, end) or _holds_no_interval(plan, *before):
            continue
        rows = _inside(plan, time_s, start, end)
        old = _inside(plan, time_s, *before)
        if not rows.any() or not old.any():
            continue
        level = float(np.median(capacity[rows]))
        step = abs(level - float(np.median(capacity[old])))
        if level <= 0 or step <= SETTLING_TOLERANCE * level:
            continue
        times_there = time_s[rows]
        settled = settling_time(
            times_there,
            estimate[rows],
            level,
            event_s=start,
            tolerance=SETTLING_TOLERANCE,
            # Steps may follow each other in less than the hold time: then all samples up to the next step
            # count.
            hold_s=min(SETTLING_HOLD_S, float(times_there[-1] - times_there[0])),
        )
        times.append(end - start if math.isnan(settled) else settled)
    return _mean(np.array(times))


def _variation(
    plan: Plan,
    stretches: list[tuple[float, float]],
    time_s: Numbers,
    estimate: Numbers,
    capacity: Numbers,
    from_s: float,
) -> float:
    """Return the mean coefficient of variation in the second halves of stretches of constant capacity."""
    variations = []
    for start, end in stretches:
        if _holds_no_interval(plan, start, end):
            continue
        rows = _inside(plan, time_s, (max(start, from_s) + end) / 2, end)
        mean = _mean(estimate[rows])
        if start < end and rows.sum() >= 2 and mean > 0 and (capacity[rows] > 0).all():
            variations.append(float(estimate[rows].std(ddof=1)) / mean)
    return _mean(np.array(variations))


def _holds_no_interval(plan: Plan, start: float, end: float) -> bool:
    """Return whether a stretch is too short to contain an interval, without looking at the intervals."""
    return end - start < 0.5e-9 * float(plan["record"]["interval_ns"])


def _inside(plan: Plan, time_s: Numbers, start: float, end: float) -> npt.NDArray[np.bool_]:
    """Return a mask of the intervals, given by their ends, that lie entirely between two times."""
    interval_s = plan["record"]["interval_ns"] / 1e9
    slack = _rounding(plan)
    inside: npt.NDArray[np.bool_] = (time_s - interval_s > start - slack) & (time_s < end + slack)
    return inside


def _rounding(plan: Plan) -> float:
    """Return the largest distance between two equal times: a tiny part of an interval."""
    return float(plan["record"]["interval_ns"]) * 1e-15


def _mean(values: Numbers) -> float:
    return float(values.mean()) if values.size else math.nan

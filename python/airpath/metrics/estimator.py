"""How well a router's capacity estimate follows the true capacity."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from airpath.metrics.capacity import constant_stretches_s
from airpath.metrics.formulas import nearest_rank
from airpath.metrics.settling import mean_settling_s
from airpath.metrics.time_bins import Plan, has_no_interval, intervals_inside, rounding_s

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
    measured = time_s > from_s + rounding_s(plan)
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
        "capacity_estimate_settling_s": mean_settling_s(
            plan, stretches, (time_s, estimate, capacity), from_s
        ),
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
        if has_no_interval(plan, start, end):
            continue
        rows = intervals_inside(plan, time_s, (max(start, from_s) + end) / 2, end)
        there = estimate[rows]
        mean = _mean(there)
        if start < end and there.size >= 2 and mean > 0 and (capacity[rows] > 0).all():
            variations.append(float(there.std(ddof=1)) / mean)
    return _mean(np.array(variations))


def _mean(values: Numbers) -> float:
    return float(values.mean()) if values.size else math.nan

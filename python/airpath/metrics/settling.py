"""How long a rate takes to reach the capacity after a step of it."""

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from airpath.metrics.capacity import constant_stretches_s
from airpath.metrics.formulas import settling_time
from airpath.metrics.time_bins import Plan, has_no_interval, intervals_inside

SETTLING_TOLERANCE = 0.1
"""Largest distance of a settled estimate from the capacity, as a share of the capacity."""

ARRIVALS_TOLERANCE = 0.25
"""Largest distance of a settled arrival rate from the capacity, as a share of the capacity."""

SETTLING_HOLD_S = 1.0
"""Time for which a value must stay within the tolerance, in seconds."""

Columns = Mapping[str, npt.NDArray[Any]]
Numbers = npt.NDArray[np.float64]


def arrivals_settling_s(plan: Plan, link_series: Columns, link: int, from_s: float) -> float:
    """Return the mean time that the arrival rate at a link takes to settle near a new capacity, in seconds.

    Parameters
    ----------
    plan
        The resolved scenario of the run.
    link_series
        The columns of the table of this name.
    link
        Index of the link.
    from_s
        Only steps after this time count, in seconds.

    Returns
    -------
    float
        The metric `arrival_rate_settling_s`; NaN without steps after which the capacity is constant for
        `SETTLING_HOLD_S`.
    """
    mine = link_series["link"] == link
    ends_s, offered = link_series["time_s"][mine], link_series["offered_bytes"][mine]
    if ends_s.size == 0 or not np.isfinite(offered).all():
        return math.nan
    bits = 8 / np.diff(ends_s, prepend=0.0)
    rates = ends_s, link_series["arrived_bytes"][mine] * bits, offered * bits
    stretches = constant_stretches_s(plan, link)
    return mean_settling_s(plan, stretches, rates, from_s, ARRIVALS_TOLERANCE, SETTLING_HOLD_S)


def mean_settling_s(
    plan: Plan,
    stretches: list[tuple[float, float]],
    values: tuple[Numbers, Numbers, Numbers],
    from_s: float,
    tolerance: float = SETTLING_TOLERANCE,
    shortest_s: float = 0.0,
) -> float:
    """Return the mean settling time over steps; a step not settled before the next one counts in full.

    Parameters
    ----------
    plan
        The resolved scenario of the run.
    stretches
        Start and end of each stretch of constant capacity, in seconds.
    values
        The ends of intervals in seconds, the value and the capacity of each.
    from_s
        Only steps after this time count, in seconds.
    tolerance
        Largest distance of a settled value from the capacity, as a share of it; smaller steps do not count.
    shortest_s
        Steps to shorter stretches do not count, in seconds.
    """
    time_s, value, capacity = values
    times = []
    for before, (start, end) in pairwise(stretches):
        if start < from_s or end - start < shortest_s:
            continue
        if has_no_interval(plan, start, end) or has_no_interval(plan, *before):
            continue
        rows = intervals_inside(plan, time_s, start, end)
        times_there, old = time_s[rows], capacity[intervals_inside(plan, time_s, *before)]
        if not times_there.size or not old.size:
            continue
        level = float(np.median(capacity[rows]))
        step = abs(level - float(np.median(old)))
        if level <= 0 or step <= tolerance * level:
            continue
        settled = settling_time(
            times_there,
            value[rows],
            level,
            event_s=start,
            tolerance=tolerance,
            # Steps may follow each other in less than the hold time: then all samples up to the next step
            # count.
            hold_s=min(SETTLING_HOLD_S, float(times_there[-1] - times_there[0])),
        )
        times.append(end - start if math.isnan(settled) else settled)
    return float(np.mean(times)) if times else math.nan

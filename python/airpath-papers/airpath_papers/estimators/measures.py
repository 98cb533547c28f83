"""Errors of the estimates of a run, instant by instant."""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from airpath_papers.estimate_measures import (
    bias,
    estimate_mbps,
    lag_s,
    mean_absolute_error,
    p95_absolute_error,
)
from airpath_papers.measures import link
from airpath_papers.run_data import Numbers, RunData

FROM_S: Final = 10.0
"""Time before which values are ignored."""
WINDOW_S: Final = 1.0
"""Width of the centred window over which the truth is averaged."""
LEAST: Final = 0.05
"""Times at which the truth is below this part of its mean are ignored: relative errors explode there."""


@dataclass(frozen=True)
class Errors:
    """The errors of one estimator in one run."""

    bias: float
    """Mean of the estimate over mean of the truth, minus one."""
    mean_absolute: float
    """Mean absolute error, relative to the truth at the same time."""
    p95: float
    """Its 95th percentile."""
    lag_s: float
    """Its lag."""


def errors(run: RunData, estimator: str, *, against_capacity: bool, payload_share: float) -> Errors:
    """Return the errors of an estimate; NaN for an estimator without values.

    Parameters
    ----------
    run
        The run.
    estimator
        Its name.
    against_capacity
        Whether the truth is the link's capacity; otherwise it is the flow's throughput on the link.
    payload_share
        The share of a packet that is payload, because estimates exclude headers.
    """
    time_s, truth = _truth_mbps(run, payload_share, against_capacity=against_capacity)
    known_s, known = estimate_mbps(run, estimator)
    if not known.size:
        return Errors(math.nan, math.nan, math.nan, math.nan)
    counted = (time_s > max(FROM_S, known_s[0])) & (time_s < run.duration_s - WINDOW_S)
    estimate = np.interp(time_s[counted], known_s, known)
    truth = truth[counted]
    there = truth > LEAST * truth.mean()
    return Errors(
        bias(estimate[there], truth[there]),
        mean_absolute_error(estimate[there], truth[there]),
        p95_absolute_error(estimate[there], truth[there]),
        lag_s(estimate, truth, float(time_s[1] - time_s[0])),
    )


def _truth_mbps(run: RunData, payload_share: float, *, against_capacity: bool) -> tuple[Numbers, Numbers]:
    series = link(run).series
    if against_capacity:
        time_s, carried = series["time_s"], series["offered_bytes"]
    else:
        time_s, carried = run.window_time_s, np.nan_to_num(run.departed_bytes[0])
    interval_s = float(series["time_s"][1] - series["time_s"][0])
    width = round(WINDOW_S / interval_s)
    mean = np.convolve(carried, np.ones(width) / width, "same")
    return time_s, mean * 8e-6 / interval_s * payload_share

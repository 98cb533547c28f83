"""Differences between the metrics of two backends, with intervals and verdicts."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

import numpy as np
import numpy.typing as npt

from airpath.metrics import METRICS
from airpath.results import Results
from airpath.results.formatting import NO_VALUE
from airpath.statistics.difference import welch_interval

Samples = npt.NDArray[np.float64]


class Verdict(StrEnum):
    """The verdict on a difference."""

    AGREE = "agree"
    """The whole interval of the difference is within the tolerance."""
    DIFFER = "differ"
    """The whole interval is outside of it."""
    OPEN = "open"
    """The interval is partly within the tolerance: more repetitions would decide."""
    NO_SHARE = "no share of zero"
    """The simulator's mean is zero and the other backend's is not, so the difference is no share of it."""


@dataclass(frozen=True, slots=True)
class Tolerance:
    """The difference up to which two backends agree in a metric."""

    share: float
    """The difference as a share of the simulator's mean, or, if `absolute`, in the unit of the metric."""
    absolute: bool = False


TOLERANCES: Final[Mapping[str, Tolerance]] = MappingProxyType(
    {
        "goodput_mbps": Tolerance(0.1),
        "utilisation": Tolerance(0.1),
        "queue_mean_bytes": Tolerance(0.2),
        "queueing_p95_ms": Tolerance(0.2),
        "delay_mean_ms": Tolerance(0.2),
        "loss_rate": Tolerance(0.01, absolute=True),
        "jain_index": Tolerance(0.1),
        "cwnd_mean_bytes": Tolerance(0.2),
        "retransmitted_packets": Tolerance(0.1),
        "completion_mean_s": Tolerance(0.2),
        "completion_p95_s": Tolerance(0.2),
        "capacity_estimate_error_mean_percent": Tolerance(5.0, absolute=True),
    }
)
"""The compared metrics. Goodput within 10 % and mean queue within 20 % are the requirements on the emulator;
the others are ours: rates as goodput, delays and windows as queues.
"""


@dataclass(frozen=True, slots=True)
class Difference:
    """One metric on two backends."""

    metric: str
    """Its name."""
    simulated: float
    """Its mean in the simulator."""
    other: float
    """Its mean on the other backend."""
    n: tuple[int, int]
    """Number of runs with a value, in the simulator and on the other backend."""
    difference: float
    """The other's mean minus the simulator's: as a share of the simulator's, or in the metric's unit; NaN if
    the simulator's mean is zero.
    """
    low: float
    """Lower end of the difference's 95 % interval; NaN if a backend has one run only."""
    high: float
    """Upper end."""
    tolerance: Tolerance
    """The difference up to which the backends agree."""
    verdict: Verdict
    """The verdict; for single runs, which have no interval, by the difference alone."""
    not_valid: int = 0
    """Number of the other backend's runs with a value that were not valid; they count nevertheless."""


def differences(results: Results, simulated: str, other: str) -> list[Difference]:
    """Compare two backends in every metric of `TOLERANCES` that both have.

    Parameters
    ----------
    results
        Runs of both.
    simulated, other
        Labels of the runs of the simulator and of the other backend.
    """
    found = (
        _difference(
            metric,
            _samples(results, simulated, metric),
            _samples(results, other, metric),
            _not_valid(results, other, metric),
        )
        for metric in TOLERANCES
    )
    return [difference for difference in found if difference is not None]


def _not_valid(results: Results, label: str, metric: str) -> int:
    return sum(
        run.record.scheme == label and not run.record.valid and math.isfinite(run.metrics[metric])
        for run in results.runs
    )


def _samples(results: Results, label: str, metric: str) -> Samples:
    values = [run.metrics[metric] for run in results.runs if run.record.scheme == label]
    return np.array([value for value in values if math.isfinite(value)], dtype=np.float64)


def _difference(metric: str, ours: Samples, theirs: Samples, not_valid: int) -> Difference | None:
    if not ours.size or not theirs.size:
        return None
    tolerance = TOLERANCES[metric]
    mean, other = float(ours.mean()), float(theirs.mean())
    scale = 1.0 if tolerance.absolute else abs(mean)
    if scale == 0.0 and other == 0.0:
        scale = 1.0
    elif scale == 0.0:
        scale = math.nan
    # Runs in real time are not paired.
    low, high = (bound / scale for bound in welch_interval(theirs, ours))
    difference = (other - mean) / scale
    verdict = _verdict(difference, low, high, tolerance.share)
    return Difference(
        metric, mean, other, (ours.size, theirs.size), difference, low, high, tolerance, verdict, not_valid
    )


def _verdict(difference: float, low: float, high: float, tolerance: float) -> Verdict:
    if math.isnan(difference):
        return Verdict.NO_SHARE
    if math.isnan(low):
        return Verdict.AGREE if abs(difference) <= tolerance else Verdict.DIFFER
    if -tolerance <= low and high <= tolerance:
        return Verdict.AGREE
    if low > tolerance or high < -tolerance:
        return Verdict.DIFFER
    return Verdict.OPEN


def difference_text(one: Difference) -> str:
    """Format a difference with its interval: in percent, or with the unit of the metric."""
    if math.isnan(one.difference):
        return NO_VALUE
    if one.tolerance.absolute:
        # Differences of shares and of percentages are in points.
        scale, suffix = (1.0 if METRICS[one.metric].unit else 100.0), " points"
    else:
        scale, suffix = 100.0, " %"
    text = f"{one.difference * scale:+.1f}{suffix}"
    return text if math.isnan(one.low) else f"{text} [{one.low * scale:+.1f}, {one.high * scale:+.1f}]"


def verdict_text(one: Difference) -> str:
    """Format the verdict, with the number of underlying runs that were not valid."""
    if not one.not_valid:
        return one.verdict.value
    return f"{one.verdict.value} ({one.not_valid} of {one.n[1]} runs not valid)"


def tolerance_text(one: Difference) -> str:
    """Format the difference up to which the backends agree."""
    if not one.tolerance.absolute:
        return f"±{one.tolerance.share * 100:g} %"
    return f"±{one.tolerance.share * (1.0 if METRICS[one.metric].unit else 100.0):g} points"

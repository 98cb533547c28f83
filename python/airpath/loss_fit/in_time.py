"""A continuous-time chain by maximum likelihood, from packets and their send times, at any spacing."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import optimize, stats

from airpath.loss_fit.gilbert_elliott import deviations
from airpath.loss_fit.intervals import Estimate, share

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class InTime:
    """Gilbert's chain with exponential times in its states.

    Attributes
    ----------
    mean_loss
        The share of the time in the bad state.
    mean_burst_s
        The mean time in it, seconds.
    """

    mean_loss: Estimate
    mean_burst_s: Estimate


def fit_in_time(time_s: Numbers, lost: npt.NDArray[np.bool_], confidence: float) -> InTime | None:
    """Fit the rates of leaving both states; `None` if packets are too far apart to determine them.

    After a time t the chain is bad with b + (1 - b) exp(-s t) if it was bad, and with b (1 - exp(-s t)) if it
    was good; s is the sum of the rates, b the share of the bad state. Intervals are normal on the scale of
    logarithms, with the curvature of the likelihood there.
    """
    gaps = np.diff(time_s)
    before, after = lost[:-1], lost[1:]

    def cost(point: Numbers) -> float:
        enter, leave = np.exp(point)
        bad, forgotten = enter / (enter + leave), -np.expm1(-(enter + leave) * gaps)
        to_bad = np.where(before, 1 - (1 - bad) * forgotten, bad * forgotten)
        chosen = np.where(after, to_bad, 1 - to_bad)
        return -float(np.log(np.maximum(chosen, 1e-300)).sum())

    typical = float(np.median(gaps[gaps > 0])) if (gaps > 0).any() else 0.0
    if typical <= 0:
        return None
    stay_bad = (before & after).sum() / max(before.sum(), 1)
    changes = (~before & after).sum() / max((~before).sum(), 1)
    start = np.log(np.array([max(changes, 1e-9), max(1 - stay_bad, 1e-9)]) / typical)
    found = optimize.minimize(cost, start, method="Nelder-Mead", options={"xatol": 1e-6, "fatol": 1e-8})
    spread = deviations(cost, found.x)
    # If the chain forgets its state between two packets, the packets do not show how long states last.
    if spread is None or (np.exp(found.x).sum() * typical) > FORGOTTEN:
        return None
    half = stats.norm.isf((1 - confidence) / 2) * spread
    enter, leave = (
        Estimate(*(math.exp(found.x[k] + sign * half[k]) for sign in (0, -1, 1))) for k in range(2)
    )
    burst = Estimate(1 / leave.value, 1 / leave.high, 1 / leave.low)
    return InTime(share(enter, leave), burst)


FORGOTTEN = 5.0
"""Spacing of packets, in memory times of the chain, beyond which they are too far apart."""

"""Rewards of steps."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from math import isfinite
from typing import Any, Final, TypeAlias

import numpy as np

from airpath.errors import UsageError
from airpath.learning.quantities import Values

RewardFunction: TypeAlias = Callable[[Mapping[str, Any]], Any]
"""A function from the quantities of a step (`airpath.learning.QUANTITIES`) to its reward. The quantities are
numbers in a single environment, and arrays with one value for each environment in a vector environment: a
function written with NumPy works for both.
"""

LEAST_RATE_MBPS: Final = 0.01
"""Lower rates count as this rate: the logarithm of 0 is not finite."""


@dataclass(frozen=True)
class Reward:
    """The logarithm of throughput minus weighted penalties of delay and loss.

    reward = throughput · ln(max(r, 0.01)) - delay · ln(RTT / RTT_min) - loss · L, with r the delivery rate in
    Mbit/s, RTT the mean of the step, RTT_min the smallest of the connection (their ratio is 1 before the
    first sample), and L the share of payload that was detected as lost. Doubling the rate is worth 0.69 at
    any rate, so slow and fast links count equally.

    Raises
    ------
    UsageError
        If a weight is not a number, or negative.
    """

    throughput: float = 1.0
    """Weight of throughput."""
    delay: float = 0.5
    """Weight of delay: with 0.5, doubling the RTT costs half of what doubling the rate gains."""
    loss: float = 10.0
    """Weight of loss: with 10, one packet in a hundred costs 0.1."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            number = isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
            if not number or value < 0:
                raise UsageError(f"reward.{field.name}: found {value!r}; accepted: a number, at least 0")

    def __call__(self, step: Mapping[str, Any]) -> Values:
        """Return the reward of a step."""
        rtt, least = np.asarray(step["rtt_ms"]), np.asarray(step["rtt_min_ms"])
        ratio = np.where(least > 0, np.maximum(rtt, least) / np.where(least > 0, least, 1.0), 1.0)
        rate = np.maximum(step["delivery_rate_mbps"], LEAST_RATE_MBPS)
        worth = self.throughput * np.log(rate) - self.delay * np.log(ratio) - self.loss * step["loss_share"]
        return np.asarray(worth, dtype=np.float64)


def single_reward(function: RewardFunction, values: Mapping[str, float]) -> float:
    """Return a function's reward of the last step of a single environment.

    Raises
    ------
    UsageError
        If it does not return a number.
    """
    given = function(dict(values))
    try:
        found = float(given)
    except (TypeError, ValueError):
        found = np.nan
    if not isfinite(found):
        raise UsageError(f"reward: the function returned {given!r}; accepted: a number")
    return found


def copies(values: Mapping[str, Values]) -> dict[str, Values]:
    """Return copies of the quantities, which the caller may change."""
    return {name: value.copy() for name, value in values.items()}


def rewards(function: RewardFunction, values: Mapping[str, Values]) -> Values:
    """Return a function's rewards of the last step of each environment.

    Raises
    ------
    UsageError
        If it does not return one number for each environment.
    """
    count = len(next(iter(values.values())))
    given = function(values if isinstance(function, Reward) else copies(values))
    try:
        found = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.empty(0)
    if found.shape != (count,) or not np.isfinite(found).all():
        raise UsageError(
            f"reward: the function returned {given!r}; accepted: {count} numbers, one for each environment"
        )
    return found

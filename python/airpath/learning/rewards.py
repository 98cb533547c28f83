"""What a step was worth."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from math import isfinite
from typing import Any, Final, TypeAlias

import numpy as np

from airpath.errors import UsageError
from airpath.learning.quantities import Values

RewardFunction: TypeAlias = Callable[[Mapping[str, Any]], Any]
"""From the quantities of a step (`airpath.learning.QUANTITIES`) to its reward. In a single environment they
are numbers, in a vector environment arrays with a value for each: written with NumPy, one function does for
both.
"""

LEAST_RATE_MBPS: Final = 0.01
"""Less counts as this: the logarithm of nothing is no number."""


@dataclass(frozen=True)
class Reward:
    """The logarithm of throughput, less those of delay and loss.

    reward = throughput · ln(max(r, 0.01)) - delay · ln(RTT / RTT_min) - loss · L, with r the delivery rate in
    Mbit/s, RTT the mean of the step, RTT_min the smallest of the connection (their ratio is 1 before the
    first sample), and L the share of payload that was found lost. Twice the rate is worth 0.69 at any rate,
    so that slow links and fast ones count alike.

    Raises
    ------
    UsageError
        If a weight is no number, or less than zero.
    """

    throughput: float = 1.0
    """Weight of throughput."""
    delay: float = 0.5
    """Weight of delay: with 0.5, doubling the RTT costs half of what doubling the rate brings."""
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
    """Return what a function says of the last step of a single environment.

    Raises
    ------
    UsageError
        If it gives no number.
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
    """Return the quantities for somebody who may change them."""
    return {name: value.copy() for name, value in values.items()}


def rewards(function: RewardFunction, values: Mapping[str, Values]) -> Values:
    """Return what a function says of the last step of each environment.

    Raises
    ------
    UsageError
        If it does not give one number for each.
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

"""Observations of an agent: numbers near 0 to 1, for any link."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from airpath.learning.quantities import Values

RECENT_STEPS: Final = 10
"""Number of steps over which the largest delivery rate is taken."""


@dataclass(frozen=True)
class Feature:
    """One number of an observation."""

    name: str
    """Its name."""
    formula: str
    """How it is computed from the quantities of a step."""
    low: float
    """Smallest value; lower values are clipped."""
    high: float
    """Largest value; higher values are clipped."""


_LOGARITHM: Final = "log2(1 + {} / 1 {}) / 16"

FEATURES: Final = (
    Feature("delivery_rate", _LOGARITHM.format("delivery_rate_mbps", "Mbit/s"), 0.0, 1.0),
    Feature("sending_rate", _LOGARITHM.format("sending_rate_mbps", "Mbit/s"), 0.0, 1.0),
    Feature("delivery_ratio", "delivery_rate_mbps over its largest value in the last 10 steps", 0.0, 1.0),
    Feature("rtt_excess", "rtt_ms / rtt_min_ms - 1", 0.0, 10.0),
    Feature("smoothed_rtt_excess", "rtt_smoothed_ms / rtt_min_ms - 1", 0.0, 10.0),
    Feature("minimum_rtt", _LOGARITHM.format("rtt_min_ms", "ms"), 0.0, 1.0),
    Feature("loss", "loss_share", 0.0, 1.0),
    Feature("window_used", "in_flight_packets / window_packets", 0.0, 2.0),
    Feature("window", _LOGARITHM.format("window_packets", "packet"), 0.0, 1.0),
    Feature(
        "window_over_bdp",
        "log2(window / (largest delivery rate of the last 10 steps · rtt_min)) / 4; 0 before the first",
        -1.0,
        1.0,
    ),
)
"""Features that a sender can know. Quotients with a denominator of 0 are 0."""

PRIVILEGED_FEATURES: Final = (
    Feature("capacity", _LOGARITHM.format("capacity_mbps", "Mbit/s"), 0.0, 1.0),
    Feature("utilisation", "utilisation", 0.0, 1.0),
    Feature("queue", "time to send queue_bytes at capacity_mbps, over rtt_min_ms", 0.0, 10.0),
)
"""Additional features that no sender can know."""


class Observer:
    """Computes observations of several environments, and stores the last ones.

    Parameters
    ----------
    count
        Number of environments.
    history
        Number of steps in an observation, the newest last.
    privileged
        Whether to include the features that no sender can know.
    mss_bytes
        Payload of a full packet.
    """

    def __init__(self, count: int, history: int, privileged: bool, mss_bytes: int) -> None:
        self.features = FEATURES + (PRIVILEGED_FEATURES if privileged else ())
        self._packet_mbit = mss_bytes * 8e-6
        self._low, self._high = self.bounds(self.features, 1)
        self._recent = np.zeros((count, RECENT_STEPS))
        self._seen = np.zeros((count, history, len(self.features)), dtype=np.float32)

    @staticmethod
    def bounds(
        features: tuple[Feature, ...], history: int
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the smallest and the largest values of observations."""
        low = np.array([feature.low for feature in features] * history, dtype=np.float32)
        high = np.array([feature.high for feature in features] * history, dtype=np.float32)
        return low, high

    def begin(self, chosen: NDArray[np.bool_], values: Mapping[str, Values]) -> None:
        """Begin episodes in the `chosen` environments: their history is zero."""
        self._recent[chosen] = 0.0
        self._seen[chosen] = 0.0
        self._seen[chosen, -1] = self._of(values)[chosen]

    def update(self, chosen: NDArray[np.bool_], values: Mapping[str, Values]) -> None:
        """Add the last step of the `chosen` environments."""
        self._recent[chosen] = np.roll(self._recent[chosen], -1, axis=1)
        self._recent[chosen, -1] = values["delivery_rate_mbps"][chosen]
        if self._seen.shape[1] > 1:
            self._seen[chosen] = np.roll(self._seen[chosen], -1, axis=1)
        self._seen[chosen, -1] = self._of(values)[chosen]

    def observations(self) -> NDArray[np.float32]:
        """Return the observations, one row for each environment: a copy."""
        return self._seen.reshape(len(self._seen), -1).copy()

    def _of(self, values: Mapping[str, Values]) -> NDArray[np.float32]:
        largest = self._recent.max(axis=1)
        least_rtt = values["rtt_min_ms"]
        bdp = largest * least_rtt * 1e-3 / self._packet_mbit
        columns = {
            "delivery_rate": _logarithm(values["delivery_rate_mbps"]),
            "sending_rate": _logarithm(values["sending_rate_mbps"]),
            "delivery_ratio": _ratio(values["delivery_rate_mbps"], largest),
            "rtt_excess": _ratio(values["rtt_ms"] - least_rtt, least_rtt),
            "smoothed_rtt_excess": _ratio(values["rtt_smoothed_ms"] - least_rtt, least_rtt),
            "minimum_rtt": _logarithm(least_rtt),
            "loss": values["loss_share"],
            "window_used": _ratio(values["in_flight_packets"], values["window_packets"]),
            "window": _logarithm(values["window_packets"]),
            "window_over_bdp": np.where(
                bdp > 0, np.log2(np.maximum(_ratio(values["window_packets"], bdp), 1e-9)) / 4.0, 0.0
            ),
            "capacity": _logarithm(values["capacity_mbps"]),
            "utilisation": values["utilisation"],
            "queue": _ratio(values["queue_bytes"] * 8e-3, values["capacity_mbps"] * least_rtt),
        }
        rows = np.stack([columns[feature.name] for feature in self.features], axis=1)
        return np.clip(rows.astype(np.float32), self._low, self._high)


def _logarithm(values: Values) -> Values:
    return np.log2(1.0 + values) / 16.0


def _ratio(above: Values, below: Values) -> Values:
    """Return a quotient; 0 if the denominator is 0."""
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)

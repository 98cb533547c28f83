"""Actions of an agent: the window or the pacing rate, set absolutely or by a factor."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from airpath.errors import UsageError

ActionKind = Literal["window-factor", "window", "rate-factor", "rate"]
"""The kinds of action."""

RATES_MBPS: Final = (0.1, 10_000.0)
"""Lowest and highest payload rate."""
INITIAL_RATE_MBPS: Final = 1.0
"""The rate to which the first factor is applied."""

ACTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "window-factor": "the window is multiplied by 2^a: half to double",
        "window": "the window is W^((a + 1) / 2) packets: from 1 to W, the largest window",
        "rate-factor": "the pacing rate is multiplied by 2^a: half to double; begins with 1 Mbit/s",
        "rate": "the pacing rate is 0.1 · 10^(2.5 (a + 1)) Mbit/s of payload: 0.1 to 10000",
    }
)
"""Effect of an action a, from -1 to 1."""


@dataclass
class Actuators:
    """The window and the rate of each environment, and how actions change them."""

    kind: ActionKind
    """The kind of action."""
    mss_bytes: int
    """Payload of a full packet, and the smallest window."""
    largest_bytes: int
    """The largest window; also the window if the action sets a rate."""
    windows: NDArray[np.float64]
    """Windows in bytes of payload."""
    rates: NDArray[np.float64]
    """Pacing rates in bits of payload per second; NaN without."""

    @classmethod
    def of(cls, kind: ActionKind, count: int, mss_bytes: int, largest_bytes: int) -> "Actuators":
        """Return the actuators of `count` environments."""
        windows = np.full(count, float(mss_bytes))
        return cls(kind, mss_bytes, largest_bytes, windows, np.full(count, np.nan))

    def begin(self, chosen: NDArray[np.bool_], window_bytes: float) -> None:
        """Begin episodes in the `chosen` environments, with this window."""
        paced = self.kind in ("rate", "rate-factor")
        self.windows[chosen] = self.largest_bytes if paced else min(window_bytes, self.largest_bytes)
        self.rates[chosen] = INITIAL_RATE_MBPS * 1e6 if paced else np.nan

    def act(self, chosen: NDArray[np.bool_], actions: NDArray[np.float64]) -> None:
        """Apply one action in each chosen environment.

        Parameters
        ----------
        chosen
            Mask of the environments.
        actions
            One number for each environment, clipped to -1 to 1.

        Raises
        ------
        UsageError
            If an action is not a number.
        """
        if not np.isfinite(actions[chosen]).all():
            raise UsageError(f"action: found {actions.tolist()}; accepted: numbers from -1 to 1")
        a = np.clip(actions[chosen], -1.0, 1.0)
        mss = self.mss_bytes
        match self.kind:
            case "window-factor":
                windows = self.windows[chosen] * 2.0**a
                self.windows[chosen] = np.clip(windows, mss, self.largest_bytes)
            case "window":
                self.windows[chosen] = (self.largest_bytes / mss) ** ((a + 1.0) / 2.0) * mss
            case "rate-factor":
                low, high = (rate * 1e6 for rate in RATES_MBPS)
                self.rates[chosen] = np.clip(self.rates[chosen] * 2.0**a, low, high)
            case "rate":
                self.rates[chosen] = RATES_MBPS[0] * 1e6 * 10.0 ** (2.5 * (a + 1.0))

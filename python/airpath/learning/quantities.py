"""Quantities measured in a step: names with units, as in rewards and `info`."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from airpath import _core

Values = NDArray[np.float64]
"""One value for each environment."""

SENDER: Final[Mapping[str, str]] = MappingProxyType(
    {
        "time_s": "end of the step, from the start of the run",
        "delivery_rate_mbps": "payload acknowledged in the step, over its length",
        "sending_rate_mbps": "payload sent in the step, retransmissions included, over its length",
        "loss_share": "payload found lost in the step, over that found lost or acknowledged; 0 to 1",
        "timeouts": "expiries of the retransmission timer in the step",
        "rtt_ms": "mean of the RTT samples of the step; without one that before; 0 before the first",
        "rtt_latest_ms": "the newest RTT sample; 0 before the first",
        "rtt_smoothed_ms": "SRTT (RFC 6298); 0 before the first sample",
        "rtt_min_ms": "the smallest RTT sample of the connection; 0 before the first",
        "in_flight_packets": "payload in flight at the end of the step, in full packets",
        "window_packets": "the window in force, in full packets",
        "pacing_rate_mbps": "the pacing rate in force; 0 without",
    }
)
"""Quantities that a sender knows."""

PRIVILEGED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "capacity_mbps": "capacity of the bottleneck in the step, on the wire; 0 if not known",
        "utilisation": "carried bytes of all flows divided by the capacity; 0 to 1, 0 if not known",
        "queue_bytes": "queue of the bottleneck at the end of the step; 0 if not known",
        "dropped_packets": "packets of all flows lost at the bottleneck in the step; 0 if not known",
    }
)
"""Quantities that no sender knows, for rewards and evaluation. Unknown for unrecorded or unlimited links."""

QUANTITIES: Final[Mapping[str, str]] = MappingProxyType({**SENDER, **PRIVILEGED})
"""Every quantity of a step, with its definition. Rates of senders count payload, in Mbit/s."""

_COLUMNS: Final = tuple(_core.Episodes.quantities())


class Measured:
    """The quantities of the last step of several environments.

    Parameters
    ----------
    count
        Number of environments.
    step_s
        Length of a step, in seconds.
    mss_bytes
        Payload of a full packet.
    """

    def __init__(self, count: int, step_s: float, mss_bytes: int) -> None:
        self._step_s = step_s
        self._mss_bytes = mss_bytes
        self.values: dict[str, Values] = {name: np.zeros(count) for name in QUANTITIES}
        """Each quantity; never changed in place."""
        self.over = np.zeros(count, dtype=np.bool_)
        """Whether the agent's flow has sent all of its data."""

    def begin(self, chosen: NDArray[np.bool_], window_packets: float) -> None:
        """Begin episodes in the `chosen` environments: only the window is known."""
        self.values = {name: np.where(chosen, 0.0, before) for name, before in self.values.items()}
        self.values["window_packets"][chosen] = window_packets
        self.over = self.over & ~chosen

    def update(self, chosen: NDArray[np.bool_], rows: NDArray[np.float64]) -> None:
        """Store the engine's output for a step of the `chosen` environments."""
        raw: dict[str, Any] = dict(zip(_COLUMNS, rows.T, strict=True))
        mbps = 8e-6 / self._step_s
        acked, lost = raw["acked_bytes"], raw["lost_bytes"]
        offered = np.nan_to_num(raw["link_offered_bytes"])
        # Transmission of the first departing packet of a step may have begun in the previous step.
        used = np.divide(raw["link_departed_bytes"], offered, out=np.zeros_like(offered), where=offered > 0)
        new = {
            "time_s": raw["time_s"],
            "delivery_rate_mbps": acked * mbps,
            "sending_rate_mbps": raw["sent_bytes"] * mbps,
            "loss_share": lost / np.maximum(acked + lost, 1.0),
            "timeouts": raw["timeouts"],
            "rtt_ms": np.where(
                np.isnan(raw["rtt_s"]), self.values["rtt_ms"], np.nan_to_num(raw["rtt_s"]) * 1e3
            ),
            "rtt_latest_ms": np.nan_to_num(raw["rtt_latest_s"]) * 1e3,
            "rtt_smoothed_ms": np.nan_to_num(raw["rtt_smoothed_s"]) * 1e3,
            "rtt_min_ms": np.nan_to_num(raw["rtt_min_s"]) * 1e3,
            "in_flight_packets": raw["in_flight_bytes"] / self._mss_bytes,
            "window_packets": raw["window_bytes"] / self._mss_bytes,
            "pacing_rate_mbps": np.nan_to_num(raw["pacing_rate_bps"]) * 1e-6,
            "capacity_mbps": offered * mbps,
            "utilisation": np.minimum(used, 1.0),
            "queue_bytes": np.nan_to_num(raw["link_queue_bytes"]),
            "dropped_packets": np.nan_to_num(raw["link_dropped_packets"]),
        }
        self.values = {name: np.where(chosen, new[name], before) for name, before in self.values.items()}
        self.over = np.where(chosen, raw["over"] > 0, self.over)

"""The fading link of VCP-W: antennas, codes, the step of its chain, and the exact loss of packets."""

import functools
import json
from dataclasses import dataclass
from typing import Any, Final

from airpath._core import packet_loss
from airpath.scenario.losses import LOSSES, loss_plan

ANTENNAS: Final = ("1x1", "2x1", "1x2", "2x2")
DATA_BYTES: Final = 1040
ACK_BYTES: Final = 40

BIT: Final = "bit"
SYMBOL: Final = "symbol"
CLOCKS: Final = (BIT, SYMBOL)

PER_BIT: Final = "step per bit (printed)"
PER_SYMBOL: Final = "step per symbol"
READINGS: Final = {PER_BIT: BIT, PER_SYMBOL: SYMBOL}
"""The two readings of the SNR axis, the printed one first."""

AXIS: Final = (
    "The unit of a step of the chain shifts the SNR axis. The paper has a step and a random error per bit,"
    " which moves every curve far to the right; with a step and a random error per symbol of the code (a"
    " byte), our reading, knees are 9 dB (1x1) and 4.5 to 6 dB (others) further left. Shapes and orders can"
    " be compared, dB values cannot."
)
CODING: Final = (
    "Packets are split into codewords of at most 255 symbols, while the paper has one codeword; losses are"
    " exact for the chain. Codes take no transmission time, except in named choices: the rate of the link is"
    " that of the data."
)


@dataclass(frozen=True)
class Fading:
    """A link without its signal-to-noise ratio."""

    antennas: str = "2x2"
    """Transmit x receive antennas."""
    data: float | None = 0.93
    """Code rate of data packets; `None` for uncoded."""
    acks: float | None = 0.5
    """Code rate of acknowledgments."""
    clock: str = BIT
    """The step of the chain."""
    bad_steps: int = 8
    """Mean length of the bad state in steps."""
    parity_takes_time: bool = False
    """Whether the parity of the codes takes time on the link."""

    def loss(self, snr: float) -> dict[str, Any]:
        """Return the losses as a table of a scenario, for an SNR in dB in the good state."""
        coded = {"code_rate": self.data, "ack_code_rate": self.acks}
        return {
            "kind": "fading",
            "clock": self.clock,
            "antennas": self.antennas,
            "beta": 1 - 1 / self.bad_steps,
            "snr": float(snr),
            **{name: rate for name, rate in coded.items() if rate is not None},
            **({"parity_takes_time": True} if self.parity_takes_time else {}),
        }

    def exact(self, snr: float, size: int = DATA_BYTES) -> float:
        """Return the exact long-term loss probability of a packet of `size` bytes."""
        return _exact(self, float(snr), size)

    def snr_at(self, loss: float, size: int = DATA_BYTES) -> float:
        """Return the SNR in dB at which this share of packets is lost; losses fall with the SNR."""
        low, high = -20.0, 100.0
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (middle, high) if self.exact(middle, size) > loss else (low, middle)
        return low

    @property
    def packet_share(self) -> float:
        """The share of packets in the sent bytes if parity takes time, with an acknowledgment per packet."""
        coded = DATA_BYTES / (self.data or 1) + ACK_BYTES / (self.acks or 1)
        return (DATA_BYTES + ACK_BYTES) / coded if self.parity_takes_time else 1.0

    @property
    def code(self) -> str:
        """The rates as text: `0.93/0.5`, 1 for none."""
        return "/".join("1" if rate is None else f"{rate:g}" for rate in (self.data, self.acks))


@functools.cache
def _exact(fading: Fading, snr: float, size: int) -> float:
    loss = LOSSES["fading"].read(fading.loss(snr))
    return packet_loss(json.dumps(loss_plan(loss)["bursts"]), size)

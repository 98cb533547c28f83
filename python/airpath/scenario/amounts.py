"""Sizes of buffers and thresholds at a link: bytes, packets, time or bandwidth-delay products."""

from collections.abc import Sequence
from dataclasses import dataclass

from airpath._declared.messages import FieldError
from airpath.scenario.channels import LinkDraft
from airpath.units import Amount, AmountUnit


@dataclass(frozen=True)
class LinkFigures:
    """A link, with the values from which amounts at its queue are computed."""

    draft: LinkDraft
    """The link."""
    base_rtt_ns: float
    """Its base round-trip time in nanoseconds."""
    packet_bytes: int
    """Size on the wire of the largest packet that any flow sends."""
    flow_entries: Sequence[str]
    """For each flow of the plan, the name of its entry in the scenario."""

    def bytes_of(self, amount: Amount, path: str) -> int:
        """Return an amount that is not in packets in bytes; `path` is its path in the scenario.

        Raises
        ------
        FieldError
            If it needs the mean rate of the link, which is unlimited.
        """
        mean_bps = self.draft.mean_bps
        if amount.unit is AmountUnit.BYTES:
            return int(amount.value)
        if mean_bps is None:
            raise FieldError(path, "needs a mean rate, but the link is unlimited; accepted: bytes or packets")
        if amount.unit is AmountUnit.NANOSECONDS:
            return round(mean_bps / 8 * float(amount.value) * 1e-9)
        return round(mean_bps / 8 * float(amount.value) * self.base_rtt_ns * 1e-9)

    def packets_of(self, amount: Amount, packet: int, path: str) -> float:
        """Return an amount in packets of `packet` bytes; `path` is its path in the scenario."""
        if amount.unit is AmountUnit.PACKETS:
            return float(amount.value)
        return self.bytes_of(amount, path) / packet

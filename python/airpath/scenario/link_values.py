"""Values of the options of one link, as a scenario writes them."""

import re
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, Self

from airpath._nearest import suggestion
from airpath.errors import UnitError, UsageError
from airpath.links import LINKS
from airpath.units import (
    AmountUnit,
    format_duration,
    parse_buffer,
    parse_duration,
    parse_rate,
)

DEFAULT_DELAY: Final = "20ms"
"""One-way delay of a link without a delay of its own."""
REORDERED_AFTER: Final = "8ms"
"""The default time until the link repeats a packet: that of LTE's HARQ (3GPP TS 36.321)."""
MOST_RETRIES: Final = 255
"""The largest number of repeats in the scenario language: a reordered packet is never lost."""
RTT_SPREAD: Final = Fraction(2, 100)
"""Each seed samples the delay of each direction from this share around its mean."""
_SHARE: Final = re.compile(r"\s*(\d{1,10}(?:\.\d{0,20})?|\.\d{1,20})\s*(%?)\s*", re.ASCII)
_LOSS_HELP: Final = (
    'a share above 0 % and below 100 % ("1%"), with a colon and the mean burst in packets if losses come in'
    ' bursts ("1%:4")'
)
_REORDER_HELP: Final = (
    'a share above 0 % and below 100 % ("1%"), with a colon and the time until the repeat ("1%:5ms") if it'
    f" is not {REORDERED_AFTER}"
)


def link_rate(link: str, argument: str = "link") -> tuple[str | dict[str, Any], str]:
    """Return the rate of the link as a scenario writes it, and its one-way delay.

    `argument` is the name of the argument in error messages.

    Raises
    ------
    UsageError
        If there is no such link.
    """
    for named in LINKS:
        if named.name == link:
            return {"kind": "link", "name": link}, named.delay or DEFAULT_DELAY
    if Path(link).is_file():
        return {"kind": "trace", "file": str(Path(link).resolve())}, DEFAULT_DELAY
    try:
        parse_rate(link)
    except UnitError as error:
        if link.lstrip("-")[:1].isdigit():
            raise UsageError(f"{argument}: {error}") from None
        raise UsageError(
            f'{argument}: found "{link}", which is neither a rate, nor a file, nor a shipped link;'
            f" {suggestion(link, (named.name for named in LINKS))}"
        ) from None
    return link, DEFAULT_DELAY


@dataclass(frozen=True)
class Rtt:
    """A base round-trip time, or a range of them, in nanoseconds."""

    low: int
    high: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a time, or two times separated by "..".

        Raises
        ------
        UsageError
            If it is neither.
        """
        try:
            ends = [parse_duration(end) for end in text.split("..")]
        except UnitError as error:
            raise UsageError(f"rtt: {error}") from None
        if len(ends) > 2 or ends[0] > ends[-1]:
            raise UsageError(
                f'rtt: found "{text}"; accepted: a time, or a rising range such as "20ms..200ms"'
            )
        return cls(ends[0], ends[-1])

    @classmethod
    def parse_one(cls, text: str) -> Self:
        """Parse a single time.

        Raises
        ------
        UsageError
            If it is a range, or not a time.
        """
        rtt = cls.parse(text)
        if rtt.is_range:
            raise UsageError(f'rtt: found "{text}"; accepted: one time, since all flows have the same')
        return rtt

    @property
    def is_range(self) -> bool:
        """Whether flows differ."""
        return self.low < self.high

    @property
    def delay(self) -> str:
        """The one-way delay of the link, which determines the shortest RTT of its flows."""
        return format_duration(self.low // 2)

    @property
    def extra(self) -> dict[str, Any]:
        """The extra RTT of flows."""
        return {"even": [format_duration(0), format_duration(self.high - self.low)]}

    def limit(self, buffer: str) -> str:
        """Return a buffer as written, but bandwidth-delay products of a range as time at its mean RTT."""
        try:
            amount = parse_buffer(buffer)
        except UnitError:
            return buffer  # the scenario reports the error
        if not self.is_range or amount.unit is not AmountUnit.BANDWIDTH_DELAY_PRODUCTS:
            return buffer
        return format_duration(int(amount.value * (self.low + self.high) / 2))


def around(delay: str) -> str | dict[str, Any]:
    """Return a delay that each seed samples from `RTT_SPREAD` around this mean."""
    mean = parse_duration(delay)
    spread = int(mean * RTT_SPREAD)
    return {"uniform": [format_duration(mean - spread), format_duration(mean + spread)]} if spread else delay


def loss_of(given: str | float) -> float | dict[str, Any]:
    """Return losses as a scenario writes them.

    Raises
    ------
    UsageError
        If it is neither a probability, nor a share, nor a share and a burst.
    """
    if not isinstance(given, str):
        return given  # the scenario refuses values that are not probabilities
    share, colon, burst = given.partition(":")
    loss = _share("loss", share, given, _LOSS_HELP)
    if not colon:
        return loss
    found = _SHARE.fullmatch(burst)
    if found is None or found[2]:
        raise UsageError(f'loss: found "{given}"; accepted: {_LOSS_HELP}')
    least = max(1.0, loss / (1 - loss))
    if not least <= float(found[1]) <= 1e6:
        raise UsageError(f'loss: found "{given}"; accepted: a mean burst from {least:.4g} to 1000000 packets')
    return {"kind": "gilbert", "mean_loss": loss, "mean_burst": float(found[1])}


def jitter_of(given: str) -> dict[str, Any]:
    """Return jitter as a scenario writes it.

    Raises
    ------
    UsageError
        If it is not a time.
    """
    return {"uniform": [format_duration(0), format_duration(_time("jitter", given))]}


def reorder_of(given: str) -> dict[str, Any]:
    """Return the keys of a link that reorder packets: corruption, and repeats out of order.

    Raises
    ------
    UsageError
        If it is neither a share, nor a share and a time.
    """
    share, _, after = given.partition(":")
    return {
        "loss": _share("reorder", share, given, _REORDER_HELP),
        "arq": {
            "retries": MOST_RETRIES,
            "delay": format_duration(_time("reorder", after if ":" in given else REORDERED_AFTER)),
            "in_order": False,
        },
    }


def _share(option: str, text: str, given: str, accepted: str) -> float:
    found = _SHARE.fullmatch(text)
    share = float(found[1]) / (100 if found[2] else 1) if found else 0.0
    if not 0.0 < share < 1.0:
        raise UsageError(f'{option}: found "{given}"; accepted: {accepted}')
    return share


def _time(option: str, text: str) -> int:
    try:
        return parse_duration(text)
    except UnitError as error:
        raise UsageError(f"{option}: {error}") from None

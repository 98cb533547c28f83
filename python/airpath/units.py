"""Quantities with units, as users write them: rates, durations, sizes, windows and buffers.

Rates are always in bits, k is 1000, Ki is 1024. Everything is parsed exactly (no floating point) into whole
bits per second, nanoseconds or bytes, and every formatted quantity parses back to the same integer unless
rounding was requested.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Context, Decimal
from enum import Enum
from typing import Final

from airpath.errors import UnitError

__all__ = [
    "Amount",
    "AmountUnit",
    "format_amount",
    "format_duration",
    "format_rate",
    "format_size",
    "parse_buffer",
    "parse_duration",
    "parse_rate",
    "parse_size",
    "parse_window",
]

LARGEST: Final = 2**63 - 1
"""The largest quantity in any base unit, so that every integer fits 64 bits."""

RATE_HELP: Final = 'a rate in bits, such as "10mbps", "1.5 Mbit/s" or "800 kbit/s"'
DURATION_HELP: Final = 'a duration with a unit (ns, us, ms, s, min, h), such as "32ms"'
SIZE_HELP: Final = 'a size in bytes with a unit (B, kB, MB, GB, KiB, MiB, GiB), such as "575kB"'
WINDOW_HELP: Final = 'a window in packets or bytes, such as "10 packets" or "64KiB"'
BUFFER_HELP: Final = 'a buffer such as "575kB", "500 packets", "100ms", "1.5bdp" or "unlimited"'
THRESHOLD_HELP: Final = 'a threshold such as "30kB", "20 packets", "5ms" or "0.5bdp"'


def parse_rate(text: object) -> int:
    """Read a rate.

    Parameters
    ----------
    text
        A number and one of bps, kbps, mbps, gbps, tbps, bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s (b/s works as
        bit/s). The case of the prefix is free; a capital B means bytes and is refused.

    Returns
    -------
    int
        Bits per second.

    Raises
    ------
    UnitError
        If `text` is anything else.
    """
    number, unit = _split(text, RATE_HELP)
    if "B" in unit:
        bits = f"{_plain(number * 8)} {unit[: unit.index('B')]}bit/s"
        raise UnitError(
            f'found "{text}": rates are in bits, never bytes; if bytes were meant, write "{bits}"'
        )
    factor = _RATE_UNITS.get(unit.lower())
    if factor is None:
        raise UnitError(f'found "{text}"; accepted: {RATE_HELP}')
    return _whole(number * factor, text, "bit/s")


def parse_duration(text: object) -> int:
    """Read a duration.

    Parameters
    ----------
    text
        A number and one of ns, us (or µs), ms, s, min, h.

    Returns
    -------
    int
        Nanoseconds.

    Raises
    ------
    UnitError
        If `text` is anything else.
    """
    number, unit = _split(text, DURATION_HELP)
    if unit == "m":
        raise UnitError(f'found "{text}": "m" is ambiguous; write "min" for minutes or "ms" for milliseconds')
    factor = _DURATION_UNITS.get(unit)
    if factor is None:
        raise UnitError(f'found "{text}"; accepted: {DURATION_HELP}')
    return _whole(number * factor, text, "ns")


def parse_size(text: object) -> int:
    """Read an amount of data.

    Parameters
    ----------
    text
        A number and one of B, kB (or KB), MB, GB (powers of 1000), KiB, MiB, GiB (powers of 1024).

    Returns
    -------
    int
        Bytes.

    Raises
    ------
    UnitError
        If `text` is anything else, a unit of bits included.
    """
    number, unit = _split(text, SIZE_HELP)
    if re.fullmatch(r"[kKmMgG]?i?b(it)?s?", unit):
        raise UnitError(
            f'found "{text}": a lower-case b means bits; sizes are in bytes, such as "575kB" or "2MiB"'
        )
    factor = _SIZE_UNITS.get(unit)
    if factor is None:
        raise UnitError(f'found "{text}"; accepted: {SIZE_HELP}')
    return _whole(number * factor, text, "B")


class AmountUnit(Enum):
    """The unit of a window or a buffer."""

    BYTES = "bytes"
    PACKETS = "packets"
    NANOSECONDS = "ns"
    BANDWIDTH_DELAY_PRODUCTS = "bdp"
    UNLIMITED = "unlimited"


@dataclass(frozen=True)
class Amount:
    """A window or buffer in the unit in which it was written."""

    value: Decimal
    """The number of units; an integer except for bandwidth-delay products, 0 if unlimited."""
    unit: AmountUnit
    """The unit."""


def parse_window(text: object) -> Amount:
    """Read a window: a size in bytes or a number of packets, more than zero.

    Raises
    ------
    UnitError
        If `text` is anything else.
    """
    number, unit = _split(text, WINDOW_HELP)
    if number == 0:
        raise UnitError(f'found "{text}"; a window must be more than zero')
    if unit in _PACKET_UNITS:
        return _packets(number, text)
    try:
        return Amount(Decimal(parse_size(text)), AmountUnit.BYTES)
    except UnitError:
        raise UnitError(f'found "{text}"; accepted: {WINDOW_HELP}') from None


def window_bytes(window: Amount, mss_bytes: int) -> int:
    """Return a window in bytes of payload; a packet has one maximum segment size."""
    count = int(window.value)
    return count * mss_bytes if window.unit is AmountUnit.PACKETS else count


def parse_buffer(text: object) -> Amount:
    """Read a buffer: bytes, packets, time at the mean rate, bandwidth-delay products, or "unlimited"."""
    if text == "unlimited":
        return Amount(Decimal(0), AmountUnit.UNLIMITED)
    return _queue_size(text, BUFFER_HELP)


def parse_threshold(text: object) -> Amount:
    """Read a threshold of a queue: bytes, packets, time at the mean rate, or bandwidth-delay products."""
    return _queue_size(text, THRESHOLD_HELP)


def _queue_size(text: object, accepted: str) -> Amount:
    number, unit = _split(text, accepted)
    if unit in _PACKET_UNITS:
        return _packets(number, text)
    if unit.lower() == "bdp":
        return Amount(number, AmountUnit.BANDWIDTH_DELAY_PRODUCTS)
    if unit in _DURATION_UNITS:
        return Amount(Decimal(parse_duration(text)), AmountUnit.NANOSECONDS)
    try:
        return Amount(Decimal(parse_size(text)), AmountUnit.BYTES)
    except UnitError:
        raise UnitError(f'found "{text}"; accepted: {accepted}') from None


def format_rate(bits_per_second: int | float, digits: int | None = None) -> str:
    """Format a rate, as in "12 Mbit/s"; `digits` rounds to that many significant digits."""
    return _format(bits_per_second, digits, {"bit/s": 1, "kbit/s": 10**3, "Mbit/s": 10**6, "Gbit/s": 10**9})


def format_duration(nanoseconds: int | float, digits: int | None = None) -> str:
    """Format a duration, as in "32 ms"; `digits` rounds to that many significant digits."""
    return _format(nanoseconds, digits, {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}, zero="s")


def format_size(size: int | float, digits: int | None = None) -> str:
    """Format a number of bytes, as in "575 kB"; `digits` rounds to that many significant digits."""
    return _format(size, digits, {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9})


def format_amount(amount: Amount) -> str:
    """Format a window or buffer such that it parses back to the same value."""
    match amount.unit:
        case AmountUnit.UNLIMITED:
            return "unlimited"
        case AmountUnit.BYTES:
            return format_size(int(amount.value))
        case AmountUnit.NANOSECONDS:
            return format_duration(int(amount.value))
        case AmountUnit.PACKETS | AmountUnit.BANDWIDTH_DELAY_PRODUCTS:
            return f"{_plain(amount.value)} {amount.unit.value}"


_RATE_UNITS: Final[Mapping[str, int]] = {
    prefix + ending: factor
    for prefix, factor in {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}.items()
    for ending in ("bps", "bit/s", "b/s")
}
_DURATION_UNITS: Final[Mapping[str, int]] = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "min": 60 * 10**9,
    "h": 3600 * 10**9,
}
_SIZE_UNITS: Final[Mapping[str, int]] = {
    "B": 1,
    "kB": 10**3,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
}
_PACKET_UNITS: Final = ("packets", "packet")
# The lengths are bounded so that no text, however odd, makes a number of astronomical size.
_QUANTITY: Final = re.compile(
    r"\s*([0-9]{1,20}(?:\.[0-9]{1,30})?(?:[eE][+-]?[0-9]{1,2})?)\s*([A-Za-zµ/]+)\s*"
)
_EXACT: Final = Context(prec=120)


def _split(text: object, accepted: str) -> tuple[Decimal, str]:
    """Return the number and the unit of a quantity."""
    if isinstance(text, bool) or not isinstance(text, str | int | float):
        raise UnitError(f"found {text!r}; accepted: {accepted}")
    if not isinstance(text, str):
        raise UnitError(f"found the bare number {text}, which has no unit; accepted: {accepted}")
    if match := _QUANTITY.fullmatch(text):
        return Decimal(match[1]), match[2]
    if re.fullmatch(r"\s*[0-9.]+\s*", text):
        raise UnitError(f'found "{text}", which has no unit; accepted: {accepted}')
    if text.lstrip().startswith("-"):
        raise UnitError(f'found "{text}", which is negative; accepted: {accepted}')
    raise UnitError(f'found "{text}"; accepted: {accepted}')


def _whole(value: Decimal, text: object, unit: str) -> int:
    """Return the nearest integer number of base units; refuse values that round to zero or exceed 64 bits."""
    nearest = int(value.to_integral_value(ROUND_HALF_EVEN))
    if nearest == 0 and value != 0:
        raise UnitError(f'found "{text}", which is less than 1 {unit}')
    if nearest > LARGEST:
        raise UnitError(f'found "{text}", which is more than the largest value, {LARGEST} {unit}')
    return nearest


def _packets(number: Decimal, text: object) -> Amount:
    if number != number.to_integral_value() or number > LARGEST:
        raise UnitError(f'found "{text}"; packets must be a whole number')
    return Amount(number, AmountUnit.PACKETS)


def _format(value: int | float, digits: int | None, units: Mapping[str, int], zero: str | None = None) -> str:
    """Return the value in the largest unit in which it is at least one."""
    number = Decimal(value)
    if digits is not None:
        number = Context(prec=digits).plus(number)
    fitting = [unit for unit, factor in units.items() if number >= factor]
    unit = fitting[-1] if fitting else zero if zero is not None and number == 0 else next(iter(units))
    return f"{_plain(_EXACT.divide(number, Decimal(units[unit])))} {unit}"


def _plain(number: Decimal) -> str:
    """Format without exponent and without trailing zeros."""
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text

"""Quantities in the syntax of `tc`: the units of iproute2, which are not those of scenarios.

After `get_rate64`, `get_size`, `get_time` and `parse_percent` of iproute2 (`tc/tc_util.c`, `lib/utils.c`) and
the parameters in `tc(8)`. Units are case-insensitive; a bare number means bits per second, bytes or
microseconds.
"""

import re
from typing import Final

LARGEST_U32: Final = 2**32 - 1
LARGEST_RATE: Final = 2**63 - 1

_BITS: Final = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_BINARY: Final = {"ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
RATE_UNITS: Final = {
    **{prefix + "bit": factor for prefix, factor in (_BITS | _BINARY).items()},
    **{prefix + "bps": 8 * factor for prefix, factor in (_BITS | _BINARY).items()},
    "": 1,
}
"""Bits per second in each unit: units ending in `bit` are bits, those ending in `bps` are bytes."""

SIZE_UNITS: Final = {
    "": 1.0,
    "b": 1.0,
    "k": 2.0**10,
    "kb": 2.0**10,
    "m": 2.0**20,
    "mb": 2.0**20,
    "g": 2.0**30,
    "gb": 2.0**30,
    "kbit": 2.0**7,
    "mbit": 2.0**17,
    "gbit": 2.0**27,
}
"""Bytes in each unit; every k is 1024."""

TIME_UNITS: Final = {
    "": 10**3,
    "us": 10**3,
    "usec": 10**3,
    "usecs": 10**3,
    "ms": 10**6,
    "msec": 10**6,
    "msecs": 10**6,
    "s": 10**9,
    "sec": 10**9,
    "secs": 10**9,
}
"""Nanoseconds in each unit."""

# The number of digits is limited, so that no input leads to arithmetic with huge numbers.
_NUMBER: Final = re.compile(
    r"(\d{1,20}(?:\.\d{0,20})?|\.\d{1,20})(?:[eE]([+-]?\d{1,2}))?([A-Za-z%]*)", re.ASCII
)


class RefusedError(ValueError):
    """`tc` itself would refuse the value; the text states what was found and what is accepted."""


def rate_bps(text: str) -> int:
    """Read a rate, in bits per second."""
    number, unit = _split(text, "a rate such as 10mbit")
    factor = RATE_UNITS.get(unit.lower())
    if factor is None:
        raise RefusedError(f'found the rate "{text}"; accepted: bit, kbit, mbit, gbit, bps (bytes), kbps, …')
    return _within(number * factor, text, LARGEST_RATE)


def size_bytes(text: str) -> int:
    """Read a size, in bytes."""
    number, unit = _split(text, "a size such as 32kb")
    factor = SIZE_UNITS.get(unit.lower())
    if factor is None:
        raise RefusedError(
            f'found the size "{text}"; accepted: b, k or kb (1024 bytes), m or mb, g or gb, kbit'
        )
    return _within(number * factor, text, LARGEST_U32)


def time_ns(text: str) -> int:
    """Read a duration, in nanoseconds."""
    number, unit = _split(text, "a time such as 20ms")
    factor = TIME_UNITS.get(unit.lower())
    if factor is None:
        raise RefusedError(f'found the time "{text}"; accepted: us, ms, s')
    return _within(number * factor, text, LARGEST_U32 * 1000)


def share(text: str) -> float:
    """Read a percentage, as a fraction from 0 to 1; the percent sign is optional."""
    number, unit = _split(text, "a percentage such as 1%")
    if unit not in ("", "%") or not 0 <= number <= 100:
        raise RefusedError(f'found "{text}"; accepted: 0% to 100%')
    return number / 100


def whole(text: str) -> int:
    """Read an integer: decimal, or hexadecimal with 0x."""
    if re.fullmatch(r"0[xX][0-9a-fA-F]{1,16}", text):
        return int(text, 16)
    if re.fullmatch(r"[0-9]{1,20}", text):
        return int(text)
    raise RefusedError(f'found "{text}"; accepted: a whole number')


def unit_of(text: str) -> str:
    """Return the unit of a quantity, in lower case; empty for a bare number."""
    match = _NUMBER.fullmatch(text)
    return match[3].lower() if match else ""


def number_of(text: str) -> str:
    """Return the number of a quantity as written."""
    match = _NUMBER.fullmatch(text)
    return text[: len(text) - len(match[3])] if match else text


def _split(text: str, accepted: str) -> tuple[float, str]:
    match = _NUMBER.fullmatch(text)
    if match is None:
        raise RefusedError(f'found "{text}"; accepted: {accepted}')
    return float(match[1]) * 10.0 ** int(match[2] or 0), match[3]


def _within(value: float, text: str, largest: int) -> int:
    if value > largest:
        raise RefusedError(f'found "{text}", which is more than tc can store')
    return int(value)

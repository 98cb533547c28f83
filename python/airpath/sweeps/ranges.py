"""Values of an axis: lists, and ranges written as text (`"10mbps..100mbps / 10"`)."""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

from airpath.errors import UnitError, UsageError
from airpath.units import (
    LARGEST,
    AmountUnit,
    format_duration,
    format_rate,
    format_size,
    parse_buffer,
    parse_duration,
    parse_rate,
    parse_size,
)

MOST_VALUES: Final = 100_000
"""Largest number of values of an axis."""
LARGEST_EXPONENT: Final = 300
MOST_DIGITS: Final = 3
"""Largest number of digits of an exponent."""
HELP: Final = (
    'a list of values, or a range: "LOW..HIGH / COUNT" (equal steps, both ends included),'
    ' "LOW..HIGH / COUNT log" (equal ratios) or "LOW..HIGH step STEP", such as "10mbps..100mbps / 10"'
)


@dataclass(frozen=True)
class Kind:
    """A kind of quantity that a range can cover."""

    suffix: str
    """The suffix of the name of a column in base units."""
    unit: str
    """The unit of such a column, as in tables."""
    read: Callable[[str], Fraction]
    """Converts text to base units; raises `UnitError`."""
    write: Callable[[Fraction], Any]
    """Converts base units to a value of a scenario; raises `UnitError` if there is no such value."""
    per_unit: int = 1
    """Number of base units in one unit of the column."""
    whole: bool = False
    """Whether values are whole base units, so that values at equal ratios are rounded."""

    def column(self, value: Fraction) -> float:
        """Return a value in the unit of the column."""
        return float(value / self.per_unit)


def expand(values: object) -> tuple[Any, ...]:
    """Return the values of an axis.

    Parameters
    ----------
    values
        A list, or the text of a range.

    Raises
    ------
    UsageError
        If it is something else, or empty.
    """
    if isinstance(values, list | tuple):
        if not values:
            raise UsageError(f"found an empty list; accepted: {HELP}")
        return tuple(values)
    if not isinstance(values, str) or not (match := _RANGE.fullmatch(values)):
        found = f'"{values}"' if isinstance(values, str) else repr(values)
        raise UsageError(f"found {found}; accepted: {HELP}")
    kind = _kind_of([match["low"], match["high"]], values)
    low, high = kind.read(match["low"]), kind.read(match["high"])
    if low >= high:
        raise UsageError(f'found "{values}", which does not increase')
    if match["step"] is not None:
        steps = _stepped(low, high, match["step"], kind, values)
    else:
        steps = _counted(low, high, match, kind, values)
    try:
        written = tuple(kind.write(step) for step in steps)
    except UnitError as error:
        raise UsageError(f'found "{values}": {error}') from None
    if len({str(one) for one in written}) < len(written):
        raise UsageError(f'found "{values}": some of its values are equal after rounding')
    return written


def common_kind(values: Sequence[object]) -> Kind | None:
    """Return the common kind of quantity of all these texts; `None` if there is none."""
    if not all(isinstance(value, str) for value in values):
        return None
    for kind in _QUANTITIES:
        try:
            for value in values:
                kind.read(str(value))
        except UnitError:
            continue
        return kind
    return None


def _counted(low: Fraction, high: Fraction, match: re.Match[str], kind: Kind, text: str) -> list[Fraction]:
    count = int(match["count"])
    if not 2 <= count <= MOST_VALUES:
        raise UsageError(f'found "{text}"; the number of values must be 2 to {MOST_VALUES}')
    if match["log"] is None:
        return [low + (high - low) * Fraction(k, count - 1) for k in range(count)]
    if low == 0:
        raise UsageError(f'found "{text}"; a range with equal ratios cannot begin at zero')
    ratio = math.log(high / low)
    inner = [
        Fraction(float(f"{float(low) * math.exp(ratio * k / (count - 1)):.6g}")) for k in range(1, count - 1)
    ]
    return [low, *(Fraction(round(value)) if kind.whole else value for value in inner), high]


def _stepped(low: Fraction, high: Fraction, written: str, kind: Kind, text: str) -> list[Fraction]:
    if written.startswith("-"):
        raise UsageError(
            f'found "{text}", whose step does not lead from the first value to the last; accepted: a step'
            " above zero"
        )
    try:
        step = kind.read(written)
    except UnitError:
        raise UsageError(f'found "{text}", whose step has another unit than its limits') from None
    if step <= 0:
        raise UsageError(f'found "{text}", whose step is zero')
    count = (high - low) // step + 1
    if count > MOST_VALUES:
        raise UsageError(f'found "{text}", which has {count} values; accepted: at most {MOST_VALUES}')
    return [low + step * k for k in range(count)]


def _kind_of(ends: Sequence[str], text: str) -> Kind:
    for kind in (_NUMBER, *_QUANTITIES):
        try:
            for end in ends:
                kind.read(end)
        except UnitError:
            continue
        return kind
    raise UsageError(f'found "{text}", whose limits have different units; accepted: {HELP}')


def _number(text: str) -> Fraction:
    # Checked before parsing: a number with a very large exponent would exhaust memory.
    exponent = _EXPONENT.fullmatch(text.strip())
    small = exponent is None or (len(exponent[1]) <= MOST_DIGITS and int(exponent[1]) <= LARGEST_EXPONENT)
    try:
        number = Fraction(text.strip()) if small else None
    except (ValueError, ZeroDivisionError):
        raise UnitError(f'found "{text}", which is not a number') from None
    if number is None or abs(number) > LARGEST:
        raise UsageError(
            f'found the number "{text}"; accepted: -{LARGEST} to {LARGEST}, with exponents of'
            f" -{LARGEST_EXPONENT} to {LARGEST_EXPONENT}"
        )
    return number


def _write_number(value: Fraction) -> int | float:
    return int(value) if value.denominator == 1 else float(value)


def _amount(unit: AmountUnit) -> Callable[[str], Fraction]:
    def read(text: str) -> Fraction:
        amount = parse_buffer(text)
        if amount.unit is not unit:
            raise UnitError(f'found "{text}", which is not in {unit.value}')
        return Fraction(amount.value)

    return read


def _write_packets(value: Fraction) -> str:
    if value.denominator != 1:
        raise UnitError("packets must be a whole number")
    return f"{int(value)} packets"


def _write_bdp(value: Fraction) -> str:
    number = Decimal(value.numerator) / Decimal(value.denominator)
    return f"{number.quantize(Decimal('0.000001')).normalize():f} bdp"


def _written(write: Callable[[int], str]) -> Callable[[Fraction], str]:
    return lambda value: write(round(value))


_NUMBER: Final = Kind("", "", _number, _write_number)
_QUANTITIES: Final = (
    Kind("_bps", "bit/s", lambda text: Fraction(parse_rate(text)), _written(format_rate)),
    Kind("_s", "s", lambda text: Fraction(parse_duration(text)), _written(format_duration), per_unit=10**9),
    Kind("_bytes", "B", lambda text: Fraction(parse_size(text)), _written(format_size)),
    Kind("_packets", "packets", _amount(AmountUnit.PACKETS), _write_packets, whole=True),
    Kind("_bdp", "bdp", _amount(AmountUnit.BANDWIDTH_DELAY_PRODUCTS), _write_bdp),
)
_EXPONENT: Final = re.compile(r"[-+0-9._]+[eE][-+]?0*([0-9]+)")
_RANGE: Final = re.compile(
    r"\s*(?P<low>[^.\s](?:[^.]|\.(?!\.))*?)\s*\.\.\s*(?P<high>(?:[^.]|\.(?!\.))+?)\s*"
    r"(?:(?<!t)/\s*(?P<count>[0-9]{1,9})(?:\s+(?P<log>log))?|\bstep\s+(?P<step>\S.*?))\s*"
)

"""The block of numbers of a page: 16-bit numbers, delta-coded, compressed with gzip, in base64.

A value is ``lo + step · n`` with n from 0 to 65534; 65535 means that there is no value. The numbers n of a
series are stored as differences modulo 2¹⁶ from their predecessors, little-endian; the first one is stored as
it is. The error is at most half a step, which is 1/131 068 of the range of the series.
"""

import base64
import gzip
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from airpath.views.model import Values

NO_VALUE: Final = 65535
"""The number n of a missing value."""
_LEVEL: Final = 9
"""Level of compression: for half a megabyte it takes about 0.1 s more than level 6, and saves 1 %."""


@dataclass(frozen=True)
class Place:
    """The position of a series in the block, and the conversion of its numbers to values."""

    at: int
    count: int
    lo: float
    step: float

    def facts(self) -> list[Any]:
        """Return the place in the form that the page reads."""
        return [self.at, self.count, self.lo, self.step]


class Block:
    """A collection of series that becomes one text."""

    def __init__(self) -> None:
        self._parts: list[np.ndarray] = []
        self._count = 0

    def add(self, values: Values) -> Place:
        """Add a series of finite values and NaN, and return its place."""
        known = np.isfinite(values)
        lo, hi = (float(values[known].min()), float(values[known].max())) if known.any() else (0.0, 0.0)
        # The numbers are rounded first, so that the page computes with the same ones.
        lo = _rounded(lo)
        step = _rounded((hi - lo) / (NO_VALUE - 1)) if hi > lo else 1.0
        numbers = np.full(len(values), NO_VALUE, dtype=np.int64)
        numbers[known] = np.clip(np.rint((values[known] - lo) / step), 0, NO_VALUE - 1)
        self._parts.append(np.diff(numbers, prepend=0).astype("<u2"))
        place = Place(self._count, len(values), lo, step)
        self._count += len(values)
        return place

    def text(self) -> str:
        """Return the block; equal series give the same text."""
        raw = np.concatenate(self._parts).tobytes() if self._parts else b""
        return base64.b64encode(gzip.compress(raw, _LEVEL, mtime=0)).decode("ascii")


def values_of(text: str, place: Place) -> Values:
    """Return a series of a block, as the page reads it."""
    deltas = np.frombuffer(gzip.decompress(base64.b64decode(text)), dtype="<u2")
    numbers = np.cumsum(deltas[place.at : place.at + place.count].astype(np.int64)) % (NO_VALUE + 1)
    return np.where(numbers == NO_VALUE, np.nan, place.lo + numbers * place.step)


def _rounded(value: float) -> float:
    return float(f"{value:.8g}")

"""Pairwise differences between schemes as a matrix: row minus column."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from airpath.metrics import METRICS
from airpath.report.differences import differences
from airpath.results.formatting import mean_and_half_width, number
from airpath.statistics import PairedComparison

MINUS: Final = "\N{MINUS SIGN}"
NOTE: Final = (
    "Row minus column, mean over equal seeds. Green: the row is better; red: it is worse; in both cases the"
    " paired 95 % interval excludes zero. ~: it does not. Hover over a cell for interval, n and p. Not"
    " adjusted for the number of pairs."
)


@dataclass(frozen=True)
class Cell:
    """A cell of the matrix: its text, whether the row is better or worse, and the whole comparison."""

    text: str
    kind: str
    detail: str


@dataclass(frozen=True)
class Matrix:
    """The differences of one metric; the cell of a scheme with itself is ``None``."""

    title: str
    names: Sequence[str]
    rows: Sequence[tuple[str, Sequence[Cell | None]]]


def matrices(summary: pa.Table, name: Callable[[str], str]) -> list[Matrix]:
    """Return a matrix for each compared metric in which at least two schemes share two seeds.

    Parameters
    ----------
    summary
        One row for each run (`airpath.results.Results.summary`).
    name
        Returns the display name of a scheme.
    """
    return [_matrix(metric, pairs, name) for metric, pairs in differences(summary).items()]


def _matrix(metric: str, pairs: Sequence[PairedComparison], name: Callable[[str], str]) -> Matrix:
    schemes = list(dict.fromkeys(scheme for pair in pairs for scheme in (pair.first, pair.second)))
    cells: dict[tuple[str, str], Cell] = {}
    for pair in pairs:
        for first, second, sign in ((pair.first, pair.second, 1), (pair.second, pair.first, -1)):
            cells[first, second] = _cell(metric, pair, sign, f"{name(first)} {MINUS} {name(second)}")
    return Matrix(
        METRICS[metric].heading,
        [name(scheme) for scheme in schemes],
        [(name(row), [cells.get((row, column)) for column in schemes]) for row in schemes],
    )


def _cell(metric: str, pair: PairedComparison, sign: int, label: str) -> Cell:
    difference, low, high = sign * pair.difference, *sorted((sign * pair.low, sign * pair.high))
    if math.isnan(pair.low):
        text = f"{label}: {_signed(difference)} in every seed (n = {pair.n})"
        return Cell(_signed(difference), "", text)
    interval = mean_and_half_width({"mean": difference, "ci95_low": low, "ci95_high": high})
    detail = f"{label}: {interval} (n = {pair.n}, p = {pair.p:.2g})"
    if low <= 0 <= high:
        return Cell("~", "", detail)
    better = (difference > 0) == (METRICS[metric].better == "higher")
    return Cell(_signed(difference), "better" if better else "worse", detail)


def _signed(value: float) -> str:
    """Return a number of three digits with its sign, with a minus sign instead of a hyphen."""
    if value == 0:
        return "0"
    decimals = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:+.{min(decimals, 9)}f}".replace("-", MINUS) if decimals <= 9 else number(value)

"""Pairs of schemes in the report, in a machine-readable file, and at the terminal."""

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from rich.table import Table
from rich.text import Text

from airpath.metrics import mean_interval
from airpath.results.formatting import NO_VALUE, mean_and_half_width
from airpath.rivals.meetings import Rivals, Values
from airpath.views.model import Matrix, Section
from airpath.views.styles import style_for

SHARE: Final = "share of a flow, equal share = 1"
QUEUEING: Final = "mean queueing delay (ms)"
UTILISATION: Final = "utilisation of both together"
NOTE: Final = (
    "Each row is a scheme, each column the scheme that it shares the link with. The throughput of a scheme is"
    " divided by an equal share: 1 is an equal share, 0 is none, 2 is the whole link. Two flows of the same"
    " scheme should have 1; the difference shows the influence of chance. ± is the half-width of the 95 %"
    " confidence interval over repetitions (Student's t); single runs have none. Departed bytes and delays"
    " count from the end of the warm-up."
)


def rivals_section(found: Rivals) -> Section:
    """Return the section of the report."""
    tables = [{"title": title, "head": head, "rows": rows} for title, head, rows in _tables(found)]
    pictures = [
        _matrix(
            found,
            "Throughput of a flow of the row, sharing the link with the column; 1 is an equal share",
            0,
            1.0,
        ),
        _matrix(found, "Mean queueing delay of the row, sharing the link with the column (ms)", 1, None),
    ]
    return Section("rivals", "Fairness between schemes", NOTE, remarks(found), tables, pictures)


def _matrix(found: Rivals, title: str, place: int, middle: float | None) -> Matrix:
    values = [[_of(found, one, other, place) for other in found.schemes] for one in found.schemes]
    means = [[math.nan if cell is None else mean_interval(cell)[0] for cell in row] for row in values]
    style = style_for(found.schemes)
    names = [style[scheme].display_name for scheme in found.schemes]
    texts = [[_cell(cell) for cell in row] for row in values]
    return Matrix(title, names, names, "shared with", np.array(means), texts, middle)


def remarks(found: Rivals) -> list[str]:
    """Return the reasons for missing pairs."""
    return [f"{one} with {other}: {why}" for (one, other), why in found.refused.items()]


def rivals_tables(found: Rivals) -> list[Table]:
    """Return the tables for the terminal."""
    tables = []
    for title, head, rows in _tables(found):
        table = Table(title=title)
        table.title_justify = "left"
        for place, name in enumerate(head):
            table.add_column(name, justify="right" if place else "left")
        for row in rows:
            table.add_row(*(Text(cell) for cell in row))
        tables.append(table)
    return tables


def rivals_json(found: Rivals) -> dict[str, Any]:
    """Return everything for ``json.dumps``; missing values are null."""
    return {
        "schemes": list(found.schemes),
        "meetings": [
            {
                "scheme": scheme,
                "beside": other,
                "n": int(meeting.shares.size),
                "share": _interval(meeting.of(scheme)[0]),
                "queueing_ms": _interval(meeting.of(scheme)[1]),
                "utilisation": _interval(meeting.utilisation),
            }
            for scheme in found.schemes
            for other in found.schemes
            if (meeting := found.meeting(scheme, other)) is not None
        ],
        "refused": [{"schemes": list(pair), "why": why} for pair, why in found.refused.items()],
    }


def _tables(found: Rivals) -> list[tuple[str, tuple[str, ...], list[tuple[str, ...]]]]:
    head = ("shared with", *found.schemes)
    return [
        (SHARE, head, _rows(found, lambda one, other: _of(found, one, other, 0))),
        (QUEUEING, head, _rows(found, lambda one, other: _of(found, one, other, 1))),
        (UTILISATION, head, _rows(found, lambda one, other: _used(found, one, other))),
    ]


def _rows(found: Rivals, values: Callable[[str, str], Values | None]) -> list[tuple[str, ...]]:
    return [(one, *(_cell(values(one, other)) for other in found.schemes)) for one in found.schemes]


def _of(found: Rivals, one: str, other: str, place: int) -> Values | None:
    meeting = found.meeting(one, other)
    return None if meeting is None else meeting.of(one)[place]


def _used(found: Rivals, one: str, other: str) -> Values | None:
    meeting = found.meeting(one, other)
    return None if meeting is None else meeting.utilisation


def _cell(values: Values | None) -> str:
    if values is None:
        return NO_VALUE
    mean, _, _, low, high = mean_interval(values)
    return mean_and_half_width({"mean": mean, "ci95_low": low, "ci95_high": high})


def _interval(values: Values) -> dict[str, float | None]:
    mean, _, n, low, high = mean_interval(values)
    named = {"mean": mean, "ci95_low": low, "ci95_high": high}
    return {name: value if math.isfinite(value) else None for name, value in named.items()} | {"n": n}

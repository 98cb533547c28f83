"""A leaderboard for a terminal, as Markdown, and for machines."""

import math
from collections.abc import Sequence
from typing import Any, Final

from airpath.leaderboard.document import SCORE
from airpath.leaderboard.scores import Scores
from airpath.leaderboard.standings import Interval, Standing, axes_of, of_case
from airpath.metrics import METRICS
from airpath.results.blocks import Blocks
from airpath.results.formatting import NO_VALUE, UNITS, mean_and_half_width

FRONT: Final = "*"
"""Marks entries on the Pareto front."""


def leaderboard_table(scores: Scores, ranks: Sequence[Standing]) -> Blocks:
    """Return the ranks as a table for a terminal."""
    return Blocks(
        {
            "rank": [str(one.rank) if one.rank else NO_VALUE for one in ranks],
            "entry": [f"{one.entry} {FRONT}" if one.on_front else one.entry for one in ranks],
        },
        _columns(scores, ranks),
        _caption(scores),
    )


def leaderboard_markdown(scores: Scores, ranks: Sequence[Standing]) -> str:
    """Return the ranks, and the axes of the figure for each case, as a page of Markdown."""
    columns = _columns(scores, ranks)
    rows = [
        [str(one.rank) if one.rank else NO_VALUE, one.entry, *(cells[place] for cells in columns.values())]
        for place, one in enumerate(ranks)
    ]
    lines = [f"# {scores.document.title or scores.document.name}", ""]
    if scores.document.description:
        lines += [scores.document.description, ""]
    lines += [*_markdown_table(["rank", "entry", *columns], rows), "", f"{_caption(scores)}.", ""]
    for axis in reversed(axes_of(scores)):
        lines += [f"## {_heading(axis)} by case", ""]
        rows = [
            [
                one.entry,
                *(_text(Interval.of(of_case(scores, case, one.entry, axis)), axis) for case in scores.cases),
            ]
            for one in ranks
        ]
        heads = [case if case in scores.ranked else f"{case} (tuning)" for case in scores.cases]
        lines += [*_markdown_table(["entry", *heads], rows), ""]
    return "\n".join(lines)


def leaderboard_json(scores: Scores, ranks: Sequence[Standing]) -> dict[str, Any]:
    """Return the ranks for ``json.dumps``; missing values are null."""
    return {
        "leaderboard": scores.document.name,
        "entries": [
            {
                "rank": one.rank or None,
                "entry": one.entry,
                "pareto_front": one.on_front,
                "missing_cases": list(one.missing),
                "behind_first": _interval_json(one.behind),
                **{column: _interval_json(value) for column, value in one.values.items()},
            }
            for one in ranks
        ],
    }


def _columns(scores: Scores, ranks: Sequence[Standing]) -> dict[str, list[str]]:
    """Return the cells of each column of numbers, by heading."""
    first, *others = scores.document.columns
    columns = {_heading(first): [_text(one.values[first], first) for one in ranks]}
    columns["behind first"] = [_text(one.behind, first) if one.rank > 1 else "" for one in ranks]
    return columns | {
        _heading(column): [_text(one.values[column], column) for one in ranks] for column in others
    }


def _heading(column: str) -> str:
    if column == SCORE:
        return column
    unit, _ = UNITS.get(column, (METRICS[column].unit, 1.0))
    return f"{METRICS[column].title} ({unit})" if unit else METRICS[column].title


def _text(value: Interval, column: str) -> str:
    _, factor = UNITS.get(column, ("", 1.0))
    row = {"mean": value.mean, "ci95_low": value.mean - value.half, "ci95_high": value.mean + value.half}
    return mean_and_half_width(row, factor)


def _caption(scores: Scores) -> str:
    cases = len(scores.ranked)
    text = (
        f"{cases} case{'' if cases == 1 else 's'}, {scores.repetitions} seeds; mean over cases, of"
        " delays and times the median; ± is the half-width of the 95 % confidence interval over seeds;"
        f" {FRONT} Pareto front of {' and '.join(_heading(axis) for axis in reversed(axes_of(scores)))}"
    )
    return f"{text}; utilisation relative to {scores.document.bound}" if scores.document.bound else text


def _markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [head, ["---" if place < 2 else "---:" for place in range(len(head))], *rows]
    return [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines]


def _interval_json(value: Interval) -> dict[str, float | None]:
    return {
        name: None if math.isnan(number) else number
        for name, number in (("mean", value.mean), ("half_width", value.half))
    }

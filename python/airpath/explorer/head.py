"""The head of a page: a view as JSON, with the places of its series in the block."""

import math
from typing import Any, Final

from airpath.explorer.block import Block
from airpath.metrics import METRICS, SCOPE
from airpath.views.model import Column, Intervals, Matrix, Panel, Picture, Section, View
from airpath.views.over_time import MOST_MARKS
from airpath.views.styles import SchemeStyle

FORMAT: Final = 1
"""Version of the head and the block."""
DASHES: Final = ((), (7, 3), (2, 2), (10, 3, 2, 3), (4, 2), (12, 3, 2, 3, 2, 3))
"""Dashes of the lines of schemes, in their order."""


def head_of(view: View) -> tuple[dict[str, Any], str]:
    """Return the head of a view, for ``json.dumps``, and its block."""
    block, over = Block(), view.over_time
    head = {
        "format": FORMAT,
        "title": view.title,
        "compared": view.compared,
        "shown": view.shown,
        "noun": view.noun,
        "panels_first": view.panels_first,
        "table_note": view.table_note,
        "schemes": [
            _look(scheme, view.style[scheme], dash)
            for scheme, dash in zip(view.schemes, view.dashes, strict=True)
        ],
        "looks": {scheme: _look(scheme, view.style[scheme], 0) for scheme in _looks(view)},
        "seeds": list(map(str, view.seeds)),
        "seeds_shown": over.seeds_shown,
        "capacity_mbps": _known(view.capacity_mbps),
        "columns": [_column(column) for column in view.columns],
        "points": [[scheme, seed, _digits(x), _digits(y)] for scheme, seed, x, y in view.points],
        "time": {"ends": block.add(over.time_s).facts(), "step": over.step_s},
        "capacity": [[seed, *block.add(values).facts()] for seed, values in over.capacity],
        "panels": [_panel(panel, block) for panel in over.panels],
        "most_marks": MOST_MARKS,
        "marks": [
            [mark.scheme, mark.seed, mark.event, mark.left_out, *block.add(mark.times_s).facts()]
            for mark in over.marks
        ],
        "distributions": [
            {
                "title": one.title,
                "x": one.x_label,
                "y": one.y_label,
                "x_log": one.x_log,
                "y_log": one.y_log,
                "lines": [
                    [scheme, *block.add(x).facts(), *block.add(y).facts()] for scheme, x, y in one.lines
                ],
            }
            for one in view.distributions
        ],
        "pairs": [
            {
                "metric": one.metric,
                "title": one.title,
                "unit": one.unit,
                "less": one.less_is_better,
                "pairs": [
                    [p.first, p.second, p.n, *map(_digits, (p.difference, p.low, p.high, p.p))]
                    for p in one.pairs
                ],
            }
            for one in view.pairs
        ],
        "pairs_note": view.pairs_note,
        "sections": [_section(one) for one in view.sections],
        "details": [_section(one) for one in view.details],
        "scope": SCOPE,
        "definitions": [[m.title, m.name, m.definition] for m in METRICS.values()],
    }
    return head, block.text()


def _looks(view: View) -> list[str]:
    """Return the schemes, other than those compared, whose styles lines have."""
    panels = view.over_time.panels
    return list(dict.fromkeys(line.look for panel in panels for line in panel.lines if line.look))


def _look(scheme: str, style: SchemeStyle, dash: int) -> dict[str, Any]:
    return {
        "id": scheme,
        "name": style.display_name,
        "colour": style.colour,
        "dark": style.dark_colour,
        "marker": style.marker,
        "dash": list(DASHES[dash % len(DASHES)]),
    }


def _column(column: Column) -> dict[str, Any]:
    return {
        "metric": column.metric,
        "title": column.title,
        "unit": column.unit,
        "definition": column.definition,
        "factor": column.factor,
        "main": column.main,
        "narrow": column.narrow,
        "cells": [
            [_known(cell.mean), _digits(cell.low), _digits(cell.high), cell.text] for cell in column.cells
        ],
    }


def _panel(panel: Panel, block: Block) -> dict[str, Any]:
    return {
        "key": panel.key,
        "title": panel.title,
        "unit": panel.unit,
        "over": panel.over_capacity,
        "marks": panel.marks,
        "levels": [list(level) for level in panel.levels],
        "top": panel.top,
        "stretches": [
            [one.scheme, one.label, *map(_digits, (one.confidence, one.from_s, one.to_s))]
            for one in panel.stretches
        ],
        "colours": dict(panel.colours),
        "certain": panel.certain,
        "second": None if panel.second is None else list(panel.second),
        "lines": [
            [
                line.scheme,
                line.seed,
                line.label,
                line.look,
                line.role,
                line.every,
                *block.add(line.values).facts(),
            ]
            for line in panel.lines
        ],
    }


def _section(section: Section) -> dict[str, Any]:
    return {
        "id": section.id,
        "title": section.title,
        "note": section.note,
        "remarks": list(section.remarks),
        "tables": [
            {
                "title": one["title"],
                "head": list(one["head"]),
                "rows": [list(row) for row in one["rows"]],
            }
            for one in section.tables
        ],
        "pictures": [_picture(picture) for picture in section.pictures],
    }


def _picture(picture: Picture) -> dict[str, Any]:
    if isinstance(picture, Matrix):
        return {
            "kind": "matrix",
            "title": picture.title,
            "corner": picture.corner,
            "rows": list(picture.rows),
            "columns": list(picture.columns),
            "values": [[_digits(value) for value in row] for row in picture.values.tolist()],
            "texts": [list(row) for row in picture.texts],
            "middle": picture.middle,
            "links": [list(row) for row in picture.links],
        }
    assert isinstance(picture, Intervals)
    return {
        "kind": "intervals",
        "title": picture.title,
        "x": picture.x_label,
        "band": picture.band,
        "rows": [
            [one.label, one.group, *map(_digits, (one.value, one.low, one.high)), one.text]
            for one in picture.rows
        ],
    }


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _digits(value: float) -> float | None:
    """Return a number with six digits; null if there is no value."""
    return float(f"{value:.6g}") if math.isfinite(value) else None

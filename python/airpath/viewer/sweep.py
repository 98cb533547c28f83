"""A sweep as a map: two axes, one metric as colour, one scheme."""

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

import numpy as np

from airpath.errors import UsageError
from airpath.metrics import METRICS
from airpath.results import Results
from airpath.results.formatting import mean_and_half_width
from airpath.runner import run_all
from airpath.scenario import Scenario
from airpath.scenario.load import read_file
from airpath.sweeps import SweepPlan, SweepResults
from airpath.viewer.found import Found
from airpath.viewer.shown import empty
from airpath.views.model import Matrix, Section, View

SEEDS: Final = 3
"""Maximum number of seeds of a point that are executed again."""


def sweep_view(found: Found, given: Mapping[str, str]) -> tuple[View, dict[str, Any]]:
    """Return the view of a sweep, and its choices: name, options, and the chosen one.

    Parameters
    ----------
    found
        The sweep.
    given
        The choices: ``metric``, ``scheme``, ``across``, ``down``, and a value for each further axis. An
        absent or unknown choice is the first option.
    """
    sweep = SweepResults(found.directory)
    rows = sweep.statistics.to_pylist()
    values = {axis: list(dict.fromkeys(str(row[axis]) for row in rows)) for axis in sweep.axes}
    metrics = [name for name in METRICS if any(row["metric"] == name and row["n"] for row in rows)]
    schemes = list(dict.fromkeys(str(row["scheme"]) for row in rows))
    axes = sorted(values, key=lambda axis: len(values[axis]) < 2)

    def choice(name: str, options: list[str], default: int = 0) -> str:
        first = options[min(default, len(options) - 1)]
        return given[name] if given.get(name) in options else first

    metric, scheme = choice("metric", metrics), choice("scheme", schemes)
    across = choice("across", axes)
    down = choice("down", [axis for axis in axes if axis != across] or axes)
    fixed = {axis: choice(axis, values[axis]) for axis in axes if axis not in (across, down)}
    cells = {
        (str(row[down]), str(row[across])): row
        for row in rows
        if row["metric"] == metric
        and str(row["scheme"]) == scheme
        and all(str(row[axis]) == value for axis, value in fixed.items())
    }
    downs = values[down] if down != across else [values[down][0]]
    matrix = Matrix(
        f"{METRICS[metric].heading} of {scheme}; a click runs the point again, with all schemes",
        [f"{down} {value}" for value in downs],
        [f"{across} {value}" for value in values[across]],
        "",
        np.array([[_mean(cells.get((row, column))) for column in values[across]] for row in downs]),
        [[_text(cells.get((row, column))) for column in values[across]] for row in downs],
        links=[
            [_link(found, {**fixed, down: row, across: column}) for column in values[across]] for row in downs
        ],
    )
    choices = [
        ("metric", metrics, metric),
        ("scheme", schemes, scheme),
        ("across", axes, across),
        ("down", [axis for axis in axes if axis != across] or axes, down),
        *((axis, values[axis], value) for axis, value in fixed.items()),
    ]
    section = Section("sweep", "Sweep", pictures=[matrix])
    return replace(empty(), title=found.name, sections=[section]), {"choices": choices}


def run_point(found: Found, point: Mapping[str, str]) -> Results:
    """Execute the point of a sweep again, all schemes with up to `SEEDS` seeds.

    Raises
    ------
    airpath.errors.AirpathError
        If the sweep cannot be run here any more.
    """
    tables = {**read_file(found.directory / "sweep.toml"), "scenario": "scenario.toml"}
    plan = SweepPlan(tables, source=found.name, folder=found.directory)
    scenarios: dict[str, Scenario] = {}
    for run in plan.runs():
        cells = {name: str(value) for name, value in plan.axes.cells(run.point).items()}
        if cells == dict(point) and run.scheme not in scenarios:
            tables = json.loads(run.task.scenario)
            scenarios[run.scheme] = Scenario(tables, source=found.name, folder=Path(run.task.folder))
    if not scenarios:
        raise UsageError(f"{found.name}: found no run at {dict(point)}; accepted: a point of the sweep")
    return run_all(scenarios, repetitions=min(SEEDS, len(plan.seeds)), progress=False)


def _mean(row: Mapping[str, Any] | None) -> float:
    return math.nan if row is None else float(row["mean"])


def _text(row: Mapping[str, Any] | None) -> str:
    return "" if row is None else mean_and_half_width(row)


def _link(found: Found, point: Mapping[str, str]) -> str:
    return "?" + urlencode({"show": found.key, "point": "", **point})

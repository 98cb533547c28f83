"""Reading results from a directory."""

import json
import os
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa

from airpath.errors import OutputError, UsageError
from airpath.precision.rule import PrecisionRule
from airpath.results.columns import TABLES
from airpath.results.directory import read_parquet
from airpath.results.provenance import FORMAT
from airpath.results.records import RunRecord, WrittenScenario
from airpath.results.results import Results, RunResult
from airpath.results.values import refuse_impossible_values, refuse_places_beyond

_DAMAGE = (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError)
"""Exceptions that damaged files can cause."""


def read(out_dir: str | os.PathLike[str]) -> Results:
    """Read results that `airpath.results.write` wrote.

    Parameters
    ----------
    out_dir
        The directory.

    Raises
    ------
    airpath.errors.OutputError
        If the directory contains no airpath results, results of another format, damaged ones, or impossible
        numbers.
    """
    directory = Path(out_dir)
    facts, records = read_records(directory)
    until = stopping_rule(facts)
    try:
        keys = [(record.scheme, record.repetition) for record in records]
        exact = _percentiles(directory / "summary.parquet", keys)
        tables: list[dict[str, pa.Table]] = [{} for _ in records]
        for name, description in TABLES.items():
            path = directory / f"{name}.parquet"
            if description.optional and not path.exists():
                continue
            table = read_parquet(path)
            _refuse_other_columns(table, description.schema, path)
            refuse_impossible_values(table, description, path)
            for record, mine, part in zip(records, tables, _split(table, keys), strict=True):
                refuse_places_beyond(part, record, path)
                mine[name] = part
    except (*_DAMAGE, pa.ArrowException) as error:
        raise OutputError(f"cannot read results from {directory}: {error}") from error
    runs = [
        RunResult(record, mine, exact[key]) for record, mine, key in zip(records, tables, keys, strict=True)
    ]
    return Results(runs, until=until)


def stopping_rule(facts: Mapping[str, Any]) -> PrecisionRule | None:
    """Return the rule in ``provenance.json`` by which repetitions were added; `None` if there is none.

    Raises
    ------
    OutputError
        If the rule is invalid.
    """
    if (said := facts.get("stopping")) is None:
        return None
    rule = said.get("rule") if isinstance(said, Mapping) else None
    if not isinstance(rule, Mapping):
        raise OutputError(f"provenance.json: stopping: found {said!r}; accepted: a rule")
    try:
        return PrecisionRule(**rule)
    except (TypeError, UsageError) as error:
        raise OutputError(f"provenance.json: stopping: {error}") from None


def read_records(directory: Path) -> tuple[dict[str, Any], list[RunRecord]]:
    """Read the runs of a directory without tables: ``provenance.json``, and a record of each run.

    Raises
    ------
    airpath.errors.OutputError
        If the directory contains no airpath results, results of another format, or damaged ones.
    """
    facts = read_facts(directory)
    try:
        if not isinstance(facts, dict) or facts.get("format") != FORMAT:
            raise OutputError(f"{directory} contains no results in the format “{FORMAT}”")
        plans = json.loads((directory / "plan.json").read_text(encoding="utf-8"))
        return facts, _records(directory, plans, facts)
    except _DAMAGE as error:
        raise OutputError(f"cannot read results from {directory}: {error}") from error


def read_facts(directory: Path) -> Any:
    """Read the ``provenance.json`` of a directory.

    Raises
    ------
    airpath.errors.OutputError
        If there is no such directory, it contains no airpath results, or the file is damaged.
    """
    if not directory.is_dir():
        raise OutputError(f"{directory}: does not exist; accepted: a results directory")
    try:
        return json.loads((directory / "provenance.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise OutputError(f"{directory} contains no airpath results: provenance.json is missing") from None
    except _DAMAGE as error:
        raise OutputError(f"cannot read results from {directory}: {error}") from error


def _records(directory: Path, plans: Mapping[str, Any], facts: Mapping[str, Any]) -> list[RunRecord]:
    return [
        RunRecord(
            scheme=run["scheme"],
            scenario_name=run["scenario_name"],
            seed=run["seed"],
            repetition=run["repetition"],
            plan=plans["plans"][run["plan"]],
            tables={},
            capture=(directory / run["capture"]).read_bytes() if run["capture"] else None,
            # Absent in results of versions without logs.
            qlogs={int(flow): (directory / file).read_bytes() for flow, file in run.get("qlogs", {}).items()},
            wall_s=float("nan") if fact["wall_s"] is None else fact["wall_s"],
            flow_schemes=run["flow_schemes"],
            flow_groups=run["flow_groups"],
            # Absent in results of versions without routers.
            quantities=tuple(run.get("quantities", ())),
            world=fact.get("world", "sim"),
            validity=fact.get("validity"),
            scenario=_scenario(plans, run),
        )
        for run, fact in zip(plans["runs"], facts["runs"], strict=True)
    ]


def _scenario(plans: Mapping[str, Any], run: Mapping[str, Any]) -> WrittenScenario | None:
    """Return the scenario of a run; `None` in results of versions that did not store it."""
    if (number := run.get("scenario")) is None:
        return None
    kept = plans["scenarios"][number]
    if not isinstance(kept["text"], str) or not isinstance(kept["folder"], str):
        raise TypeError(f"plan.json: scenario {number} is not stored as text")
    return WrittenScenario(kept["text"], kept["folder"])


def _percentiles(path: Path, keys: Sequence[tuple[str, int]]) -> dict[tuple[str, int], dict[str, float]]:
    """Read the delay percentiles of each run: the histogram is only exact to the width of a bin."""
    names = ["scheme", "repetition", *_PERCENTILES]
    rows = read_parquet(path).select(names).to_pylist()
    found = {(row["scheme"], row["repetition"]): {name: row[name] for name in _PERCENTILES} for row in rows}
    return {key: found[key] for key in keys}


_PERCENTILES: Final = ("delay_p95_ms", "queueing_p95_ms")


def _refuse_other_columns(table: pa.Table, schema: pa.Schema, path: Path) -> None:
    """Refuse a table with a missing column or a column of another type."""
    for field in schema:
        if field.name not in table.column_names:
            raise OutputError(f"{path}: the column {field.name} is missing")
        if (kind := table.schema.field(field.name).type) != field.type:
            raise OutputError(f"{path}: the column {field.name} is of {kind}; accepted: {field.type}")


def _split(table: pa.Table, keys: Sequence[tuple[str, int]]) -> list[pa.Table]:
    """Return the rows of each run, without copying: the rows of a run are consecutive."""
    table = table.combine_chunks()
    if table.num_rows == 0:
        return [table for _ in keys]
    scheme = table["scheme"].chunk(0)
    codes, names = scheme.indices.to_numpy(), scheme.dictionary.to_pylist()
    repetition = table["repetition"].to_numpy()
    changes = np.flatnonzero((np.diff(codes) != 0) | (np.diff(repetition) != 0)) + 1
    edges = [0, *changes.tolist(), table.num_rows]
    parts = {
        (names[codes[start]], int(repetition[start])): table.slice(start, end - start)
        for start, end in pairwise(edges)
    }
    return [parts.get(key, table.slice(0, 0)) for key in keys]

"""One side of a comparison: facts and values, of runs or of a sweep."""

import json
import math
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from airpath.errors import OutputError
from airpath.metrics import METRICS
from airpath.results.directory import read_parquet
from airpath.results.provenance import plan_text
from airpath.results.reading import read_facts, read_records
from airpath.sweeps.results import FORMAT as SWEEP_FORMAT
from airpath.sweeps.results import SweepResults

Values = Mapping[int, float]
"""Value of each seed; those without a value are left out."""


@dataclass(frozen=True)
class Variant:
    """A configuration that was run with several seeds: a scheme, in a sweep at one point.

    Attributes
    ----------
    settings
        The keys of its scenario, with dots, and their values as text.
    facts
        Other facts that its results depend on: its backend, its plan.
    seeds
        The seeds, in the order of the repetitions.
    metrics
        The values of each metric that has any.
    """

    settings: Mapping[str, str]
    facts: Mapping[str, str]
    seeds: tuple[int, ...]
    metrics: Mapping[str, Values]


@dataclass(frozen=True)
class Side:
    """One of two results.

    Attributes
    ----------
    directory
        The directory of the results.
    kind
        ``runs`` or ``sweep``.
    provenance
        Contents of ``provenance.json``.
    settings
        Settings common to all variants: the keys of a sweep.
    variants
        The variants by label.
    """

    directory: Path
    kind: str
    provenance: Mapping[str, Any]
    settings: Mapping[str, str]
    variants: Mapping[str, Variant]


def read_side(directory: Path) -> Side:
    """Read results of runs, or of a sweep.

    Raises
    ------
    OutputError
        If the directory contains neither, or the files are damaged.
    """
    facts = read_facts(directory)
    if isinstance(facts, dict) and facts.get("format") == SWEEP_FORMAT:
        return _sweep(directory, facts)
    return _runs(directory)


def _runs(directory: Path) -> Side:
    facts, records = read_records(directory)
    summary = _table(directory / "summary.parquet")
    variants = {}
    for scheme in dict.fromkeys(record.scheme for record in records):
        mine = [record for record in records if record.scheme == scheme]
        written = mine[0].scenario
        # In results older than one scenario per run, all runs share one scenario.
        text = written.text if written else _text(directory / "scenario.toml")
        variants[scheme] = Variant(
            settings=flattened(text, directory),
            facts={"world": mine[0].world, "plan": plan_text(mine[0].plan)},
            seeds=tuple(record.seed for record in mine),
            metrics=_metrics(row for row in summary if row["scheme"] == scheme),
        )
    return Side(directory, "runs", facts, {}, variants)


def _sweep(directory: Path, facts: Mapping[str, Any]) -> Side:
    results = SweepResults(directory)
    variants: dict[str, list[dict[str, Any]]] = {}
    for row in results.runs.to_pylist():
        point = [f"{axis} = {row[axis]}" for axis in results.axes]
        variants.setdefault(", ".join((*point, str(row["scheme"]))), []).append(row)
    settings = {
        **flattened(_text(directory / "scenario.toml"), directory),
        **{
            f"sweep: {key}": text
            for key, text in flattened(_text(directory / "sweep.toml"), directory).items()
        },
    }
    return Side(
        directory,
        "sweep",
        facts,
        settings,
        {
            label: Variant({}, {}, tuple(row["seed"] for row in rows), _metrics(rows))
            for label, rows in variants.items()
        },
    )


def flattened(text: str, source: Path) -> dict[str, str]:
    """Return the keys of a TOML text, with dots and list items by number, and their values as JSON.

    Raises
    ------
    OutputError
        If it is not TOML; `source` is named.
    """
    try:
        return dict(_leaves(tomllib.loads(text), ""))
    except (ValueError, RecursionError) as error:
        raise OutputError(f"{source}: a stored scenario is not valid TOML: {error}") from None


def _leaves(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}.{key}".removeprefix("."))
    elif isinstance(value, list) and any(isinstance(inner, dict) for inner in value):
        for number, inner in enumerate(value):
            yield from _leaves(inner, f"{path}.{number}")
    else:
        yield path, json.dumps(value, ensure_ascii=False, default=str)


def _metrics(rows: Iterable[Mapping[str, Any]]) -> dict[str, Values]:
    rows = list(rows)
    found = {
        metric: {
            row["seed"]: row[metric]
            for row in rows
            if row.get(metric) is not None and not math.isnan(row[metric])
        }
        for metric in METRICS
    }
    return {metric: values for metric, values in found.items() if values}


def _table(file: Path) -> list[dict[str, Any]]:
    try:
        table = read_parquet(file)
        for column in ("scheme", "seed"):
            if column not in table.column_names:
                raise OutputError(f"{file}: the column {column} is missing")
        for metric in set(METRICS) & set(table.column_names):
            if not pa.types.is_floating(kind := table.schema.field(metric).type):
                raise OutputError(f"{file}: the column {metric} is of {kind}; accepted: double")
        return list(table.to_pylist())
    except (OSError, pa.ArrowException) as error:
        raise OutputError(f"{file} cannot be read: {error}") from None


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise OutputError(f"{file} cannot be read: {error}") from None

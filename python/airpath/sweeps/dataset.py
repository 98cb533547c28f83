"""The data set of a sweep: the tables of its successful runs as Parquet, with runs in order."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from airpath.results.columns import NAME_TYPE, TABLES
from airpath.sweeps.axes import Axes
from airpath.sweeps.part import RUNS, PartStore, part_schema
from airpath.sweeps.plan import SweepPlan, SweepRun
from airpath.sweeps.table_files import TableFiles, files_of, remove_table

BYTES_TOGETHER: Final = 1 << 21
"""Approximate smallest size of a row group; memory does not grow with the number of runs."""
TABLES_TOGETHER: Final = 256
"""Largest number of single runs' tables that are collected before they are written."""
METADATA: Final = b"airpath"
"""Key of the provenance in the metadata of each file."""


def write_dataset(
    plan: SweepPlan, store: PartStore, folder: Path, failed: Mapping[int, Any], provenance: Mapping[str, Any]
) -> tuple[list[SweepRun], dict[str, str]]:
    """Write the tables of all runs; equal runs give equal bytes.

    Parameters
    ----------
    plan
        The sweep.
    store
        Its finished runs.
    folder
        The folder of the data set.
    failed
        Numbers of the runs to leave out.
    provenance
        Contents of the metadata of each file.

    Returns
    -------
    list of SweepRun, dict of str to str
        Runs whose parts were damaged (if there are any, nothing was written); SHA-256 of the traces
        and code that the runs read, by path.
    """
    metadata = json.dumps(provenance, sort_keys=True).encode()
    metrics = plan.document.metrics
    writers = {
        name: _TableWriter(
            folder, name, table_schema(name, plan.axes, metrics), part_schema(name, metrics), metadata
        )
        for name in (RUNS, *plan.document.keep)
    }
    damaged: list[SweepRun] = []
    inputs: dict[str, str] = {}
    try:
        for run in plan.runs():
            if run.number in failed:
                continue
            part = store.get(run.task.key)
            if part is None:
                damaged.append(run)
                continue
            inputs |= part.inputs
            cells = {"run": run.number, **plan.axes.cells(run.point)}
            for name, writer in writers.items():
                writer.add(part.tables[name], cells | {"scheme": run.scheme})
        if not damaged:
            for writer in writers.values():
                writer.finish()
    finally:
        for writer in writers.values():
            writer.abandon()
    return damaged, inputs


def remove_tables_of_others(plan: SweepPlan, folder: Path) -> None:
    """Remove tables of an earlier form of the sweep that it no longer keeps."""
    for name in set(TABLES) - set(plan.document.keep):
        table = folder / f"{name}.parquet"
        if is_ours(table):
            remove_table(table)


def table_schema(name: str, axes: Axes, metrics: Sequence[str]) -> pa.Schema:
    """Return the columns of a table of the data set: run, axes, then those of the part."""
    labels = [_field("run", pa.int64(), "number of the run, from 0")]
    labels += [
        _field(
            axis.column,
            NAME_TYPE if axis.type == pa.string() else axis.type,
            f"axis: {', '.join(axis.paths)}",
            axis.kind.unit if axis.kind else "",
        )
        for axis in axes.axes
    ]
    if name == RUNS:
        labels.append(_field("scheme", NAME_TYPE, "scheme under test in the run"))
    return pa.schema([*labels, *part_schema(name, metrics)])


class _TableWriter:
    """A writer of one table; it joins short tables of single runs into row groups."""

    def __init__(
        self, folder: Path, name: str, schema: pa.Schema, part: pa.Schema, provenance: bytes
    ) -> None:
        self._schema = schema.with_metadata({METADATA: provenance})
        self._files = TableFiles(folder / f"{name}.parquet", self._schema)
        self._labels = schema.names[: len(schema) - len(part)]
        self._short: list[tuple[pa.Table, Mapping[str, Any]]] = []
        self._waiting: list[pa.Table] = []
        self._rows = 0
        self._rows_together = BYTES_TOGETHER // sum(_bytes_of(field.type) for field in schema)

    def add(self, table: pa.Table, cells: Mapping[str, Any]) -> None:
        if not table.num_rows:
            return
        self._short.append((table, cells))
        self._rows += table.num_rows
        if len(self._short) >= TABLES_TOGETHER or self._rows >= self._rows_together:
            self._join()
        if self._rows >= self._rows_together:
            self._write()

    def finish(self) -> None:
        self._write()
        self._files.finish()

    def abandon(self) -> None:
        self._files.abandon()

    def _join(self) -> None:
        """Join many short tables into one, which takes much less memory."""
        if not self._short:
            return
        joined = pa.concat_tables([table for table, _ in self._short]).unify_dictionaries().combine_chunks()
        counts = [table.num_rows for table, _ in self._short]
        rows = np.repeat(np.arange(len(counts)), counts)
        columns = [
            _labels([cells[field.name] for _, cells in self._short], rows, field.type)
            if field.name in self._labels
            else joined[field.name].cast(field.type)
            for field in self._schema
        ]
        self._waiting.append(pa.Table.from_arrays(columns, schema=self._schema))
        self._short = []

    def _write(self) -> None:
        self._join()
        if self._waiting:
            table = pa.concat_tables(self._waiting).unify_dictionaries().combine_chunks()
            self._files.write(table)
            self._waiting, self._rows = [], 0


def _bytes_of(kind: pa.DataType) -> int:
    """Return the approximate size of a value, from its type alone, so that row groups are reproducible."""
    return 64 if pa.types.is_string(kind) else max(1, kind.bit_width // 8)


def _labels(values: Sequence[Any], rows: np.ndarray, kind: pa.DataType) -> pa.Array:
    """Return the value for each row, which is that of its run."""
    if pa.types.is_dictionary(kind):
        encoded = pa.array(values, type=kind.value_type).dictionary_encode()
        return pa.DictionaryArray.from_arrays(encoded.indices.take(pa.array(rows)), encoded.dictionary)
    return pa.array(values, type=kind).take(pa.array(rows))


def is_ours(table: Path) -> bool:
    """Return whether a table was written by a sweep, and does not merely have such a name."""
    try:
        return any(METADATA in (pq.read_schema(file).metadata or {}) for file in files_of(table)[:1])
    except (OSError, pa.ArrowException):
        return False


def _field(name: str, kind: pa.DataType, description: str, unit: str = "") -> pa.Field:
    return pa.field(name, kind, metadata={"unit": unit, "description": description})

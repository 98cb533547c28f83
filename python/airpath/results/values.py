"""The range of numbers accepted in result tables that are read."""

from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from airpath.errors import OutputError
from airpath.results.columns import Column, TableDescription
from airpath.results.records import RunRecord
from airpath.results.tables import UNKNOWN_SOMEWHERE

LARGEST_WHOLE: Final = 2**53
"""Largest integer up to which all integers are exact as floating-point numbers, which metrics use."""
LATEST_S: Final = 9e9
"""In nanoseconds, this fits a 64-bit integer."""
LARGEST_REAL: Final = 1e30
"""Above all rates and sizes; sums and squares of such numbers are still finite."""
NOWHERE: Final = -1
"""The `sequence` of a packet whose position is unknown."""
ALWAYS_KNOWN: Final = frozenset({"time_s", "end_s", "sent_s", "received_s"})
"""Real numbers that are present in every row."""
OF_COMPONENTS: Final = frozenset({"value"})
"""Values reported by components may be any number."""


def refuse_impossible_values(table: pa.Table, description: TableDescription, path: Path) -> None:
    """Refuse a table from a file with a number that no run produces.

    Raises
    ------
    airpath.errors.OutputError
        At the first such number: its value, its position, and the accepted range.
    """
    for column in description.columns:
        if column.names or column.names_of_run or column.name in OF_COMPONENTS:
            continue
        values = table[column.name]
        least, most = _bounds(column)
        found = pc.min_max(values).as_py()  # only for number columns
        may_be_nan = column.engine_type == "f64" and column.name not in ALWAYS_KNOWN
        may_be_null = column.name in UNKNOWN_SOMEWHERE
        if (
            (found["min"] is None or not (found["min"] < least or found["max"] > most))
            and (may_be_null or values.null_count == 0)
            and (column.name not in ALWAYS_KNOWN or not pc.any(pc.is_nan(values)).as_py())
        ):
            continue
        numbers = values.to_numpy()
        null = values.is_null().to_numpy()
        unknown = null & may_be_null | np.isnan(numbers) & ~null & may_be_nan
        row = int(np.flatnonzero(~((numbers >= least) & (numbers <= most) | unknown))[0])
        none = ", or NaN where there is none" * may_be_nan + ", or null where nobody knows" * may_be_null
        raise OutputError(
            f"{path}: the column {column.name}, row {row} (from 0): found {_said(values[row])}; accepted:"
            f" {least} to {most:g}{none}"
        )


def refuse_places_beyond(part: pa.Table, record: RunRecord, path: Path) -> None:
    """Refuse a run's rows in a table that refer to a source or link that its plan does not have.

    Raises
    ------
    airpath.errors.OutputError
        If there is such a row: names the index, the run, and the accepted range.
    """
    for column, of_plan in (("source", "flows"), ("link", "links")):
        if column not in part.column_names or part.num_rows == 0:
            continue
        found, last = pc.max(part[column]).as_py(), len(record.plan[of_plan]) - 1
        if found > last:
            raise OutputError(
                f"{path}: the column {column}, run {record.scheme}/{record.repetition}: found {found};"
                f" accepted: 0 to {last}, because the plan has {of_plan}"
            )


def _bounds(column: Column) -> tuple[int, float]:
    if column.engine_type == "i64":
        return NOWHERE if column.name == "sequence" else 0, LARGEST_WHOLE
    return 0, LATEST_S if column.unit == "s" else LARGEST_REAL


def _said(value: pa.Scalar) -> str:
    return "null" if not value.is_valid else f"{value.as_py()}"

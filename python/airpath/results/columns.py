"""The tables of results: names, types, units and descriptions of their columns.

The engine declares its tables (``crates/network/src/record/rows.rs``). It returns numbers only; the front end
replaces codes by names and adds the labels of the run. The Arrow schemas, the written Parquet files and
``docs/reference/results.md`` are derived from this module.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal

import pyarrow as pa

from airpath import _core

EngineType = Literal["i64", "f64"]


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a result table.

    Attributes
    ----------
    name
        Its name, ending in the unit if it has one.
    engine_type
        The type of the engine's values: ``i64`` or ``f64`` (NaN for a missing value).
    description
        Description of its meaning.
    unit
        The unit: ``s``, ``B`` (bytes), ``bit/s``, ``packets``, or empty for a plain number or a name.
    names
        For a code: the name of each value 0, 1, …; written results contain the name instead of the code.
    names_of_run
        For a code whose names differ between runs: the attribute of `RunRecord` that contains them.
    """

    name: str
    engine_type: EngineType
    description: str
    unit: str = ""
    names: tuple[str, ...] = ()
    names_of_run: Literal["", "quantities", "estimators"] = ""

    @property
    def type(self) -> pa.DataType:
        """The Arrow type in written results."""
        if self.names or self.names_of_run:
            return NAME_TYPE
        return pa.int64() if self.engine_type == "i64" else pa.float64()


@dataclass(frozen=True)
class TableDescription:
    """One result table.

    Attributes
    ----------
    name
        Its name, also that of its file.
    rows
        The meaning of one row.
    columns
        The engine's columns, in order.
    optional
        Whether the table is written only if it has rows.
    """

    name: str
    rows: str
    columns: tuple[Column, ...]
    optional: bool = False

    @property
    def labels(self) -> tuple[tuple[str, pa.DataType, str], ...]:
        """The columns that the front end adds: name, Arrow type, description."""
        names = {column.name for column in self.columns}
        links = LINK_LABELS if "link" in names else ()
        return RUN_LABELS + links + (FLOW_LABELS if names & {"flow", "source"} else ())

    @cached_property
    def schema(self) -> pa.Schema:
        """The Arrow schema: labels first, then the engine's columns; unit and description are metadata."""
        labels = [_field(name, kind, "", text) for name, kind, text in self.labels]
        return pa.schema(labels + [_field(c.name, c.type, c.unit, c.description) for c in self.columns])


NAME_TYPE = pa.dictionary(pa.int32(), pa.string())
"""Names are dictionary-encoded, because they repeat in every row."""

RUN_LABELS: tuple[tuple[str, pa.DataType, str], ...] = (
    ("scheme", NAME_TYPE, "scheme under test in the run"),
    ("repetition", pa.int64(), "0, 1, … within the scheme"),
    ("seed", pa.uint64(), "seed of the run; repetitions with the same seed are paired between schemes"),
)
FLOW_LABELS: tuple[tuple[str, pa.DataType, str], ...] = (
    ("source_name", NAME_TYPE, "name of the plan's source that the flow belongs to"),
    (
        "group",
        NAME_TYPE,
        "flows shown together: the group of the scenario, otherwise the flows of one scheme",
    ),
    ("flow_scheme", NAME_TYPE, "scheme of this flow; null for datagrams without a controller"),
)
LINK_LABELS: tuple[tuple[str, pa.DataType, str], ...] = (("link_name", NAME_TYPE, "name of the plan's link"),)


def _table(columns: list[dict[str, Any]], **rest: Any) -> TableDescription:
    of_codes = ({**column, "names": tuple(column.get("names", ()))} for column in columns)
    return TableDescription(**rest, columns=tuple(Column(**column) for column in of_codes))


TABLES: Mapping[str, TableDescription] = MappingProxyType(
    {table["name"]: _table(**table) for table in json.loads(_core.table_descriptions())}
)
"""Every table, by name, in the order of the documentation."""


def _field(name: str, kind: pa.DataType, unit: str, description: str) -> pa.Field:
    return pa.field(name, kind, metadata={"unit": unit, "description": description})

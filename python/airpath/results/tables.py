"""Conversion of engine columns to Arrow tables with names in place of indices."""

from collections import ChainMap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import pyarrow as pa

from airpath._backends import BACKENDS
from airpath.results.columns import TABLES, Column, TableDescription
from airpath.results.records import RawTables, RunRecord


def from_engine(record: RunRecord) -> Mapping[str, pa.Table]:
    """Join the engine's tables of one run with names from its plan.

    A table is joined when it is first accessed. Numeric columns are views of the engine's arrays; nothing is
    copied, except delays in ``flow_series``, which are rounded (`ROUNDED`). Tables that the engine did not
    return are empty, except optional ones, which are absent. Delay histograms of sources that are shown
    together are merged, in wider bins (`merged_histograms`).

    Parameters
    ----------
    record
        The run.

    Returns
    -------
    mapping of str to pyarrow.Table
        Every table of `airpath.results.columns.TABLES`, each with its schema. Accessing one raises
        `ValueError` if it contains an index or code without a meaning.

    Raises
    ------
    ValueError
        If a table or column is unknown, missing, or of the wrong type or length.
    """
    return JoinedTables(record)


class JoinedTables(Mapping[str, pa.Table]):
    """The tables of one run, joined when first accessed, because most metrics need few tables."""

    def __init__(self, record: RunRecord) -> None:
        if unknown := sorted(set(record.tables) - set(TABLES)):
            raise ValueError(f"the engine returned unknown tables: {', '.join(unknown)}")
        self._numbers = {
            name: _numbers(TABLES[name], record.tables) for name in TABLES if name in record.tables
        }
        self._sources = _Sources.of(record, self._numbers.get("flows"))
        self._record = replace(record, tables={})
        self._names = [name for name in TABLES if name in self._numbers or not TABLES[name].optional]
        self._tables: dict[str, pa.Table] = {}

    def __getitem__(self, name: str) -> pa.Table:
        if name not in self._tables:
            self._tables[name] = self._join(name)
        return self._tables[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def _join(self, name: str) -> pa.Table:
        if name not in self._names:
            raise KeyError(name)
        if name not in self._numbers:
            return TABLES[name].schema.empty_table()
        numbers = self._numbers[name]
        if name == "delay_histogram":
            numbers = merged_histograms(numbers, self._record)
        if name == "flow_series":
            numbers = numbers | {column: _rounded(numbers[column]) for column in ROUNDED}
        joined = _join(TABLES[name], numbers, self._record, self._sources)
        if name == "flows":
            return _without(joined, BACKENDS[self._record.world].unknown_columns)
        return joined

    @property
    def exact(self) -> Mapping[str, pa.Table]:
        """The same tables, but with the delay histogram of each source as counted by the engine."""
        if "delay_histogram" not in self._numbers:
            return self
        numbers, description = self._numbers["delay_histogram"], TABLES["delay_histogram"]
        return ChainMap(
            {"delay_histogram": _join(description, numbers, self._record, self._sources)},
            self,  # type: ignore[arg-type]  # it is only read
        )


UNKNOWN_SOMEWHERE: Final = frozenset(name for one in BACKENDS.values() for name in one.unknown_columns)
"""Columns of the table `flows` that at least one backend does not report."""


def concatenate(name: str, tables: Sequence[pa.Table]) -> pa.Table:
    """Concatenate the same table of many runs; without any, return an empty table with its schema."""
    if not tables:
        return TABLES[name].schema.empty_table()
    return pa.concat_tables(tables).unify_dictionaries()


def _without(table: pa.Table, names: Sequence[str]) -> pa.Table:
    """Return the table with nulls in these columns."""
    for name in names:
        place = table.schema.get_field_index(name)
        table = table.set_column(place, table.schema.field(place), pa.nulls(len(table), pa.int64()))
    return table


Numbers = dict[str, pa.Array]


def _numbers(description: TableDescription, raw: RawTables) -> Numbers:
    columns = raw[description.name]
    expected = {column.name for column in description.columns}
    if different := sorted(expected ^ set(columns)):
        raise ValueError(f"table {description.name}: missing or unknown columns {', '.join(different)}")
    arrays = {
        column.name: _view(description.name, column, columns[column.name]) for column in description.columns
    }
    if len({len(array) for array in arrays.values()}) > 1:
        raise ValueError(f"table {description.name}: columns differ in length")
    return arrays


ROUNDED: Final = ("delay_mean_s", "delay_max_s", "queueing_mean_s", "srtt_s")
"""Columns of ``flow_series`` with seven digits: the other nine would be most of the written data."""


def _rounded(values: pa.Array) -> pa.Array:
    """Round to single precision, keeping the type."""
    return pa.array(values.to_numpy().astype(np.float32).astype(np.float64))


HISTOGRAM_BITS: Final = 8
"""Significant bits of the bounds of a bin: with 8, bins are at most 1/128 (0.8 %) wide."""


def merged_histograms(numbers: Numbers, record: RunRecord) -> Numbers:
    """Merge the engine's delay histograms: one for all sources that are shown together, in wider bins.

    Sources are merged into the first one with the same group, scheme and measuring link.
    """
    flows = record.plan["flows"]
    keys = list(
        zip(
            record.source_groups,
            record.source_schemes,
            (flow["measured_at"] for flow in flows),
            (flow.get("controller") is None for flow in flows),
            strict=True,
        )
    )
    firsts: dict[object, int] = {}
    first = np.array([firsts.setdefault(key, index) for index, key in enumerate(keys)], dtype=np.int64)
    source = first[_codes("delay_histogram", numbers["source"], len(keys))]
    kind = numbers["kind"].to_numpy()
    nanos = np.rint(numbers["delay_s"].to_numpy() * 1e9).astype(np.int64)
    # The largest whole number of nanoseconds with the same leading bits is the upper end of the wider bin.
    _, bits = np.frexp(nanos.astype(np.float64))
    nanos |= (np.int64(1) << np.maximum(bits - HISTOGRAM_BITS, 0).astype(np.int64)) - 1
    order = np.lexsort((nanos, kind, source))
    source, kind, nanos = source[order], kind[order], nanos[order]
    changes = (np.diff(source) != 0) | (np.diff(kind) != 0) | (np.diff(nanos) != 0)
    begins = np.flatnonzero(np.concatenate((np.ones(min(len(order), 1), dtype=bool), changes)))
    packets = np.add.reduceat(numbers["packets"].to_numpy()[order], begins) if len(begins) else order
    return {
        "source": pa.array(source[begins]),
        "kind": pa.array(kind[begins]),
        "delay_s": pa.array(nanos[begins] / 1e9),
        "packets": pa.array(packets),
    }


def _view(table: str, column: Column, values: np.ndarray) -> pa.Array:
    wanted = np.dtype(np.int64 if column.engine_type == "i64" else np.float64)
    if values.dtype != wanted:
        raise ValueError(f"table {table}: column {column.name} is {values.dtype}, not {wanted}")
    # Not `pa.array()`, which would check every value for nulls.
    arrow_type = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(arrow_type, len(values), [None, pa.py_buffer(values)])


@dataclass(frozen=True)
class _Sources:
    """The sources of a plan, and the source of each flow."""

    of_flows: np.ndarray
    names: "_Names"
    groups: "_Names"
    schemes: "_Names"

    @classmethod
    def of(cls, record: RunRecord, flows: Numbers | None) -> "_Sources":
        names = record.source_names
        of_flows = np.empty(0, dtype=np.int32)
        if flows is not None:
            numbers = flows["flow"].to_numpy()
            if not np.array_equal(numbers, np.arange(len(numbers))):
                raise ValueError("table flows: column flow is not the row number")
            of_flows = _codes("flows", flows["source"], len(names))
        return cls(of_flows, _Names(names), _Names(record.source_groups), _Names(record.source_schemes))


def _join(description: TableDescription, numbers: Numbers, record: RunRecord, sources: _Sources) -> pa.Table:
    rows = len(next(iter(numbers.values())))
    labels: dict[str, pa.Array] = {
        "scheme": _Names([record.scheme]).of(np.zeros(rows, dtype=np.int32)),
        "repetition": pa.array(np.full(rows, record.repetition, dtype=np.int64)),
        "seed": pa.array(np.full(rows, record.seed, dtype=np.uint64)),
    }
    if "link" in numbers:
        names = [str(link["name"]) for link in record.plan["links"]]
        labels["link_name"] = _Names(names).of(_codes(description.name, numbers["link"], len(names)))
    if "flow" in numbers or "source" in numbers:
        if "source" in numbers:
            of_row = _codes(description.name, numbers["source"], sources.names.count)
        else:
            flows = _codes(description.name, numbers["flow"], len(sources.of_flows))
            of_row = sources.of_flows[flows]
        labels["source_name"] = sources.names.of(of_row)
        labels["group"] = sources.groups.of(of_row)
        labels["flow_scheme"] = sources.schemes.of(of_row)
    columns = {}
    for column in description.columns:
        columns[column.name] = numbers[column.name]
        if column.names or column.names_of_run:
            of_codes = list(getattr(record, column.names_of_run) if column.names_of_run else column.names)
            codes = _codes(description.name, numbers[column.name], len(of_codes))
            columns[column.name] = _Names(of_codes).of(codes)
    return pa.Table.from_pydict({**labels, **columns}, schema=description.schema)


def _codes(table: str, indices: pa.Array, count: int) -> np.ndarray:
    values = indices.to_numpy()
    if len(values) and (values.min() < 0 or values.max() >= count):
        raise ValueError(f"table {table}: an index or code is outside 0 to {count - 1}")
    codes: np.ndarray = values.astype(np.int32)
    return codes


class _Names:
    """Names by code; equal ones share one entry and ``None`` is null, as Parquet reads them back."""

    def __init__(self, given: Sequence[str | None]) -> None:
        self.count = len(given)
        distinct = list(dict.fromkeys(name for name in given if name is not None))
        position = {name: index for index, name in enumerate(distinct)}
        place = [-1 if name is None else position[name] for name in given]
        self._entries = pa.array(distinct, type=pa.string())
        # No lookup is needed if the codes are the indices.
        self._place = None if len(distinct) == self.count else np.array(place, dtype=np.int32)
        self._some_missing = -1 in place

    def of(self, codes: np.ndarray) -> pa.DictionaryArray:
        places = codes if self._place is None else self._place[codes]
        indices = pa.array(places, mask=places < 0) if self._some_missing else pa.array(places)
        # The codes have already been checked.
        return pa.DictionaryArray.from_arrays(indices, self._entries, safe=False)

"""Targets of `tools/fuzz_readers.py` whose files have checksums: kept runs, and tables of results."""

import hashlib
import shutil
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import pyarrow as pa

from airpath.results.columns import TABLES
from airpath.results.directory import read_parquet, write_parquet
from airpath.results.reading import read
from airpath.sweeps.part import Part, PartStore
from airpath_papers.run_data import extract, to_bytes
from airpath_papers.store import RunStore

_KEY: Final = "00ab"
_CRC_BYTES: Final = 4
_SHA_BYTES: Final = 32

CHANGES: Final = tuple(
    f"{change} {table} {column}\n"
    for change in (
        *("drop", "null", "text", "real", "rows 1 of", "twice"),
        *(f"set {value} in" for value in ("3", "-1", "9e15", "1e300", "nan", "inf")),
    )
    for table, column in [
        ("flows", "goodput_bytes"),
        ("flow_series", "time_s"),
        ("flow_series", "flow"),
        ("links", "link"),
        ("links", "repetition"),
        ("link_series", "queue_bytes"),
        ("completions", "seed"),
        ("delay_histogram", "packets"),
    ]
)
"""The seeds of tables, each a change to a column of a table."""


def kept_run_without_checksum(results: Path) -> bytes:
    """Return the stored file of a run of `airpath reproduce`, without its checksum."""
    return to_bytes(extract(read(results).runs[0]))[_CRC_BYTES:]


def kept_run(content: bytes, folder: Path) -> bool:
    """Read a stored run whose checksum is right."""
    (folder / "key").mkdir(exist_ok=True)
    (folder / "key" / "1.arrow").write_bytes(zlib.crc32(content).to_bytes(_CRC_BYTES, "little") + content)
    return RunStore(folder).get("key", 1) is not None


def part_without_checksum(results: Path) -> bytes:
    """Return the stored file of a run of a sweep, without its checksum."""
    run = read(results).runs[0]
    metrics = ["throughput_mbps"]
    part = Part.of(run, key=_KEY, keep=["flows", "links"], metrics=metrics, plan_sha256="0", inputs={})
    return part.to_bytes()[_SHA_BYTES:]


def part_of_a_sweep(content: bytes, folder: Path) -> bool:
    """Read a part whose checksum is right."""
    (folder / _KEY[:2]).mkdir(exist_ok=True)
    (folder / _KEY[:2] / f"{_KEY}.arrow").write_bytes(hashlib.sha256(content).digest() + content)
    return PartStore(folder).get(_KEY) is not None


def changed_tables(results: Path, content: bytes, folder: Path) -> bool:
    """Read results with changed tables that were written as usual.

    Raises
    ------
    AirpathError
        If they are refused.
    """
    there = folder / "results"
    if not there.is_dir():
        shutil.copytree(results, there)
    tables = {name: read_parquet(file) for name in TABLES if (file := results / f"{name}.parquet").exists()}
    for line in content.decode(errors="replace").splitlines()[:20]:
        change, *words = line.split()[:6] or [""]
        if change in _CHANGES and len(words) >= 2 and words[-2] in tables:
            try:
                tables[words[-2]] = _CHANGES[change](tables[words[-2]], words[-1], words[0])
            except (KeyError, ValueError, pa.ArrowException):
                continue
    for name, table in tables.items():
        write_parquet(table, there / f"{name}.parquet")
    found = read(there)
    assert found.summary.num_rows == len(found.runs) > 0
    return True


def _cast(kind: pa.DataType) -> Callable[[pa.Table, str, str], pa.Table]:
    def change(table: pa.Table, column: str, _word: str) -> pa.Table:
        return _replaced(table, column, table[column].cast(kind))

    return change


def _replaced(table: pa.Table, column: str, values: Any) -> pa.Table:
    return table.set_column(table.schema.get_field_index(column), column, values)


def _null(table: pa.Table, column: str, _word: str) -> pa.Table:
    return _replaced(table, column, pa.nulls(table.num_rows, table[column].type))


def _set(table: pa.Table, column: str, word: str) -> pa.Table:
    values = pa.array([float(word)] * table.num_rows).cast(table[column].type, safe=False)
    return _replaced(table, column, values)


_CHANGES: Final[Mapping[str, Callable[[pa.Table, str, str], pa.Table]]] = MappingProxyType(
    {
        "drop": lambda table, column, _word: table.drop_columns(column),
        "null": _null,
        "text": _cast(pa.string()),
        "real": _cast(pa.float32()),
        "set": _set,
        "rows": lambda table, _column, word: table.slice(0, max(0, int(word))),
        "twice": lambda table, column, _word: table.append_column(column, table[column]),
    }
)

"""Results: typed tables of runs, their summary, and how they are written and read."""

from typing import TYPE_CHECKING, Any

from airpath.results.columns import TABLES, Column, TableDescription
from airpath.results.observations import OBSERVATIONS, Observation
from airpath.results.provenance import Origin
from airpath.results.records import RunRecord
from airpath.results.results import Results, RunResult
from airpath.results.terminal import summary_json, summary_table
from airpath.results.validity import validity_json
from airpath.results.writing import write

if TYPE_CHECKING:
    from airpath.results.reading import read

__all__ = [
    "OBSERVATIONS",
    "TABLES",
    "Column",
    "Observation",
    "Origin",
    "Results",
    "RunRecord",
    "RunResult",
    "TableDescription",
    "read",
    "summary_json",
    "summary_table",
    "validity_json",
    "write",
]


def __getattr__(name: str) -> Any:
    if name == "read":  # imported here because table validation is slow to import
        from airpath.results.reading import read

        return read
    raise AttributeError(f"module 'airpath.results' has no attribute {name!r}")

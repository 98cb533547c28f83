"""The results of a sweep: a handle on the data set, which stays on disk."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from numbers import Real
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq

from airpath._nearest import suggestion
from airpath.errors import OutputError, UsageError
from airpath.metrics import METRICS
from airpath.results.directory import read_parquet
from airpath.statistics import PairedComparison
from airpath.sweeps.part import RUNS
from airpath.sweeps.statistics import comparisons
from airpath.sweeps.table_files import fault_of_table, files_of

FORMAT: Final = "airpath sweep 1"
"""Identifies the layout of a sweep's directory."""
STATE: Final = "sweep.json"
"""Name of the file with the identity of a sweep, and whether it is complete."""

STATISTICS: Final = "statistics"
"""Name of the table of means and intervals."""
FAILURES: Final = "failures.json"
"""Name of the file with the failed runs."""


class SweepResults:
    """The data set of a sweep.

    Parameters
    ----------
    directory
        Its directory.

    Attributes
    ----------
    directory
        The same.

    Raises
    ------
    OutputError
        If there is no data set.
    """

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self.directory = Path(directory)
        self._state = read_state(self.directory)
        if not self._state or not (self.directory / f"{RUNS}.parquet").exists():
            raise OutputError(f"{self.directory} contains no results of a sweep")

    @property
    def complete(self) -> bool:
        """Whether every run was done."""
        return bool(self._state["complete"])

    @property
    def axes(self) -> list[str]:
        """The columns of the axes."""
        return list(self._state["axes"])

    @property
    def tables(self) -> list[str]:
        """Names of the tables: `runs`, `statistics`, and the kept ones."""
        return sorted(file.stem for file in self.directory.glob("*.parquet"))

    @cached_property
    def failures(self) -> list[dict[str, Any]]:
        """The runs that failed: `run`, `scheme`, `axes`, `seed`, `message`."""
        return read_failures(self.directory)

    @property
    def runs(self) -> pa.Table:
        """One row for each run: axes, scheme, seed, metrics."""
        return self.table(RUNS)

    @property
    def statistics(self) -> pa.Table:
        """Mean, standard deviation, n and 95 % confidence interval for each point, scheme and metric."""
        return self.table(STATISTICS)

    def table(self, name: str) -> pa.Table:
        """Read a whole table; `dataset` reads parts of it.

        Raises
        ------
        KeyError
            If the sweep has no such table.
        OutputError
            If the table is damaged.
        """
        table = self._table(name)
        with _damage_named(table):
            return read_parquet(files_of(table))

    def dataset(self, name: str) -> pyarrow.dataset.Dataset:
        """Return a table as an Arrow data set, from which single columns and rows can be read.

        Raises
        ------
        KeyError
            If the sweep has no such table.
        """
        checked = pyarrow.dataset.ParquetFragmentScanOptions(page_checksum_verification=True)
        tables = pyarrow.dataset.ParquetFileFormat(default_fragment_scan_options=checked)
        return pyarrow.dataset.dataset([str(file) for file in files_of(self._table(name))], format=tables)

    def compare(self, metric: str, alpha: float = 0.01) -> list[tuple[dict[str, Any], PairedComparison]]:
        """Compare every scheme with the first one at each point, seed by seed (paired t test).

        Parameters
        ----------
        metric
            The metric.
        alpha
            1 - the confidence of the intervals, between 0 and 1.

        Returns
        -------
        list of (dict, PairedComparison)
            The point, by column, and the comparison.

        Raises
        ------
        KeyError
            If the sweep has no such metric.
        UsageError
            If `alpha` is not between 0 and 1.
        OutputError
            If the table of runs is damaged.
        """
        if not isinstance(alpha, Real) or not 0 < alpha < 1:
            raise UsageError(f"alpha: found {alpha!r}; accepted: between 0 and 1, such as 0.05")
        runs = self._table(RUNS)
        kept = [name for name in pq.read_schema(files_of(runs)[0]).names if name in METRICS]
        if metric not in kept:
            raise KeyError(f"no metric {metric}; {suggestion(metric, kept)}")
        with _damage_named(runs):
            return comparisons(runs, self.axes, metric, alpha)

    def _table(self, name: str) -> Path:
        if name not in self.tables:
            raise KeyError(f"no table {name}; {suggestion(name, self.tables)}")
        table = self.directory / f"{name}.parquet"
        if fault := fault_of_table(table):
            raise _at_fault(fault)
        return table

    def __repr__(self) -> str:
        failed = f", {len(self.failures)} failed" if self.failures else ""
        return f"SweepResults({str(self.directory)!r}, {self._state['runs']} runs{failed})"


def read_state(directory: Path) -> dict[str, Any]:
    """Return the state of the sweep in a directory; empty if there is none."""
    try:
        state = json.loads((directory / STATE).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return state if isinstance(state, dict) and state.get("format") == FORMAT else {}


def read_failures(directory: Path) -> list[dict[str, Any]]:
    """Return the runs that failed.

    Raises
    ------
    OutputError
        If the file is missing or damaged.
    """
    file = directory / FAILURES
    try:
        return list(json.loads(file.read_text(encoding="utf-8"))["failures"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise OutputError(
            f"{file} is missing or damaged; the same sweep with the same directory writes it again"
        ) from None


@contextmanager
def _damage_named(file: Path) -> Iterator[None]:
    """Report damaged pages as an error that names the file."""
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        raise _at_fault(f"{file} is damaged") from error


def _at_fault(fault: str) -> OutputError:
    return OutputError(f"{fault}; the same sweep with the same directory mends it, or says how")

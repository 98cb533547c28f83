"""The results of runs, as tables."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from html import escape
from importlib.util import find_spec
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from airpath._nearest import suggestion
from airpath.metrics import METRICS, errors_schema, estimator_errors, run_metrics, statistics, summary
from airpath.results.columns import TABLES
from airpath.results.formatting import number
from airpath.results.records import RunRecord
from airpath.results.tables import JoinedTables, concatenate, from_engine

if TYPE_CHECKING:
    import pandas
    import polars

    from airpath.precision.rule import PrecisionRule


ESTIMATOR_ERRORS: Final = "estimator_errors"
"""The table of the errors of ACK-rate estimators."""
_NO_ERRORS: Final = errors_schema(TABLES["flow_estimates"].schema).empty_table()


class TableSet(ABC):
    """Tables by name: the common base of one run and many runs.

    The tables are Arrow tables with the columns of ``docs/reference/results.md``.
    """

    @abstractmethod
    def table(self, name: str) -> pa.Table:
        """Return the table of this name: of `airpath.results.TABLES`, ``summary`` or ``estimator_errors``.

        Raises
        ------
        KeyError
            If there is no such table.
        """

    @property
    def flows(self) -> pa.Table:
        """One row for each flow."""
        return self.table("flows")

    @property
    def flow_series(self) -> pa.Table:
        """One row for each flow and interval."""
        return self.table("flow_series")

    @property
    def flow_events(self) -> pa.Table:
        """One row for each congestion event."""
        return self.table("flow_events")

    @property
    def completions(self) -> pa.Table:
        """One row for each finished transfer."""
        return self.table("completions")

    @property
    def flow_observations(self) -> pa.Table:
        """One row for each quantity that a controller reported, and interval; empty without any."""
        return self.table("flow_observations")

    @property
    def links(self) -> pa.Table:
        """One row for each recorded link."""
        return self.table("links")

    @property
    def link_series(self) -> pa.Table:
        """One row for each recorded link and interval."""
        return self.table("link_series")

    @property
    def link_observations(self) -> pa.Table:
        """One row for each quantity that a router reports, and interval; empty without routers."""
        return self.table("link_observations")

    @property
    def drops(self) -> pa.Table:
        """One row for each lost packet."""
        return self.table("drops")

    @property
    def delay_histogram(self) -> pa.Table:
        """One row for each bin of a flow's delay distribution."""
        return self.table("delay_histogram")

    @property
    def packets(self) -> pa.Table:
        """One row for each data packet received; empty unless the scenario records packets."""
        return self.table("packets")

    @property
    def summary(self) -> pa.Table:
        """One row for each run: the metrics of `airpath.metrics.METRICS`."""
        return self.table("summary")

    def to_pandas(self, name: str) -> "pandas.DataFrame":
        """Return the table of this name as a pandas data frame.

        Raises
        ------
        ModuleNotFoundError
            If pandas is not installed.
        """
        _require("pandas")
        frame: pandas.DataFrame = self.table(name).to_pandas()
        return frame

    def to_polars(self, name: str) -> "polars.DataFrame":
        """Return the table of this name as a Polars data frame.

        Raises
        ------
        ModuleNotFoundError
            If Polars is not installed.
        """
        _require("polars")
        import polars

        frame = polars.from_arrow(self.table(name))
        assert isinstance(frame, polars.DataFrame)
        return frame

    def _repr_html_(self) -> str:
        return _html_table(self.summary)


class RunResult(TableSet):
    """One run.

    Parameters
    ----------
    record
        The record of the run.
    tables
        Its joined tables, if they exist already; otherwise they are made from the record's engine tables.
    exact
        Metrics that cannot be computed exactly from joined tables.

    Attributes
    ----------
    record
        What identifies the run; its engine tables have become `tables`.
    tables
        The joined tables, by name.
    """

    def __init__(
        self,
        record: RunRecord,
        tables: Mapping[str, pa.Table] | None = None,
        exact: Mapping[str, float] = MappingProxyType({}),
    ) -> None:
        self.tables: Mapping[str, pa.Table] = from_engine(record) if tables is None else tables
        self._exact = exact
        self.record = replace(record, tables={})

    def table(self, name: str) -> pa.Table:
        """Return the table of this name (`TableSet.table`)."""
        _refuse_unknown(name)
        if name == "summary":
            return summary([self._summary_row])
        if name == ESTIMATOR_ERRORS:
            found = estimator_errors(self.record.plan, self.tables)
            return _NO_ERRORS if found is None else found
        return self.tables[name] if name in self.tables else TABLES[name].schema.empty_table()

    @cached_property
    def metrics(self) -> dict[str, float]:
        """The run's metrics, by name; NaN for missing values."""
        tables = self.tables.exact if isinstance(self.tables, JoinedTables) else self.tables
        return run_metrics(self.record.plan, tables) | dict(self._exact)

    @property
    def label(self) -> str:
        """Scheme and repetition, for readers."""
        return f"{self.record.scheme}, repetition {self.record.repetition}"

    @property
    def _summary_row(self) -> tuple[str, int, int, dict[str, float]]:
        return self.record.scheme, self.record.repetition, self.record.seed, self.metrics

    def __repr__(self) -> str:
        return f"RunResult({self.label}, seed {self.record.seed})"


class Results(TableSet):
    """Runs of one scenario: schemes times repetitions.

    Parameters
    ----------
    runs
        The runs; a scheme and repetition may occur once.
    until
        The rule that determined the number of repetitions; `None` if the number was given.

    Attributes
    ----------
    runs
        The runs, in the order given.
    until
        As the parameter.

    Raises
    ------
    ValueError
        If two runs have the same scheme and repetition.
    """

    def __init__(self, runs: Sequence[RunResult], *, until: "PrecisionRule | None" = None) -> None:
        self.runs = tuple(runs)
        self.until = until
        keys = [(run.record.scheme, run.record.repetition) for run in self.runs]
        if twice := [key for key in dict.fromkeys(keys) if keys.count(key) > 1]:
            raise ValueError(f"scheme {twice[0][0]} has repetition {twice[0][1]} twice")
        self._tables: dict[str, pa.Table] = {}

    @classmethod
    def from_records(cls, records: Sequence[RunRecord]) -> "Results":
        """Join the engine's tables of many runs."""
        return cls([RunResult(record) for record in records])

    def table(self, name: str) -> pa.Table:
        """Return the table of this name over all runs (`TableSet.table`)."""
        _refuse_unknown(name)
        if name not in self._tables:
            if name == "summary":
                self._tables[name] = summary(run._summary_row for run in self.runs)
            elif self.runs or name != ESTIMATOR_ERRORS:
                self._tables[name] = concatenate(name, [run.table(name) for run in self.runs])
            else:
                self._tables[name] = _NO_ERRORS
        return self._tables[name]

    @property
    def schemes(self) -> tuple[str, ...]:
        """Schemes under test, in the order of the runs."""
        return tuple(dict.fromkeys(run.record.scheme for run in self.runs))

    @property
    def is_repeated(self) -> bool:
        """Whether a scheme was run more than once."""
        return any(run.record.repetition != self.runs[0].record.repetition for run in self.runs)

    @property
    def statistics(self) -> pa.Table:
        """Mean, standard deviation, n and 95 % confidence interval for each scheme and metric."""
        return statistics(self.summary)

    def run(self, scheme: str, repetition: int = 0) -> RunResult:
        """Return the run of this scheme and repetition.

        Raises
        ------
        KeyError
            If there is none.
        """
        for run in self.runs:
            if (run.record.scheme, run.record.repetition) == (scheme, repetition):
                return run
        raise KeyError(f"no run of scheme {scheme} with repetition {repetition}")

    def first_runs(self) -> tuple[RunResult, ...]:
        """Return the first run of each scheme, for a closer look at single runs."""
        first: dict[str, RunResult] = {}
        for run in self.runs:
            first.setdefault(run.record.scheme, run)
        return tuple(first.values())

    def _repr_html_(self) -> str:
        import airpath  # here, because the package is above this one

        return airpath.explore(self)._repr_html_()

    def __repr__(self) -> str:
        return f"Results({len(self.runs)} runs of {', '.join(self.schemes) or 'nothing'})"


def _refuse_unknown(table: str) -> None:
    derived = ("summary", ESTIMATOR_ERRORS)
    if table not in derived and table not in TABLES:
        raise KeyError(f"no table {table}; {suggestion(str(table), [*TABLES, *derived])}")


def _require(library: str) -> None:
    if find_spec(library) is None:
        raise ModuleNotFoundError(
            f"this needs {library}, which is not installed; install it with: pip install {library}",
            name=library,
        )


def _html_table(table: pa.Table) -> str:
    """Render the headline metrics of a summary, for notebooks."""
    shown = ["scheme", "repetition", *(name for name, metric in METRICS.items() if metric.headline)]
    titles = [METRICS[name].heading if name in METRICS else name for name in shown]
    head = "".join(f"<th>{escape(title)}</th>" for title in titles)
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(_cell(row[name]))}</td>" for name in shown) + "</tr>"
        for row in table.select(shown).to_pylist()
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _cell(value: Any) -> str:
    return number(value) if isinstance(value, float) else str(value)

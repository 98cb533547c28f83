"""A suite of checks that is ready to be run."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Self

from pydantic import ValidationError

from airpath._declared.messages import faults, scenario_error
from airpath._nearest import suggestion
from airpath._os.shipped import find_shipped, shipped_names
from airpath.checks.cases import said_of, scenario_of, with_scheme
from airpath.checks.document import CaseTable, ExpectationTable, SuiteTable
from airpath.checks.expectation import Bound, Envelope, Expectation, RelativeBound, in_unit
from airpath.errors import UnitError, UsageError
from airpath.runner import scheme_label
from airpath.scenario import Scenario
from airpath.scenario.load import plain, read_file
from airpath.schemes import label_of, refuse_equal_labels, same_scheme

SHIPPED: Final = Path(__file__).parent / "suites"
"""The folder of the shipped suites."""


@dataclass(frozen=True)
class Case:
    """One case: scenarios to run, and expectations.

    Attributes
    ----------
    name, title
        Short name, and title.
    scheme
        The name of the scheme under test.
    scenarios
        Scenario of each scheme by its name, that under test first, then those that it is compared with.
    expectations
        Expectations of the scheme under test.
    """

    name: str
    title: str
    scheme: str
    scenarios: Mapping[str, Scenario]
    expectations: tuple[Expectation, ...]


@dataclass(frozen=True)
class Suite:
    """A suite. Make one with `load` or `from_dict`.

    Attributes
    ----------
    name, title
        Short name, and title.
    cases
        Its cases, in order.
    is_whole
        Whether these are all cases of the file.
    baseline
        Default file of its baselines.
    needs_baseline
        Whether an expectation without a baseline in that file fails. In shipped suites, which may have no
        baselines yet, it is skipped.
    """

    name: str
    title: str
    cases: tuple[Case, ...]
    is_whole: bool
    baseline: Path
    needs_baseline: bool = True

    @classmethod
    def load(cls, path_or_name: str | Path, *, scheme: str | None = None, only: Sequence[str] = ()) -> Self:
        """Read a suite file, or a suite that is shipped, by name.

        Parameters
        ----------
        path_or_name
            The file, or the name.
        scheme
            The scheme under test of every case, instead of the suite's.
        only
            Names of the wanted cases; all if empty.

        Raises
        ------
        ScenarioError
            If there is no such suite, or something in it is wrong.
        UsageError
            If there is no such case or scheme.
        TraceError
            If a trace file does not exist.
        """
        path = find_suite(path_or_name)
        is_shipped = path.parent == SHIPPED
        beside = Path() if is_shipped else path.parent
        suite = cls.from_dict(
            read_file(path),
            source=str(path_or_name),
            folder=path.parent,
            baseline=beside / f"{path.stem}.baseline.json",
            scheme=scheme,
            only=only,
        )
        return replace(suite, needs_baseline=not is_shipped)

    @classmethod
    def from_dict(
        cls,
        tables: Mapping[str, Any],
        *,
        source: str = "suite",
        folder: Path | None = None,
        baseline: Path | None = None,
        scheme: str | None = None,
        only: Sequence[str] = (),
    ) -> Self:
        """Return a suite from nested dictionaries, as TOML would give them.

        Parameters
        ----------
        tables
            The suite.
        source
            Name of the suite in messages.
        folder
            Base of relative paths; by default the working directory.
        baseline
            File of the baselines; by default `NAME.baseline.json` in that folder.
        scheme, only
            As those of `load`.
        """
        tables = plain(tables)
        try:
            document = SuiteTable.model_validate(tables)
        except ValidationError as error:
            raise scenario_error(source, faults(error, SuiteTable, tables)) from None
        names = [case.name for case in document.cases]
        if unknown := [name for name in only if name not in names]:
            raise UsageError(f'case: found "{unknown[0]}"; {suggestion(unknown[0], names)}')
        folder = folder or Path()
        cases = []
        for number, table in enumerate(document.cases):
            if not only or table.name in only:
                with said_of(f"{source}: cases[{number}] ({table.name})"):
                    cases.append(_case(document, table, folder, scheme))
        return cls(
            document.name,
            document.title,
            tuple(cases),
            len(cases) == len(names),
            baseline or folder / f"{document.name}.baseline.json",
        )


def find_suite(path_or_name: str | Path) -> Path:
    """Return the file of a suite: an existing path, else the shipped suite of this name.

    Raises
    ------
    ScenarioError
        If there is neither.
    """
    return find_shipped(path_or_name, SHIPPED, "suite")


def suite_names() -> list[str]:
    """Return the names of the suites that are shipped, sorted."""
    return shipped_names(SHIPPED)


def _case(suite: SuiteTable, table: CaseTable, folder: Path, chosen: str | None) -> Case:
    scheme = chosen or table.scheme or suite.scheme
    expectations = tuple(
        expectation
        for metric, given in {**suite.expect, **table.expect}.items()
        for one in given
        for expectation in _expectations(metric, one)
    )
    base = scenario_of(
        table,
        folder,
        scheme,
        seed=suite.seed if table.seed is None else table.seed,
        repetitions=table.repetitions or suite.repetitions,
    )
    label = scheme_label(base) if scheme is None else label_of(scheme)
    scenarios = {label: base if scheme is None else with_scheme(base, table.tested, scheme)}
    written = [scheme or label]
    for other in dict.fromkeys(one.of for one in expectations if isinstance(one, RelativeBound)):
        if other not in written:
            if same := same_scheme([*written, other]):
                raise UsageError(
                    f'of: found "{other}", which is the scheme "{same[0]}"; accepted: one name for both'
                )
            written.append(other)
            refuse_equal_labels(written)
            scenarios[label_of(other)] = with_scheme(base, table.tested, other)
    for scenario in scenarios.values():
        scenario.plan()
        scenario.refuse_if_too_large()
    return Case(table.name, table.title, label, scenarios, expectations)


def _expectations(metric: str, table: ExpectationTable) -> Iterator[Expectation]:
    """Yield the expectations of a table for a metric, one at a time."""
    try:
        if table.baseline is not None:
            tolerance = in_unit(metric, table.baseline)
            yield Envelope(metric, tolerance, absolute=isinstance(table.baseline, str))
        for is_lower, limit in ((True, table.at_least), (False, table.at_most)):
            if limit is None:
                continue
            if table.of is not None:
                yield RelativeBound(metric, is_lower, float(limit), table.of)
            else:
                yield Bound(metric, is_lower, in_unit(metric, limit))
    except UnitError as error:
        raise UsageError(f"expect.{metric}: {error}") from None

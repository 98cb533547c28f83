"""A leaderboard that is ready to be scored."""

import hashlib
import json
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from pydantic import ValidationError

from airpath._declared.messages import faults, scenario_error
from airpath._nearest import suggestion
from airpath._os.shipped import find_shipped, shipped_names
from airpath.checks.cases import flows_under_test, said_of, scenario_of, with_scheme
from airpath.errors import UsageError
from airpath.leaderboard.document import OF_SCORE, SCORE, BoardCaseTable, BoardTable, EntryTable
from airpath.scenario import Scenario
from airpath.scenario.bottleneck import queue_of
from airpath.scenario.load import plain, read_file

SHIPPED: Final = Path(__file__).parent / "boards"
"""The folder of the shipped leaderboards."""
_ANY_SCHEME: Final = "cubic"
"""The scheme of flows over a link until an entry replaces it."""


@dataclass(frozen=True)
class Case:
    """One case.

    Attributes
    ----------
    name, title
        Short name, and title.
    tuning
        Whether it is for the choice of parameters, and not ranked.
    scenarios
        Scenario of each entry, by name.
    """

    name: str
    title: str
    tuning: bool
    scenarios: Mapping[str, Scenario]


@dataclass(frozen=True)
class Board:
    """A leaderboard with its entries. Make one with `load`.

    Attributes
    ----------
    tables
        The leaderboard as written.
    document
        The same, checked.
    entries
        Each entry as written, by name: those of the leaderboard, then the others.
    cases
        The cases, in order, except the skipped ones.
    skipped
        The reason for each skipped case, by name.
    """

    tables: Mapping[str, Any]
    document: BoardTable
    entries: Mapping[str, str]
    cases: tuple[Case, ...]
    skipped: Mapping[str, str]

    @classmethod
    def load(
        cls,
        path_or_name: str | Path,
        entries: Sequence[str] = (),
        *,
        traces: Path | None = None,
        seed: int | None = None,
        repetitions: int | None = None,
    ) -> Self:
        """Read the file of a leaderboard, or a shipped one by name.

        Parameters
        ----------
        path_or_name
            The file, or the name.
        entries
            More entries: schemes or estimators, optionally with options.
        traces
            The folder of recorded traces.
        seed, repetitions
            Seed of the first repetition and number of repetitions, instead of those of the leaderboard.

        Raises
        ------
        ScenarioError
            If there is no such leaderboard, or something in it is wrong.
        UsageError
            If there is no such entry, or one is given twice.
        """
        path = find_board(path_or_name)
        changed = {"seed": seed, "repetitions": repetitions}
        tables = {**read_file(path), **{key: value for key, value in changed.items() if value is not None}}
        return cls.from_dict(tables, entries, source=str(path_or_name), folder=path.parent, traces=traces)

    @classmethod
    def from_dict(
        cls,
        tables: Mapping[str, Any],
        entries: Sequence[str] = (),
        *,
        source: str = "leaderboard",
        folder: Path | None = None,
        traces: Path | None = None,
        only: Container[str] | None = None,
    ) -> Self:
        """Return a leaderboard from nested dictionaries, as TOML would give them.

        Parameters
        ----------
        tables
            The leaderboard.
        entries, traces
            As those of `load`.
        source
            Name of the leaderboard in messages.
        folder
            Base of relative paths; by default the working directory.
        only
            Names of the wanted cases; by default all.
        """
        tables = plain(tables)
        try:
            document = BoardTable.model_validate(tables)
        except ValidationError as error:
            raise scenario_error(source, faults(error, BoardTable, tables)) from None
        named = _named([*document.entries, *(EntryTable(entry=entry) for entry in entries)])
        if document.bound is not None and document.bound not in named:
            raise UsageError(
                f'{source}: bound: found "{document.bound}"; {suggestion(document.bound, named)}'
            )
        cases, skipped = [], {}
        for number, table in enumerate(document.cases):
            if only is not None and table.name not in only:
                continue
            place = traces if table.recorded else folder
            if table.recorded and (why := _missing(table, traces)):
                skipped[table.name] = why
                continue
            with said_of(f"{source}: cases[{number}] ({table.name})"):
                cases.append(_case(document, table, place or Path(), named))
        texts = {name: entry.entry for name, entry in named.items()}
        return cls(tables, document, texts, tuple(cases), skipped)

    @property
    def name(self) -> str:
        """Short name."""
        return self.document.name

    @property
    def seeds(self) -> Sequence[int]:
        """The seeds of the repetitions."""
        return range(self.document.seed, self.document.seed + self.document.repetitions)

    @property
    def metrics(self) -> list[str]:
        """The metrics that are kept of each run: those of columns, then those of scores."""
        columns = [name for name in self.document.columns if name != SCORE]
        return list(dict.fromkeys([*columns, *(OF_SCORE if SCORE in self.document.columns else ())]))

    @property
    def sha256(self) -> str:
        """A digest of the leaderboard as read, without the entries that were added."""
        return hashlib.sha256(json.dumps(self.tables, sort_keys=True).encode()).hexdigest()


def find_board(path_or_name: str | Path) -> Path:
    """Return the file of a leaderboard: an existing path, else the shipped one of this name."""
    return find_shipped(path_or_name, SHIPPED, "leaderboard")


def board_names() -> list[str]:
    """Return the names of the leaderboards that are shipped, sorted."""
    return shipped_names(SHIPPED)


def _named(entries: Iterable[EntryTable]) -> dict[str, EntryTable]:
    """Return the entries by name.

    Raises
    ------
    UsageError
        If two have the same name.
    """
    named: dict[str, EntryTable] = {}
    for entry in entries:
        name = entry.label
        if name in named:
            raise UsageError(
                f'entries: found "{name}" twice; accepted: different names (NAME={entry.entry} sets the name)'
            )
        named[name] = entry
    return named


def _missing(table: BoardCaseTable, traces: Path | None) -> str:
    """Return why the trace of a recorded case cannot be read; empty if it can."""
    name = table.over_link["link"]
    if traces is None:
        return "no folder of recorded traces (--traces or AIRPATH_TRACES)"
    return "" if (traces / name).is_file() else f"{name} is not in {traces}"


def _case(board: BoardTable, table: BoardCaseTable, folder: Path, entries: Mapping[str, EntryTable]) -> Case:
    base = scenario_of(table, folder, _ANY_SCHEME, seed=board.seed, repetitions=board.repetitions)
    scenarios = {}
    for name, entry in entries.items():
        with said_of(f"entry {name}"):
            scenario = base if board.kind == "estimators" else with_scheme(base, table.tested, entry.entry)
            scenario = scenario.override(dict(_settings(board, table, scenario, entry)))
            scenario.plan()
            scenario.refuse_if_too_large()
        scenarios[name] = scenario
    return Case(table.name, table.title, table.tuning, scenarios)


def _settings(
    board: BoardTable, table: BoardCaseTable, scenario: Scenario, entry: EntryTable
) -> Iterator[tuple[str, Any]]:
    """Yield the keys of a scenario that an entry sets in addition to the scheme."""
    tested = flows_under_test(scenario, table.tested)
    if board.kind == "estimators":
        yield from ((f"flows.{number}.estimators", [entry.entry]) for number in tested)
        return
    topology = scenario.to_dict()["topology"]
    one, several = topology.get("bottleneck"), topology.get("bottlenecks", ())
    links = {"bottleneck": one} if one else {f"bottlenecks.{n}": link for n, link in enumerate(several)}
    # The reverse link has the same scheme, because flows need its routers as well, but it is not under test.
    for path, link in {**links, "reverse": topology.get("reverse") or {}}.items():
        queue = link.get("queue") or {}
        if "scheme" in queue:
            yield f"topology.{path}.queue.scheme", entry.entry
        if entry.queue is not None and path in links:
            yield f"topology.{path}.queue", queue_of(entry.queue, queue.get("limit"), None, "1bdp")
    if entry.ecn:
        yield from ((f"flows.{number}.transport.ecn", True) for number in tested)

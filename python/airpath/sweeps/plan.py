"""A sweep that is ready to run: its scenario, its axes, its runs."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Self

from pydantic import ValidationError

from airpath._declared.messages import faults, scenario_error
from airpath._nearest import suggestion
from airpath._os.shipped import find_shipped, shipped_names
from airpath.errors import ScenarioError, UsageError
from airpath.plugins.specs import allowed
from airpath.runner import joined_schemes
from airpath.scenario import Scenario
from airpath.scenario.load import code_in, find_file, override, plain, read_file, schemes_in
from airpath.schemes import label_of, refuse_equal_labels
from airpath.sweeps.axes import Axes, Point
from airpath.sweeps.document import SweepDocument
from airpath.sweeps.keys import refuse_keys_of_schemes
from airpath.sweeps.task import Task, digest_of_input, digests_of_code

SHIPPED: Final = Path(__file__).parent / "plans"
"""The folder of the shipped sweeps."""


@dataclass(frozen=True)
class SweepRun:
    """One run of a sweep."""

    number: int
    """Its index among the runs, from 0."""
    point: Point
    """The values of the axes."""
    scheme: str
    """The scheme under test."""
    task: Task
    """The task to run."""


class SweepPlan:
    """A sweep: the scenarios, schemes and seeds to run.

    Make one with `load` or `from_dict`. Runs are ordered by point, then scheme, then seed.
    """

    def __init__(
        self, tables: Mapping[str, Any], *, source: str = "sweep", folder: Path | None = None
    ) -> None:
        self.tables = dict(tables)
        """The sweep as written."""
        self._source = source
        self._folder = folder or Path()
        try:
            self.document: SweepDocument = SweepDocument.model_validate(dict(tables))
        except ValidationError as error:
            raise scenario_error(source, faults(error, SweepDocument, tables)) from None
        self.axes = Axes(self.document, source)
        self.base_file = self._find_base()
        self.base_content = self.base_file.read_bytes()
        """The content of the scenario file now: it may be edited while runs continue."""
        base = Scenario.load(self.base_file)
        self._base_tables = read_file(self.base_file)
        self._schemes: tuple[str | None, ...] = self.document.schemes or (None,)
        self._labels = {scheme: label_of(scheme) for scheme in self.document.schemes}
        self.flows = self._flows_under_test(base)
        if self.document.schemes:
            refuse_keys_of_schemes(self.axes.paths, self.axes.fixed, self.flows, source)
        seed = base.seed if self.document.seed is None else self.document.seed
        repetitions = self.document.repetitions or base.repetitions
        self.seeds: Sequence[int] = self.document.seeds or range(seed, seed + repetitions)
        self.outside: dict[str, dict[str, Any]] = {}
        """The schemes that are code of the user, by name, as provenance describes them."""
        self._code: dict[str, dict[str, str]] = {}
        """The SHA-256 of the files of each scheme that is code, by path."""
        self._code_folder = str(Path.cwd())
        self.inputs: tuple[Path, ...] = self._try_scenarios()
        """The files that its runs read: traces and code."""

    @classmethod
    def load(cls, path_or_name: str | Path) -> Self:
        """Read a sweep file, or a shipped sweep by name.

        Raises
        ------
        ScenarioError
            If there is no such sweep, something in it is wrong, or it makes the scenario invalid.
        """
        path = find_sweep(path_or_name)
        return cls(read_file(path), source=str(path_or_name), folder=path.parent)

    @classmethod
    def from_dict(cls, tables: Mapping[str, Any], *, folder: Path | None = None) -> Self:
        """Return a sweep from nested dictionaries, as TOML would give them.

        Parameters
        ----------
        tables
            The sweep.
        folder
            Base of the path of the scenario; by default the working directory.
        """
        return cls(plain(tables), folder=folder)

    def __len__(self) -> int:
        """Return the number of runs."""
        return len(self.axes) * len(self._schemes) * len(self.seeds)

    def runs(self) -> Iterator[SweepRun]:
        """Yield every run, one at a time and in order."""
        number = 0
        for point in self.axes:
            for chosen in self._schemes:
                tables = self._tables(point, chosen)
                scheme = _label(tables) if chosen is None else self._labels[chosen]
                text = json.dumps(tables, sort_keys=True)
                code = tuple(one for one in code_in(tables) if one in self._code)
                digests = {path: digest for one in code for path, digest in self._code[one].items()}
                for repetition, seed in enumerate(self.seeds):
                    task = Task(
                        scenario=text,
                        folder=str(self.base_file.parent),
                        scheme=scheme,
                        repetition=repetition,
                        seed=seed,
                        keep=tuple(sorted(self.document.keep)),
                        metrics=self.document.metrics,
                        code=code,
                        code_folder=self._code_folder if code else "",
                        code_sha256=tuple(sorted(digests.items())),
                    )
                    yield SweepRun(number, point, scheme, task)
                    number += 1

    def summary(self) -> str:
        """Return the number of runs, and its factors, in one line."""
        factors = [
            _counted(len(group[0].values), f"value of {' and '.join(axis.name for axis in group)}")
            for group in self.axes.groups
        ]
        factors += [_counted(len(self._schemes), "scheme"), _counted(len(self.seeds), "seed")]
        return f"{_counted(len(self), 'run')}: {', '.join(factors)}"

    @cached_property
    def digest(self) -> str:
        """A digest of everything that determines the data set: the base scenario and the sweep, as read."""
        content = {
            "scenario": self._base_tables,
            "sweep": self.document.model_dump(mode="json"),
        }
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

    @property
    def inputs_digest(self) -> str | None:
        """A digest of the current inputs, in the order in which the sweep names them."""
        digests = "".join(digest_of_input(path) for path in self.inputs)
        return hashlib.sha256(digests.encode()).hexdigest() if digests else None

    @property
    def scenario_digest(self) -> str:
        """A digest of the file of the base scenario."""
        return hashlib.sha256(self.base_content).hexdigest()

    def _find_base(self) -> Path:
        beside = self._folder / self.document.scenario
        try:
            return (beside if beside.is_file() else find_file(self.document.scenario)).resolve()
        except ScenarioError as error:
            raise ScenarioError(f"{self._source}: scenario: {error}") from None

    def _flows_under_test(self, base: Scenario) -> tuple[int, ...]:
        flows = base.document.flows
        controlled = {flow.name: number for number, flow in enumerate(flows) if flow.scheme is not None}
        for name in self.document.flows:
            if name not in controlled:
                raise ScenarioError(
                    f'{self._source}: flows: found "{name}", which is not a flow of {self.document.scenario}'
                    f" with a scheme; {suggestion(name, controlled)}"
                )
        if self.document.flows and not self.document.schemes:
            raise ScenarioError(f'{self._source}: flows: needs "schemes", the schemes that they take')
        return tuple(
            number for name, number in controlled.items() if name in (self.document.flows or controlled)
        )

    def _tables(self, point: Point, scheme: str | None) -> dict[str, Any]:
        tables = self._base_tables
        try:
            for path, value in self.axes.settings(point).items():
                tables = override(tables, path, value)
        except UsageError as error:
            raise ScenarioError(f"{self._source}: {error}") from None
        if scheme is not None:
            for number in self.flows:
                tables = override(tables, f"flows.{number}.scheme", scheme)
        return tables

    def _try_scenarios(self) -> tuple[Path, ...]:
        """Try each value of each axis and each scheme once; return the files that they name.

        This finds most mistakes before the runs start.
        """
        first = next(iter(self.axes))
        tries = [(point, self._schemes[0]) for point in self.axes.corners()]
        inputs: dict[Path, None] = {}
        for point, scheme in [*tries, *((first, scheme) for scheme in self._schemes[1:])]:
            tables = self._tables(point, scheme)
            where = ", ".join(filter(None, (f"scheme {scheme or _label(tables)}", self.axes.text(point))))
            scenario = Scenario(
                tables,
                source=f"{self._source} ({where})",
                folder=self.base_file.parent,
            )
            scenario.plan()
            scenario.refuse_if_too_large()
            self._code |= {one: digests_of_code([one]) for one in allowed(code_in(tables))}
            inputs |= dict.fromkeys([*(trace.path for trace in scenario.traces), *scenario.code])
            self.outside |= scenario.outside
        try:
            refuse_equal_labels(self.document.schemes)
        except UsageError as error:
            raise ScenarioError(f"{self._source}: schemes: {error}") from None
        return tuple(inputs)


def find_sweep(path_or_name: str | Path) -> Path:
    """Return the file of a sweep: an existing path, else the shipped sweep of this name.

    Raises
    ------
    ScenarioError
        If there is neither.
    """
    return find_shipped(path_or_name, SHIPPED, "sweep")


def sweep_names() -> list[str]:
    """Return the names of the sweeps that are shipped, sorted."""
    return shipped_names(SHIPPED)


def _label(tables: Mapping[str, Any]) -> str:
    """Return the label of a run in which every flow keeps its scheme; mistakes in it are reported later."""
    return joined_schemes(schemes_in(tables))


def _counted(count: int, noun: str) -> str:
    first, *rest = noun.split(" ", 1)
    return " ".join([str(count), first + ("" if count == 1 else "s"), *rest])

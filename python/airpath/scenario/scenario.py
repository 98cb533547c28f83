"""The public interface of a scenario: load, change and resolve it."""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import tomli_w
from pydantic import ValidationError

from airpath import _core
from airpath._declared.messages import FieldError, faults, scenario_error
from airpath.errors import ScenarioError, UsageError
from airpath.plugins.specs import allow, code_name, kinds_of_code
from airpath.scenario.describe import describe
from airpath.scenario.load import SCHEMA_KEY, code_in, find_file, override, plain, read_file
from airpath.scenario.memory import MemoryEstimate, estimate_memory, refuse_if_too_large
from airpath.scenario.model import ScenarioDocument
from airpath.scenario.outside import outside
from airpath.scenario.refusals import Refusal, refusal_error, refused
from airpath.scenario.resolve import BufferSize, Plan, Resolved, resolve, scheme_of
from airpath.scenario.traces import TraceInput

if TYPE_CHECKING:
    from airpath.plugins.loading import Plugin


class Scenario:
    """One experiment: links, flows, measurements, seed and repetitions.

    Make one with `load` or `from_dict`. A scenario is immutable; `override` returns a new one.
    """

    def __init__(
        self, tables: Mapping[str, Any], *, source: str = "scenario", folder: Path | None = None
    ) -> None:
        self._tables = {key: value for key, value in tables.items() if key != SCHEMA_KEY}
        self._source = source
        self._folder = folder or Path()
        self._document = _validated(self._tables, source)

    @classmethod
    def load(cls, path_or_name: str | Path) -> Self:
        """Read a scenario file, or a shipped scenario by name.

        Raises
        ------
        ScenarioError
            If there is no such scenario or something in it is wrong; one line for each fault.
        """
        path = find_file(path_or_name)
        return cls(read_file(path), source=str(path_or_name), folder=path.parent)

    @classmethod
    def from_dict(cls, tables: Mapping[str, Any], *, folder: Path | None = None) -> Self:
        """Return a scenario from nested dictionaries, in the form of parsed TOML.

        Code in files that its schemes name (`my.py:Mine`, `libmine.so`) may be executed, because the caller
        names it.

        Parameters
        ----------
        tables
            The scenario.
        folder
            Base of relative paths of trace files; by default the working directory.

        Raises
        ------
        ScenarioError
            If something is wrong; one line for each fault.
        """
        tables = plain(tables)
        allow(code_in(tables))
        return cls(tables, folder=folder)

    def override(self, assignments: Mapping[str, Any] | None = None, /, **more: Any) -> Self:
        """Return a copy with some keys replaced.

        Parameters
        ----------
        assignments
            Values by path with dots, list items by number (`"flows.0.count"`).
        **more
            The same, for keys without dots (`seed=2`).

        Raises
        ------
        UsageError
            If a path does not exist.
        ScenarioError
            If the result is not a scenario.
        """
        tables = self._tables
        for key, value in [*(assignments or {}).items(), *more.items()]:
            if not isinstance(key, str):
                raise UsageError(f'found {key!r}; accepted: the path of a key, such as "flows.0.count"')
            tables = override(tables, key, value)
        return type(self)(tables, source=self._source, folder=self._folder)

    @property
    def document(self) -> ScenarioDocument:
        """The scenario as written, typed, with defaults."""
        return self._document

    @property
    def name(self) -> str:
        """Its short name."""
        return self._document.name

    @property
    def title(self) -> str:
        """Its title; the name if it has none."""
        return self._document.title or self._document.name

    @property
    def seed(self) -> int:
        """Its seed."""
        return self._document.seed

    @property
    def repetitions(self) -> int:
        """The requested number of independent runs."""
        return self._document.repetitions

    @property
    def code(self) -> dict[Path, bytes]:
        """The files of the user that its schemes name, as they were loaded."""
        return {path: text for plugin in self._plugins() for path, text in plugin.sources.items()}

    @property
    def outside(self) -> dict[str, dict[str, Any]]:
        """The code of the user in it, by name, as provenance describes it."""
        return outside(code_in(self.to_dict()), self._plugins())

    def _plugins(self) -> "list[Plugin]":
        """Return its schemes that are files of the user."""
        if not (kinds := kinds_of_code(self.plan())):
            return []
        from airpath.plugins.loading import loaded_plugins  # imported here because few scenarios need it

        return loaded_plugins(kinds)

    @property
    def inputs(self) -> dict[str, bytes]:
        """The content of its trace files by name, and of the code by path."""
        code = {code_name(path): content for path, content in self.code.items()}
        return {trace.path.name: trace.path.read_bytes() for trace in self.traces} | code

    def plan(self) -> Plan:
        """Return the plan: the input of the engine, in integers of ns, bytes and bit/s, ready for JSON."""
        return self.resolved.plan

    @property
    def folder(self) -> Path:
        """Base of relative paths of its trace files."""
        return self._folder

    @property
    def traces(self) -> tuple[TraceInput, ...]:
        """The trace files that the plan refers to, by number."""
        return self.resolved.traces

    @property
    def buffers(self) -> Mapping[str, BufferSize]:
        """The buffer of every link in bytes, packets, time and bandwidth-delay products."""
        return self.resolved.buffers

    @cached_property
    def resolved(self) -> Resolved:
        """The plan with all intermediate results of its derivation."""
        return resolve(self._document, self._source, self._folder)

    def remarks(self) -> tuple[str, ...]:
        """Return remarks on settings that may be mistakes: flows that start after the end of the run."""
        return self._document.remarks()

    def describe(self) -> str:
        """Return the scenario in words, with every default filled in."""
        return describe(self._document, self.resolved)

    def memory(self) -> MemoryEstimate:
        """Memory needed by the records of one run."""
        return estimate_memory(self.resolved)

    def refuse_if_too_large(self, available: int | None = None) -> None:
        """Raise an error if the records of one run do not fit into memory.

        Parameters
        ----------
        available
            Bytes that may be used; by default the free memory.

        Raises
        ------
        ScenarioError
            If they do not fit.
        """
        refuse_if_too_large(self.resolved, self._source, available)

    def refused(self, error: _core.PlanError) -> ScenarioError:
        """Return the error if the engine refuses the plan of this scenario."""
        return refused(error, self.resolved.places, self._tables, self._source)

    def refusal(self, refusal: Refusal) -> ScenarioError:
        """Return the error if a backend refuses the plan of this scenario."""
        return refusal_error(refusal, self.resolved.places, self._tables, self._source)

    def to_dict(self) -> dict[str, Any]:
        """Return the scenario as written, as nested dictionaries in standard spelling, without defaults."""
        return self._document.model_dump(mode="json", exclude_unset=True, exclude_none=True)

    def to_toml(self) -> str:
        """Return the scenario as written, as TOML in standard spelling, without defaults."""
        return tomli_w.dumps(self.to_dict())

    def __repr__(self) -> str:
        return f"Scenario({self.name!r})"


def _validated(tables: dict[str, Any], source: str) -> ScenarioDocument:
    """Return the typed scenario; report all faults of form at once, and otherwise those of schemes."""
    try:
        document = ScenarioDocument.model_validate(tables)
    except ValidationError as error:
        raise scenario_error(source, faults(error, ScenarioDocument, tables)) from None
    found = []
    for index, flow in enumerate(document.flows):
        if flow.scheme is not None:
            try:
                scheme_of(flow, f"flows[{index}]")
            except FieldError as error:
                found.append(error.fault)
    if found:
        raise scenario_error(source, found)
    return document

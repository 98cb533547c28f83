"""The runs of a directory of results."""

import hashlib
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from airpath._backends import BACKENDS, REAL_TIME, BackendName
from airpath._run.workers import Job
from airpath.errors import OutputError
from airpath.precision.rule import PrecisionRule
from airpath.rerun.code import KeptCode
from airpath.results.changes import Change, changes, environment_changes, input_changes
from airpath.results.provenance import plan_text
from airpath.results.reading import read_records, stopping_rule
from airpath.results.records import RunRecord, WrittenScenario
from airpath.results.results import Results
from airpath.runner import jobs_of, refuse_if_too_large, run_jobs
from airpath.scenario import Scenario


@dataclass(frozen=True)
class KeptRuns:
    """The runs of a directory of results, ready to be executed again."""

    directory: Path
    """The directory of the results."""
    facts: Mapping[str, Any]
    """The content of ``provenance.json``."""
    jobs: tuple[Job, ...]
    """The runs, in their stored order."""
    scenario_text: str
    """The content of ``scenario.toml``."""
    changed_plans: tuple[Change, ...]
    """Schemes whose scenario now resolves to another plan."""
    code: KeptCode
    """The user code of the results."""
    until: PrecisionRule | None
    """The rule by which repetitions were added; `None` if their number was given."""

    @property
    def scenarios(self) -> dict[str, Scenario]:
        """Scenario of each scheme."""
        return {job.scheme: job.scenario for job in self.jobs}

    @property
    def in_real_time(self) -> bool:
        """Whether some runs were in real time, so that repetitions of them differ."""
        return any(job.world in REAL_TIME for job in self.jobs)

    def changes(self, now: Mapping[str, Any]) -> list[Change]:
        """Return the changes of versions, platform, trace files, code and plans.

        Parameters
        ----------
        now
            The provenance of this process (`airpath.results.provenance.environment`).
        """
        inputs = {
            self.code.original(name): hashlib.sha256(content).hexdigest()
            for scenario in self.scenarios.values()
            for name, content in scenario.inputs.items()
        }
        files = input_changes(self.facts, {"sha256": {"inputs": inputs}})
        return [*environment_changes(self.facts, now), *files, *self._compilers(), *self.changed_plans]

    def _compilers(self) -> Iterator[Change]:
        """Yield the changes of the compilation of modules of Linux."""
        described = [one for scenario in self.scenarios.values() for one in scenario.outside.items()]
        for name, one in described:
            then = self.facts.get("outside", {}).get(name, {}).get("compiled", {})
            yield from changes(then, one.get("compiled", {}), f"{name}: ")

    def run(self, jobs: int | None, on_progress: Callable[[float], None]) -> Results:
        """Execute the runs again; the arguments are those of `airpath.runner.run_jobs`."""
        return Results(run_jobs(self.jobs, jobs, on_progress).runs, until=self.until)


def load_kept(directory: Path) -> KeptRuns:
    """Read the runs of a directory.

    Raises
    ------
    OutputError
        If the directory contains no results of runs, or results without their scenarios.
    ScenarioError, TraceError, UsageError
        If this version refuses a scenario, or a trace file or a backend is not available.
    """
    facts, records = read_records(directory)
    if not records:
        raise OutputError(f"{directory} contains no runs")
    kept: dict[WrittenScenario, Scenario] = {}
    code = KeptCode(directory, facts.get("outside", {}))
    jobs = [_job(record, kept, code) for record in records]
    refuse_if_too_large([(job.scenario, 1) for job in jobs])
    try:
        # As written, including its line endings.
        text = (directory / "scenario.toml").read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise OutputError(f"{directory / 'scenario.toml'} cannot be read: {error}") from None
    plans = {
        record.scheme: Change(
            f"plan of {record.scheme}", _plan_sha256(record.plan), _plan_sha256(code.in_plan(job.plan))
        )
        for record, job in zip(records, jobs, strict=True)
    }
    changed = tuple(plan for plan in plans.values() if plan.first != plan.second)
    return KeptRuns(directory, facts, tuple(jobs), text, changed, code, stopping_rule(facts))


def _job(record: RunRecord, kept: dict[WrittenScenario, Scenario], code: KeptCode) -> Job:
    directory = code.directory
    if record.scenario is None:
        raise OutputError(
            f"{directory} does not contain the scenario of {record.scheme}: the results are from an"
            " airpath that did not keep it, or not by `run`, `compare` or `gap`; run the scenario anew"
        )
    if record.scenario not in kept:
        kept[record.scenario] = _scenario(record.scenario, code)
    scenario = kept[record.scenario]
    if record.world not in BACKENDS:
        raise OutputError(
            f"{directory} contains runs on the backend {record.world!r}; accepted: {', '.join(BACKENDS)}"
        )
    world = cast("BackendName", record.world)  # checked above
    label = BACKENDS[world].place(scenario).label or record.scheme
    (job,) = jobs_of(record.scheme, scenario, record.seed, 1, world, record.scheme.removeprefix(label))
    return replace(job, scheme=record.scheme, repetition=record.repetition)


def _scenario(written: WrittenScenario, code: KeptCode) -> Scenario:
    try:
        tables = tomllib.loads(written.text)
    except (ValueError, RecursionError) as error:
        raise OutputError(f"{code.directory / 'plan.json'}: a scenario is not valid TOML: {error}") from None
    if code.described:
        tables = code.in_scenario(tables)
    return Scenario(tables, source=str(code.directory), folder=Path(written.folder))


def _plan_sha256(plan: Mapping[str, Any]) -> str:
    return hashlib.sha256(plan_text(plan).encode()).hexdigest()

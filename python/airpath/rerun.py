"""Running kept results again: `airpath rerun`."""

import hashlib
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import pyarrow as pa

from airpath._backends import BACKENDS, REAL_TIME, BackendName
from airpath.errors import AirpathError, OutputError
from airpath.precision.rule import PrecisionRule
from airpath.results.changes import Change, environment_changes, input_changes
from airpath.results.directory import read_parquet, write_parquet
from airpath.results.provenance import plan_text
from airpath.results.reading import read_records, stopping_rule
from airpath.results.records import RunRecord, WrittenScenario
from airpath.results.results import Results
from airpath.runner import jobs_of, refuse_if_too_large, run_jobs
from airpath.scenario import Scenario
from airpath.workers import Job


@dataclass(frozen=True)
class KeptRuns:
    """The runs of a directory of results, ready to be done again."""

    directory: Path
    """Where the results are."""
    facts: Mapping[str, Any]
    """What ``provenance.json`` says."""
    jobs: tuple[Job, ...]
    """The runs, in the order in which they were kept."""
    scenario_text: str
    """What ``scenario.toml`` says."""
    changed_plans: tuple[Change, ...]
    """Schemes whose scenario comes to another plan than then."""
    until: PrecisionRule | None
    """The rule by which repetitions were added; `None` where their number was given."""

    @property
    def scenarios(self) -> dict[str, Scenario]:
        """Scenario of each scheme."""
        return {job.scheme: job.scenario for job in self.jobs}

    @property
    def in_real_time(self) -> bool:
        """Whether some runs go by the real clock, so that they do not come out the same twice."""
        return any(job.world in REAL_TIME for job in self.jobs)

    def changes(self, now: Mapping[str, Any]) -> list[Change]:
        """Return what is not as it was: versions, platform, trace files, code, plans.

        Parameters
        ----------
        now
            What provenance says of this process (`airpath.results.provenance.environment`).
        """
        inputs = {
            name: hashlib.sha256(content).hexdigest()
            for scenario in self.scenarios.values()
            for name, content in scenario.inputs.items()
        }
        files = input_changes(self.facts, {"sha256": {"inputs": inputs}})
        return [*environment_changes(self.facts, now), *files, *self.changed_plans]

    def run(self, jobs: int | None, on_progress: Callable[[float], None]) -> Results:
        """Do the runs again; the arguments are those of `airpath.runner.run_jobs`."""
        return Results(run_jobs(self.jobs, jobs, on_progress).runs, until=self.until)


def load_kept(directory: Path) -> KeptRuns:
    """Read what was run.

    Raises
    ------
    OutputError
        If the directory holds no results of runs, or such that do not say which scenario was run.
    ScenarioError, TraceError, UsageError
        If this version refuses a scenario, a trace file is not there, or a world is not.
    """
    facts, records = read_records(directory)
    if not records:
        raise OutputError(f"{directory} contains no runs")
    kept: dict[WrittenScenario, Scenario] = {}
    jobs = [_job(record, kept, directory) for record in records]
    refuse_if_too_large([(job.scenario, 1) for job in jobs])
    try:
        # As it was written: with its own ends of lines.
        text = (directory / "scenario.toml").read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise OutputError(f"{directory / 'scenario.toml'} cannot be read: {error}") from None
    plans = {
        record.scheme: Change(f"plan of {record.scheme}", _plan_sha256(record.plan), _plan_sha256(job.plan))
        for record, job in zip(records, jobs, strict=True)
    }
    changed = tuple(plan for plan in plans.values() if plan.first != plan.second)
    return KeptRuns(directory, facts, tuple(jobs), text, changed, stopping_rule(facts))


def compare_tables(then: Path, now: Path) -> dict[str, str]:
    """Compare the tables and captures of two directories of results.

    Returns
    -------
    dict
        By file: ``equal`` (byte by byte), ``same values`` (the same table, but written as other bytes, as
        another version of pyarrow may), ``differs``, ``only then`` or ``only now``.
    """
    names = sorted({*_compared_files(then), *_compared_files(now)})
    return {name: _compare_file(then / name, now / name) for name in names}


def differing(tables: Mapping[str, str]) -> list[str]:
    """Return the files that do not hold the same values, of what `compare_tables` found."""
    return [name for name, found in tables.items() if found not in ("equal", "same values")]


def _job(record: RunRecord, kept: dict[WrittenScenario, Scenario], directory: Path) -> Job:
    if record.scenario is None:
        raise OutputError(
            f"{directory} does not contain the scenario of {record.scheme}: the results are from an"
            " airpath that did not keep it, or not by `run`, `compare` or `gap`; run the scenario anew"
        )
    if record.scenario not in kept:
        kept[record.scenario] = _scenario(record.scenario, directory)
    scenario = kept[record.scenario]
    if record.world not in BACKENDS:
        raise OutputError(
            f"{directory} contains runs on the backend {record.world!r}; accepted: {', '.join(BACKENDS)}"
        )
    world = cast("BackendName", record.world)  # one of them, as was looked at
    label = BACKENDS[world].place(scenario).label or record.scheme
    (job,) = jobs_of(record.scheme, scenario, record.seed, 1, world, record.scheme.removeprefix(label))
    return replace(job, scheme=record.scheme, repetition=record.repetition)


def _scenario(written: WrittenScenario, directory: Path) -> Scenario:
    try:
        tables = tomllib.loads(written.text)
    except (ValueError, RecursionError) as error:
        raise OutputError(f"{directory / 'plan.json'}: a scenario is not valid TOML: {error}") from None
    return Scenario(tables, source=str(directory), folder=Path(written.folder))


def _plan_sha256(plan: Mapping[str, Any]) -> str:
    return hashlib.sha256(plan_text(plan).encode()).hexdigest()


def _compared_files(directory: Path) -> Sequence[str]:
    files = (*directory.glob("*.parquet"), *directory.glob("captures/*.pcapng"))
    return [file.relative_to(directory).as_posix() for file in files]


def _compare_file(then: Path, now: Path) -> str:
    if not then.is_file():
        return "only now"
    if not now.is_file():
        return "only then"
    try:
        if then.read_bytes() == now.read_bytes():
            return "equal"
        same = then.suffix == ".parquet" and _written_now(then) == _written_now(now)
    except (OSError, pa.ArrowException) as error:
        raise AirpathError(f"{then} cannot be compared with {now}: {error}") from None
    return "same values" if same else "differs"


def _written_now(file: Path) -> bytes:
    """Return a table as this version would write it: equal tables give equal bytes."""
    content = pa.BufferOutputStream()
    write_parquet(read_parquet(file), content)
    return bytes(content.getvalue().to_pybytes())

"""Runs in parallel threads: the engine works with the interpreter lock released, so threads use all cores."""

import json
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from threading import Event
from typing import Any, Protocol

import numpy as np

from airpath import _core
from airpath.datapath import Datapath
from airpath.errors import AirpathError, EmulationError
from airpath.interrupts import InterruptRequest
from airpath.results import RunRecord
from airpath.results.qlog import whole_logs
from airpath.scenario import Scenario, TraceInput
from airpath.scenario.traces import read_trace
from airpath.world_names import IN_REAL_TIME, World
from airpath.worlds import WITH_OURS, Placed, place


@dataclass(frozen=True)
class Job:
    """One run that is to be done."""

    scheme: str
    """Label of the scheme under test."""
    scenario: Scenario
    """What to run."""
    repetition: int
    """0, 1, … within the scheme."""
    seed: int
    """Seed of the run."""
    flow_schemes: dict[str, str]
    """Scheme of each source, by name."""
    flow_groups: dict[str, str]
    """Group of each source, by name."""
    world: World = "sim"
    """Where it runs."""
    drops: bool = True
    """Whether the table of lost packets is kept where the scenario keeps it; metrics do not need it."""

    @property
    def plan(self) -> dict[str, Any]:
        """The plan that runs."""
        return self.placed.plan

    @property
    def placed(self) -> Placed:
        """The plan that runs, with what its world needs beside it."""
        placed = place(self.scenario, self.world)
        if self.drops:
            return placed
        record = {**placed.plan["record"], "drops": False}
        return replace(placed, plan={**placed.plan, "record": record})


@dataclass(frozen=True)
class Outcome:
    """What came of some jobs."""

    finished: list[tuple[Job, RunRecord]]
    """The finished jobs and their runs, in the order of the jobs."""
    interrupted: bool
    """Whether the work was interrupted before its end."""

    @property
    def records(self) -> list[RunRecord]:
        """The finished runs, in the order of the jobs."""
        return [record for _, record in self.finished]


def execute(jobs: Sequence[Job], workers: int, on_progress: Callable[[float], None]) -> Outcome:
    """Do all jobs, `workers` at a time.

    On an interrupt (Ctrl-C) the running simulations are stopped and the finished runs are returned. The first
    failure of a job stops all others.

    Parameters
    ----------
    jobs
        What to do.
    workers
        How many threads.
    on_progress
        Called every now and then with the share that is done, 0 to 1.

    Raises
    ------
    ScenarioError
        If the engine refuses a scenario.
    TraceError
        If a trace cannot be read or breaks the rules of its format.
    AirpathError
        If the memory does not suffice.
    """
    traces = _read_all(jobs)
    tasks = [_Task(job, traces) for job in jobs]
    stop = Event()
    interrupted = False
    with InterruptRequest() as request, ThreadPoolExecutor(workers, thread_name_prefix="airpath") as pool:
        try:
            _watch([pool.submit(task.run, stop) for task in tasks], tasks, request, on_progress)
        except KeyboardInterrupt:
            interrupted = True
        finally:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            for task in tasks:
                task.cancel()
    if not interrupted:
        on_progress(1.0)
    return Outcome([(task.job, task.record) for task in tasks if task.record is not None], interrupted)


def run_job(job: Job) -> RunRecord:
    """Do one job in this thread.

    Raises
    ------
    ScenarioError
        If the engine refuses the scenario.
    TraceError
        If a trace cannot be read or breaks the rules of its format.
    AirpathError
        If the memory does not suffice.
    """
    return _record(job, _ready(job, [read_trace(trace) for trace in job.scenario.traces]))


class _Run(Protocol):
    """What can be run once, followed and stopped: a simulation, or a run in the emulator."""

    def run(self) -> tuple[dict[str, dict[str, np.ndarray]], bytes | None, dict[str, Any]]: ...
    def cancel(self) -> None: ...
    @property
    def progress(self) -> float: ...


class _DatapathRun:
    """A run in the emulator with our controllers, and perhaps our routers, in the kernel."""

    def __init__(self, placed: Placed, traces: list[_core.Trace], seed: int) -> None:
        self._datapath = Datapath(placed.routers)
        links = [router.link for router in placed.routers]
        self._run = _core.EmulatedRun(json.dumps(placed.plan), traces, seed, self._datapath.start, links)

    def run(self) -> tuple[dict[str, dict[str, np.ndarray]], bytes | None, dict[str, Any]]:
        try:
            tables, capture, counts = self._run.run()
        finally:
            counters, problems = self._datapath.stop()
        validity = counts["validity"]
        if counters:
            validity["datapath"] = counters
        validity["problems"] = [*validity["problems"], *problems]
        return tables, capture, counts

    def cancel(self) -> None:
        self._run.cancel()

    @property
    def progress(self) -> float:
        return self._run.progress


class _Task:
    """One job with its simulation, which another thread can watch and stop."""

    def __init__(self, job: Job, traces: dict[TraceInput, _core.Trace]) -> None:
        self.record: RunRecord | None = None
        self.job = job
        self._traces = traces
        self._run: _Run | None = None

    def run(self, stop: Event) -> None:
        """Do the job; called in a worker thread."""
        job = self.job
        ready = _ready(job, [self._traces[trace] for trace in job.scenario.traces])
        self._run = ready
        # From here on the other thread can cancel the run; before, it could only set `stop`.
        if stop.is_set():
            return
        try:
            self.record = _record(job, ready)
        except _core.RunCancelled:
            return

    def cancel(self) -> None:
        """Stop the run if it goes on."""
        if (run := self._run) is not None:
            run.cancel()

    @property
    def progress(self) -> float:
        """The share that is done, 0 to 1."""
        if self.record is not None:
            return 1.0
        run = self._run
        return 0.0 if run is None else run.progress


_WATCH_EVERY_S = 0.1


def _watch(
    futures: Sequence[Future[None]],
    tasks: Sequence[_Task],
    request: InterruptRequest,
    on_progress: Callable[[float], None],
) -> None:
    """Wait until all is done; raises the first failure, or `KeyboardInterrupt`, as soon as it is seen."""
    waiting = set(futures)
    while waiting:
        request.raise_if_made()
        done, waiting = wait(waiting, timeout=_WATCH_EVERY_S, return_when=FIRST_COMPLETED)
        for future in done:
            future.result()
        on_progress(sum(task.progress for task in tasks) / len(tasks))
    request.raise_if_made()


def _read_all(jobs: Sequence[Job]) -> dict[TraceInput, _core.Trace]:
    """Every trace once, however many runs use it."""
    traces: dict[TraceInput, _core.Trace] = {}
    for job in jobs:
        for trace in job.scenario.traces:
            if trace not in traces:
                traces[trace] = read_trace(trace)
    return traces


def _ready(job: Job, traces: list[_core.Trace]) -> _Run:
    """Return a job that is ready to run in its world."""
    placed = job.placed
    plan = json.dumps(placed.plan)
    try:
        if job.world not in IN_REAL_TIME:
            return _core.Simulation(plan, traces, job.seed, over_quic=job.world == "quic")
        if job.world in WITH_OURS:
            return _DatapathRun(placed, traces, job.seed)
        return _core.EmulatedRun(plan, traces, job.seed)
    except _core.PlanError as error:
        raise job.scenario.refused(error) from None


def _record(job: Job, run: _Run) -> RunRecord:
    """Do a run to its end."""
    started = time.perf_counter()
    try:
        tables, capture, counts = run.run()
    except _core.PlanError as error:
        raise job.scenario.refused(error) from None
    except (RuntimeError, OSError) as error:
        # Only the emulator's and quinn's own; a cancelled run is for whoever cancelled it.
        if job.world == "sim" or isinstance(error, _core.RunCancelled):
            raise
        raise EmulationError(str(error)) from None
    except MemoryError:
        raise AirpathError(
            f"{job.scenario.name}: not enough memory; use fewer jobs, a larger record.interval,"
            " or a shorter run"
        ) from None
    record = RunRecord(
        scheme=job.scheme,
        scenario_name=job.scenario.name,
        seed=job.seed,
        repetition=job.repetition,
        plan=job.plan,
        tables=tables,
        capture=capture,
        wall_s=time.perf_counter() - started,
        flow_schemes=job.flow_schemes,
        flow_groups=job.flow_groups,
        quantities=counts["quantities"],
        world=job.world,
        validity=_validity(job, counts.get("validity")),
    )
    return replace(record, qlogs=whole_logs(record, counts["logs"]))


def _validity(job: Job, raw: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return how far a run was what the scenario says; nothing for a simulation."""
    placed = job.placed
    if raw is None:
        return None if job.world == "sim" else {"departures": list(placed.departures)}
    from airpath.emulation.validity import Validity  # here, because emulations are slow to import

    validity = Validity.from_engine(raw, [str(link["name"]) for link in placed.plan["links"]])
    return {**validity.as_json(), "departures": list(placed.departures)}

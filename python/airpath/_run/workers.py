"""Runs in parallel threads: the engine releases the interpreter lock, so threads use all cores.

Runs with Python code hold the lock. If they take long, each has a separate process.
"""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import nullcontext
from dataclasses import dataclass, replace
from threading import Event, Thread
from typing import Any, Final

from airpath import _core
from airpath._backends import BACKENDS, BackendName, EngineRun, Placed
from airpath._os.interrupts import InterruptRequest
from airpath._run.isolation import IsolatedCall, ProcessLostError
from airpath._run.stall import ends_if_stalled
from airpath.errors import AirpathError, EmulationError, PluginError
from airpath.plugins.failures import crash_error, plugin_error
from airpath.plugins.specs import is_python, kinds_of_code, load_allowed
from airpath.plugins.watchdog import watched
from airpath.results import RunRecord
from airpath.results.qlog import whole_logs
from airpath.scenario import Scenario, TraceInput
from airpath.scenario.memory import packets
from airpath.scenario.traces import read_trace


@dataclass(frozen=True)
class Job:
    """One run to do."""

    scheme: str
    """Label of the scheme under test."""
    scenario: Scenario
    """The scenario."""
    repetition: int
    """0, 1, … within the scheme."""
    seed: int
    """Seed of the run."""
    flow_schemes: dict[str, str]
    """Scheme of each source, by name."""
    flow_groups: dict[str, str]
    """Group of each source, by name."""
    world: BackendName = "sim"
    """The backend."""
    drops: bool = True
    """Whether the table of lost packets is kept if the scenario requests it; metrics do not need it."""

    @property
    def plan(self) -> dict[str, Any]:
        """The plan that runs."""
        return self.placed.plan

    @property
    def placed(self) -> Placed:
        """The plan on its backend, with everything that the backend needs."""
        placed = BACKENDS[self.world].place(self.scenario)
        if self.drops:
            return placed
        record = {**placed.plan["record"], "drops": False}
        return replace(placed, plan={**placed.plan, "record": record})


@dataclass(frozen=True)
class Outcome:
    """The outcome of a list of jobs."""

    finished: list[tuple[Job, RunRecord]]
    """The finished jobs and their runs, in the order of the jobs."""
    interrupted: bool
    """Whether the work was interrupted before its end."""
    failures: list[str]
    """The errors of code of the user; each ended one job."""

    @property
    def records(self) -> list[RunRecord]:
        """The finished runs, in the order of the jobs."""
        return [record for _, record in self.finished]


_LONG_PACKETS: Final = 5_000_000
"""Packets of all runs with Python code from which processes save more time than their start takes."""


def execute(
    jobs: Sequence[Job], workers: int, on_progress: Callable[[float], None], *, isolate: bool = False
) -> Outcome:
    """Execute all jobs, `workers` at a time.

    On an interrupt (Ctrl-C) the running simulations are stopped and the finished runs are returned. The first
    failure of a job stops all others, except a failure of code of the user: it ends its own job.

    Parameters
    ----------
    jobs
        The jobs.
    workers
        Number of threads.
    on_progress
        Called from time to time with the finished share, 0 to 1.
    isolate
        Whether each run with code of the user has a separate process: a crash then ends only that run.

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
    isolate = isolate or (workers > 1 and _is_long(jobs))
    tasks = [_IsolatedTask(job) if isolate and _code(job) else _Task(job, traces) for job in jobs]
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
    finished = [(task.job, task.record) for task in tasks if task.record is not None]
    return Outcome(finished, interrupted, [str(task.failure) for task in tasks if task.failure is not None])


def run_job(job: Job) -> RunRecord:
    """Execute one job in this thread.

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


def run_in_worker(job: Job) -> RunRecord:
    """Execute one job as `run_job` does; end this process if code of the user in it does not return.

    Raises
    ------
    PluginError
        If the user's code fails.
    AirpathError
        As `run_job`.
    """
    task = _Task(job, _read_all([job]))
    with ends_if_stalled(lambda: task.progress) if _code(job) else nullcontext():
        task.run(Event())
    if task.record is None:
        raise task.failure or AssertionError("a task without a record has failed")
    return task.record


class _Task:
    """One job with its simulation, which another thread can monitor and stop."""

    def __init__(self, job: Job, traces: dict[TraceInput, _core.Trace]) -> None:
        self.record: RunRecord | None = None
        self.failure: PluginError | None = None
        self.job = job
        self._traces = traces
        self._run: EngineRun | None = None

    def run(self, stop: Event) -> None:
        """Execute the job; called in a worker thread."""
        job = self.job
        try:
            ready = _ready(job, [self._traces[trace] for trace in job.scenario.traces])
            self._run = ready
            # From here on the other thread can cancel the run; before this, it could only set `stop`.
            if stop.is_set():
                return
            self.record = _record(job, ready)
        except _core.RunCancelled:
            return
        except PluginError as failure:
            self.failure = failure

    def cancel(self) -> None:
        """Stop the run if it has not ended."""
        if (run := self._run) is not None:
            run.cancel()

    @property
    def progress(self) -> float:
        """The finished share, 0 to 1."""
        if self.record is not None or self.failure is not None:
            return 1.0
        run = self._run
        return 0.0 if run is None else run.progress


class _IsolatedTask(_Task):
    """One job in a separate process."""

    def __init__(self, job: Job) -> None:
        super().__init__(job, {})
        self._call = IsolatedCall(_do_isolated, job, _code(job))

    def run(self, stop: Event) -> None:
        """Execute the job; called in a worker thread."""
        if stop.is_set():
            return
        try:
            done = self._call.result()
        except ProcessLostError as lost:
            if not self._call.is_stopped:
                self.failure = crash_error(_code(self.job), str(lost), lost.stack, _name(self.job))
            return
        if isinstance(done, RunRecord):
            self.record = done
        else:
            self.failure = PluginError(done)

    def cancel(self) -> None:
        """Stop the run if it has not ended."""
        self._call.stop()

    @property
    def progress(self) -> float:
        """The finished share, 0 to 1."""
        return 1.0 if self.record is not None or self.failure is not None else self._call.progress


def _do_isolated(report: Callable[[float], None], job: Job, code: Sequence[str]) -> RunRecord | str:
    """Execute a job in the process of an `IsolatedCall`; return the run, or the error of the user's code."""
    load_allowed(code)
    task, done = _Task(job, _read_all([job])), Event()

    def watch() -> None:
        while not done.wait(_WATCH_EVERY_S):
            report(task.progress)

    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    try:
        task.run(Event())
    finally:
        done.set()
        watcher.join()
    return str(task.failure) if task.record is None else task.record


def _code(job: Job) -> tuple[str, ...]:
    """Return the schemes of a job that are code of the user."""
    return tuple(sorted(kinds_of_code(job.plan)))


def _is_long(jobs: Sequence[Job]) -> bool:
    """Return whether several runs have Python code, and take longer than the start of processes."""
    python = [job for job in jobs if any(is_python(scheme) for scheme in _code(job))]
    return len(python) > 1 and sum(packets(job.scenario.resolved) for job in python) >= _LONG_PACKETS


def _name(job: Job) -> str:
    """Return scheme and seed of a job, for messages."""
    return f"{job.scheme}, seed {job.seed}"


_WATCH_EVERY_S = 0.1


def _watch(
    futures: Sequence[Future[None]],
    tasks: Sequence[_Task],
    request: InterruptRequest,
    on_progress: Callable[[float], None],
) -> None:
    """Wait for all jobs; raise the first failure, or `KeyboardInterrupt`, as soon as it occurs."""
    waiting = set(futures)
    while waiting:
        request.raise_if_made()
        done, waiting = wait(waiting, timeout=_WATCH_EVERY_S, return_when=FIRST_COMPLETED)
        for future in done:
            future.result()
        on_progress(sum(task.progress for task in tasks) / len(tasks))
    request.raise_if_made()


def _read_all(jobs: Sequence[Job]) -> dict[TraceInput, _core.Trace]:
    """Read every trace once, even if several runs use it."""
    traces: dict[TraceInput, _core.Trace] = {}
    for job in jobs:
        for trace in job.scenario.traces:
            if trace not in traces:
                traces[trace] = read_trace(trace)
    return traces


def _ready(job: Job, traces: list[_core.Trace]) -> EngineRun:
    """Return a job that is ready to run on its backend."""
    try:
        return BACKENDS[job.world].make_run(job.placed, traces, job.seed)
    except _core.PlanError as error:
        raise job.scenario.refused(error) from None
    except _core.PluginFailed as error:
        raise plugin_error(error, _name(job)) from error.__cause__


def _record(job: Job, run: EngineRun) -> RunRecord:
    """Execute a run to its end."""
    started = time.perf_counter()
    try:
        with watched(run):
            tables, capture, counts = run.run()
    except _core.PlanError as error:
        raise job.scenario.refused(error) from None
    except _core.PluginFailed as error:
        raise plugin_error(error, _name(job)) from error.__cause__
    except (RuntimeError, OSError) as error:
        # Only errors of the emulator and of quinn; the thread that cancelled a run handles its cancellation.
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
        validity=BACKENDS[job.world].validity(job.placed, counts),
    )
    return replace(record, qlogs=whole_logs(record, counts["logs"]))

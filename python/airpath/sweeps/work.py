"""Running a sweep: each run is done once, and stored as soon as it is finished."""

import queue
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from airpath._os.interrupts import InterruptRequest
from airpath.sweeps.engine import Engine, Pending, ResultLostError, RetriesExhaustedError, WorkerLostError
from airpath.sweeps.part import Part, PartStore
from airpath.sweeps.plan import SweepPlan, SweepRun
from airpath.sweeps.task import Failure, digest_of_input

_LOOK_EVERY_S = 0.2
ASK_EVERY_S = 5.0
"""Interval in seconds at which the engine is polled for its slots, and for the reason of a stall."""
WRITERS = 4
"""Number of threads that force finished runs to disk, which takes longer than a short run."""
MOST_WRITING = 16
"""Largest number of finished runs that wait for the disk."""


@dataclass
class Progress:
    """The progress of the work."""

    total: int
    """Number of runs of the sweep."""
    kept: int = 0
    """Number of runs that were finished earlier."""
    done: int = 0
    """Number of runs that were finished now."""
    failures: dict[int, tuple[SweepRun, str]] = field(default_factory=dict)
    """Failed runs by number, with the reason."""

    @property
    def finished(self) -> int:
        """Number of finished runs, including failed ones."""
        return self.kept + self.done + len(self.failures)

    @property
    def share(self) -> float:
        """The finished share of the runs that were missing, 0 to 1."""
        missing = self.total - self.kept
        return (self.done + len(self.failures)) / missing if missing else 1.0


def missing_runs(plan: SweepPlan, store: PartStore, progress: Progress) -> Iterator[SweepRun]:
    """Yield the runs that are not in the store, in order; count the others."""
    for run in plan.runs():
        part = store.get(run.task.key)
        if part is not None and is_current(part):
            progress.kept += 1
        else:
            yield run


def is_current(part: Part) -> bool:
    """Return whether the traces and the code that a run has read are unchanged."""
    try:
        return all(digest_of_input(Path(path)) == digest for path, digest in part.inputs.items())
    except OSError:
        return False


def do_runs(
    runs: Iterator[SweepRun],
    engine: Engine,
    store: PartStore,
    progress: Progress,
    on_progress: Callable[[float], None],
    on_stall: Callable[[str], None] = lambda _why: None,
) -> None:
    """Execute runs and store each result; a failing run does not stop the others.

    Only as many runs as the engine has slots are in memory.

    Parameters
    ----------
    runs
        The runs.
    engine
        The engine that computes them.
    store
        The store of finished runs.
    progress
        Counts finished and failed runs.
    on_progress
        Called with the finished share, 0 to 1.
    on_stall
        Called with the reason when the engine reports that nothing is being computed; once for each stall.

    Raises
    ------
    KeyboardInterrupt
        On Ctrl-C; finished runs are kept.
    EngineError
        If the engine cannot continue; finished runs are kept.
    """
    with InterruptRequest() as request, ThreadPoolExecutor(WRITERS, "airpath-keep") as writers:
        work = _Work(engine, store, progress, request, on_progress, on_stall, writers)
        try:
            work.do(runs)
        finally:
            # Finished runs are stored after an error, too.
            work.keep_all()


class _Work:
    """The runs that are pending."""

    def __init__(
        self,
        engine: Engine,
        store: PartStore,
        progress: Progress,
        request: InterruptRequest,
        on_progress: Callable[[float], None],
        on_stall: Callable[[str], None],
        writers: ThreadPoolExecutor,
    ) -> None:
        self._writers = writers
        self._writing: deque[Future[None]] = deque()
        self._engine, self._store, self._progress = engine, store, progress
        self._request, self._on_progress, self._on_stall = request, on_progress, on_stall
        self._under_way: dict[int, tuple[SweepRun, Pending]] = {}
        # Engines report finished tasks from their own threads; the main thread handles them from this queue.
        self._finished: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._suspects: deque[SweepRun] = deque()
        # Time of the last finished task, or of the last stall query, and the engine's answer.
        self._looked_at, self._stalled = time.monotonic(), ""

    def do(self, runs: Iterator[SweepRun]) -> None:
        """Execute all runs; after a worker died, its runs one at a time, to find the fatal one."""
        slots, asked_at = self._engine.slots, time.monotonic()
        more = True
        while more or self._under_way or self._suspects:
            if time.monotonic() - asked_at > ASK_EVERY_S:
                slots, asked_at = self._engine.slots, time.monotonic()
            while more and not self._suspects and len(self._under_way) < slots:
                run = next(runs, None)
                more = run is not None
                if run is not None:
                    self._submit(run)
            if self._under_way:
                self._wait_for_one(alone=False)
            elif self._suspects:
                self._engine.restart()
                self._submit(self._suspects.popleft())
                self._wait_for_one(alone=True)
                slots = self._engine.slots

    def _submit(self, run: SweepRun) -> None:
        self._await(run, self._engine.submit(run.task))

    def _await(self, run: SweepRun, pending: Pending) -> None:
        self._under_way[run.number] = run, pending
        pending.add_done_callback(lambda _: self._finished.put(run.number))

    def _next_finished(self) -> int:
        while True:
            self._request.raise_if_made()
            with suppress(queue.Empty):
                return self._finished.get(timeout=_LOOK_EVERY_S)
            self._look_for_stall()

    def _look_for_stall(self) -> None:
        if time.monotonic() - self._looked_at > ASK_EVERY_S:
            said, self._stalled = self._stalled, self._engine.stalled()
            if self._stalled and not said:
                self._on_stall(self._stalled)
            self._looked_at = time.monotonic()

    def _wait_for_one(self, *, alone: bool) -> None:
        number = self._next_finished()
        run, pending = self._under_way.pop(number)
        try:
            outcome = self._engine.result(pending)
        except ResultLostError:
            self._await(run, pending)
            self._look_for_stall()
            return
        except WorkerLostError:
            if not alone:
                self._suspects.append(run)
                return
            self._engine.restart()
            outcome = Failure.lost(run.task, "its worker process died")
        except RetriesExhaustedError:
            outcome = Failure.lost(run.task, "its worker died again and again")
        self._looked_at, self._stalled = time.monotonic(), ""
        if isinstance(outcome, Failure):
            self._progress.failures[number] = run, outcome.message
        else:
            self._writing.append(self._writers.submit(self._store.put, run.task.key, outcome))
            while len(self._writing) > MOST_WRITING:
                self._kept_one()
        while self._writing and self._writing[0].done():
            self._kept_one()
        self._on_progress(self._progress.share)

    def keep_all(self) -> None:
        """Wait until every finished run is on disk."""
        while self._writing:
            self._kept_one()

    def _kept_one(self) -> None:
        self._writing.popleft().result()
        self._progress.done += 1

"""Executing the runs that figures need: each once, stored as soon as it is finished."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from airpath._os.interrupts import InterruptRequest
from airpath._os.processes import WorkerPool
from airpath.errors import AirpathError, OutputError
from airpath.scenario import Scenario
from airpath_papers.experiment import Experiment
from airpath_papers.figure import Figure, FigureRuns
from airpath_papers.kept_run import PRELOADED, keep_runs
from airpath_papers.run_data import RunData
from airpath_papers.store import RunStore

_LOOK_EVERY_S = 0.2
_PARTS_FOR_EACH_WORKER: Final = 200
"""Smallest number of pieces into which a worker's share is cut, if runs are short enough."""


class Interrupted(KeyboardInterrupt):
    """The work was interrupted (Ctrl-C); finished runs are in the store.

    Attributes
    ----------
    finished
        Number of missing runs that were finished.
    asked
        Number of missing runs.
    """

    def __init__(self, finished: int, asked: int) -> None:
        super().__init__(f"interrupted after {finished} of {asked} runs")
        self.finished = finished
        self.asked = asked


@dataclass(frozen=True)
class MissingRun:
    """A run that is not in the store."""

    key: str
    """The key under which it will be stored, together with its seed."""
    experiment: Experiment
    """The experiment."""
    repetition: int
    """The index of the repetition, from 0."""
    size: float
    """Estimated amount of work, in arbitrary units."""

    @property
    def seed(self) -> int:
        """The seed of the run."""
        return self.experiment.seed + self.repetition


def missing_runs(experiments: Iterable[Experiment], store: RunStore) -> list[MissingRun]:
    """Return the runs that are not in the store, each once even if several experiments share it."""
    missing: dict[tuple[str, int], MissingRun] = {}
    for experiment in experiments:
        key = experiment.key()
        wanted = [
            repetition
            for repetition in range(experiment.repetitions)
            if (key, experiment.seed + repetition) not in missing
            and not store.holds(key, experiment.seed + repetition)
        ]
        if wanted:
            size = _size(experiment.resolve())
            missing |= {
                (key, experiment.seed + repetition): MissingRun(key, experiment, repetition, size)
                for repetition in wanted
            }
    return list(missing.values())


def do_runs(
    runs: Sequence[MissingRun], store: RunStore, workers: int, on_progress: Callable[[float], None]
) -> None:
    """Execute runs in worker processes, each of which stores its runs; the longest first.

    Parameters
    ----------
    runs
        The runs.
    store
        The store of finished runs.
    workers
        Number of simultaneous runs.
    on_progress
        Called from time to time with the finished share, 0 to 1.

    Raises
    ------
    Interrupted
        On Ctrl-C, after the finished runs were stored.
    AirpathError
        If a run fails; earlier finished runs are stored.
    """
    if not runs:
        return
    size = sum(run.size for run in runs)
    work = _Work(size, on_progress)
    try:
        with InterruptRequest() as request, WorkerPool(workers, PRELOADED) as pool:
            # The longest first, so that no processor waits for a long run at the end.
            longest_first = sorted(runs, key=lambda run: run.size, reverse=True)
            for part in _parts(longest_first, size / (workers * _PARTS_FOR_EACH_WORKER)):
                repetitions = [run.repetition for run in part]
                work.add(pool.submit(keep_runs, part[0].experiment, repetitions, store, part[0].key), part)
                # One more than the workers, so that the next part is ready when one is done.
                work.wait(request, 2 * workers - 1)
            work.wait(request, 0)
    except KeyboardInterrupt:
        raise Interrupted(work.finished, len(runs)) from None


def runs_of(figure: Figure, store: RunStore) -> FigureRuns:
    """Read the runs of a figure.

    Raises
    ------
    OutputError
        If a run is missing or damaged.
    """
    return FigureRuns(
        {
            choice: {label: read_runs(experiment, store) for label, experiment in experiments.items()}
            for choice, experiments in figure.experiments.items()
        }
    )


def read_runs(experiment: Experiment, store: RunStore) -> list[RunData]:
    """Read the repetitions of an experiment, by seed.

    Raises
    ------
    OutputError
        If a run is missing or damaged.
    """
    runs = []
    for seed in range(experiment.seed, experiment.seed + experiment.repetitions):
        data = store.get(experiment.key(), seed)
        if data is None:
            file = store.remove(experiment.key(), seed)
            raise OutputError(
                f"{file}: the run of {experiment.scheme} cannot be read; run the same command to repeat it"
            )
        runs.append(data)
    return runs


def _parts(runs: Iterable[MissingRun], size: float) -> Iterator[list[MissingRun]]:
    """Group consecutive runs of an experiment, up to a size, so that it is resolved once for all of them."""
    # Two experiments may differ only in the seed of their first run.
    for _, repetitions in groupby(runs, key=lambda run: (run.key, run.experiment.seed)):
        part: list[MissingRun] = []
        for run in repetitions:
            if part and sum(one.size for one in part) + run.size > size:
                yield part
                part = []
            part.append(run)
        yield part


class _Work:
    """The runs that are pending."""

    def __init__(self, size: float, on_progress: Callable[[float], None]) -> None:
        self.finished = 0
        self._size, self._done = size, 0.0
        self._on_progress = on_progress
        self._under_way: dict[Future[None], list[MissingRun]] = {}

    def add(self, pending: "Future[None]", part: list[MissingRun]) -> None:
        self._under_way[pending] = part

    def wait(self, request: InterruptRequest, left: int) -> None:
        """Wait until at most `left` parts are pending; raise the first failure that is seen."""
        while len(self._under_way) > left:
            request.raise_if_made()
            for pending in wait(self._under_way, _LOOK_EVERY_S, FIRST_COMPLETED).done:
                part = self._under_way.pop(pending)
                try:
                    pending.result()
                except BrokenProcessPool:
                    raise AirpathError(
                        "a worker process died (killed, or out of memory); finished runs are kept, and fewer"
                        " --jobs need less memory"
                    ) from None
                self.finished += len(part)
                self._done += sum(run.size for run in part)
                self._on_progress(min(self._done / self._size, 1.0))


def _size(scenario: Scenario) -> float:
    """Return the approximate capacity of the recorded links over a run in bits, a measure of its duration."""
    plan, rates = scenario.plan(), scenario.resolved.mean_rate_bps
    recorded = [rates[link["name"]] or 0.0 for link in plan["links"] if link["record"]]
    return float(plan["duration_ns"] * 1e-9 * (1e6 + sum(recorded)))

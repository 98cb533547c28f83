"""Doing the runs that figures need: each once, kept as soon as it is finished."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from airpath.errors import OutputError
from airpath.papers.experiment import Experiment
from airpath.papers.figure import Figure, FigureRuns
from airpath.papers.run_data import RunData, extract
from airpath.papers.store import RunStore
from airpath.results import RunRecord, RunResult
from airpath.scenario import Scenario
from airpath.workers import Job, execute

RUNS_TOGETHER_FOR_EACH_WORKER = 4
"""Runs are handed out and kept in groups: larger ones keep workers busy, smaller ones lose less on Ctrl-C."""


class Interrupted(KeyboardInterrupt):
    """The work was interrupted (Ctrl-C); what was finished is in the store.

    Attributes
    ----------
    finished
        How many of the missing runs were finished.
    asked
        How many were missing.
    """

    def __init__(self, finished: int, asked: int) -> None:
        super().__init__(f"interrupted after {finished} of {asked} runs")
        self.finished = finished
        self.asked = asked


@dataclass(frozen=True)
class MissingRun:
    """A run that is not in the store."""

    key: str
    """Under which it will be kept, with its seed."""
    job: Job
    """How it is done."""


def missing_runs(experiments: Iterable[Experiment], store: RunStore) -> list[MissingRun]:
    """Return the runs that are not in the store, each once however many experiments share it."""
    missing: dict[tuple[str, int], MissingRun] = {}
    for experiment in experiments:
        scenario, key = experiment.resolve(), experiment.key()
        for repetition in range(experiment.repetitions):
            seed = experiment.seed + repetition
            if (key, seed) not in missing and not store.holds(key, seed):
                job = _job(experiment.scheme, scenario, repetition, seed)
                missing[key, seed] = MissingRun(key, job)
    return list(missing.values())


def do_runs(
    jobs: Sequence[MissingRun], store: RunStore, workers: int, on_progress: Callable[[float], None]
) -> None:
    """Do runs and keep each.

    Parameters
    ----------
    jobs
        What to do.
    store
        Where finished runs are kept.
    workers
        How many at the same time.
    on_progress
        Called every now and then with the share that is done, 0 to 1.

    Raises
    ------
    Interrupted
        On Ctrl-C, after the finished runs were kept.
    AirpathError
        If a run fails; those finished before are kept.
    """
    finished = 0

    def keep(run: MissingRun, record: RunRecord) -> None:
        nonlocal finished
        store.put(run.key, run.job.seed, extract(RunResult(record)))
        finished += 1

    try:
        _do_groups(jobs, workers, on_progress, keep)
    except KeyboardInterrupt:
        raise Interrupted(finished, len(jobs)) from None


def runs_of(figure: Figure, store: RunStore) -> FigureRuns:
    """Read the runs of a figure.

    Raises
    ------
    OutputError
        If one is not there or damaged.
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
        If one is not there or damaged.
    """
    runs = []
    for seed in range(experiment.seed, experiment.seed + experiment.repetitions):
        data = store.get(experiment.key(), seed)
        if data is None:
            folder = store.folder / experiment.key()
            raise OutputError(
                f"{folder}: run {seed} of {experiment.scheme} cannot be read; delete this folder"
            )
        runs.append(data)
    return runs


def _do_groups(
    jobs: Sequence[MissingRun],
    workers: int,
    on_progress: Callable[[float], None],
    keep: Callable[[MissingRun, RunRecord], None],
) -> None:
    done = 0
    for group in _groups(jobs, workers * RUNS_TOGETHER_FOR_EACH_WORKER):
        done_before, size = done, len(group)

        def show(share: float, done: int = done_before, size: int = size) -> None:
            on_progress((done + share * size) / len(jobs))

        outcome = execute([run.job for run in group], workers, show)
        # By the job itself: runs over different traces can have the same plan.
        by_job = {id(run.job): run for run in group}
        for job, record in outcome.finished:
            keep(by_job[id(job)], record)
        if outcome.interrupted:
            raise KeyboardInterrupt
        done += size


def _job(scheme: str, scenario: Scenario, repetition: int, seed: int) -> Job:
    resolved = scenario.resolved
    names = [flow["name"] for flow in resolved.plan["flows"]]
    flow_schemes = {name: one for name, one in zip(names, resolved.schemes, strict=True) if one is not None}
    groups = dict(zip(names, resolved.groups, strict=True))
    return Job(scheme, scenario, repetition, seed, flow_schemes, groups)


def _groups(jobs: Sequence[MissingRun], size: int) -> Iterator[list[MissingRun]]:
    remaining = iter(jobs)
    while group := list(itertools.islice(remaining, size)):
        yield group

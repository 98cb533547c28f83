"""Doing runs by the real clock: one after another, each kept as soon as it is finished."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from airpath.results import RunResult
from airpath.workers import Job, execute
from airpath_papers.kept_run import job_of
from airpath_papers.run_data import RunData, extract
from airpath_papers.store import RunStore
from airpath_papers.work import Interrupted, MissingRun

TRIES: Final = 2
"""How often a run is done at most until the emulator calls it valid; the last one is kept."""
AROUND_S: Final = 1.5
"""What making hosts and reading results takes around a run, about."""


def real_seconds(runs: Sequence[MissingRun]) -> float:
    """Return how long runs take by the real clock if all are valid at once."""
    return sum(_seconds(run) + AROUND_S for run in runs)


def do_real_runs(
    runs: Sequence[MissingRun],
    store: RunStore,
    on_progress: Callable[[float], None],
    on_invalid: Callable[[str], None] = lambda _text: None,
) -> None:
    """Do runs one after another.

    A run that the emulator calls invalid is repeated, `TRIES` in all; what is kept then says why it should
    not be trusted.

    Parameters
    ----------
    runs
        What to do.
    store
        Where finished runs are kept.
    on_progress
        Called every now and then with the share that is done, 0 to 1.
    on_invalid
        Called with a sentence about each invalid run.

    Raises
    ------
    Interrupted
        On Ctrl-C, after the finished runs were kept.
    AirpathError
        If a run fails; those finished before are kept.
    """
    whole, done = real_seconds(runs), 0.0
    for number, run in enumerate(runs):
        share = (_seconds(run) + AROUND_S) / whole
        data = _tried(run, _part_of(on_progress, done, share), on_invalid)
        if data is None:
            raise Interrupted(number, len(runs))
        store.put(run.key, run.seed, data)
        done += share


def _tried(
    run: MissingRun, on_progress: Callable[[float], None], on_invalid: Callable[[str], None]
) -> RunData | None:
    """Do a run until it is valid, `TRIES` times at most; `None` if it was interrupted."""
    job = job_of(run.experiment, run.repetition)
    data: RunData | None = None
    for left in reversed(range(TRIES)):
        data = _run(job, on_progress)
        if data is None or not data.problems:
            break
        then = "it is repeated" if left else "it is kept, and the report says so"
        on_invalid(
            f"{run.experiment.scheme}, seed {run.seed}: not valid ({'; '.join(data.problems)}); {then}"
        )
    return data


def _run(job: Job, on_progress: Callable[[float], None]) -> RunData | None:
    """Do a run; `None` if it was interrupted."""
    began = time.process_time()
    outcome = execute([job], 1, on_progress)
    if outcome.interrupted:
        return None
    data = extract(RunResult(outcome.records[0]))
    return replace(data, cpu_s=time.process_time() - began)


def _part_of(on_progress: Callable[[float], None], done: float, share: float) -> Callable[[float], None]:
    """Return what tells the progress of a part of the work as that of the whole."""
    return lambda part: on_progress(done + part * share)


def _seconds(run: MissingRun) -> float:
    return float(run.experiment.resolve().plan()["duration_ns"]) * 1e-9

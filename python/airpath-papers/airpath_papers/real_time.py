"""Executing runs in real time: one after another, each stored as soon as it is finished."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from airpath._run.workers import Job, execute
from airpath.results import RunResult
from airpath_papers.kept_run import job_of
from airpath_papers.run_data import RunData, extract
from airpath_papers.store import RunStore
from airpath_papers.work import Interrupted, MissingRun

TRIES: Final = 2
"""Largest number of attempts until the emulator reports a valid run; the last attempt is stored."""
AROUND_S: Final = 1.5
"""Approximate overhead of a run for creating hosts and reading results."""


def real_seconds(runs: Sequence[MissingRun]) -> float:
    """Return the real time that runs take if all are valid at the first attempt."""
    return sum(_seconds(run) + AROUND_S for run in runs)


def do_real_runs(
    runs: Sequence[MissingRun],
    store: RunStore,
    on_progress: Callable[[float], None],
    on_invalid: Callable[[str], None] = lambda _text: None,
) -> None:
    """Execute runs one after another.

    A run that the emulator reports as invalid is repeated, up to `TRIES` attempts; the stored run then
    contains the reason not to trust it.

    Parameters
    ----------
    runs
        The runs.
    store
        The store of finished runs.
    on_progress
        Called from time to time with the finished share, 0 to 1.
    on_invalid
        Called with a sentence about each invalid run.

    Raises
    ------
    Interrupted
        On Ctrl-C, after the finished runs were stored.
    AirpathError
        If a run fails; earlier finished runs are stored.
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
    """Repeat a run until it is valid, at most `TRIES` times; `None` if it was interrupted."""
    job = job_of(run.experiment, run.repetition)
    data: RunData | None = None
    for left in reversed(range(TRIES)):
        data = _run(job, on_progress)
        if data is None or not data.problems:
            break
        then = "it is repeated" if left else "it is kept, and the report marks it"
        on_invalid(
            f"{run.experiment.scheme}, seed {run.seed}: not valid ({'; '.join(data.problems)}); {then}"
        )
    return data


def _run(job: Job, on_progress: Callable[[float], None]) -> RunData | None:
    """Execute a run; `None` if it was interrupted."""
    began = time.process_time()
    outcome = execute([job], 1, on_progress)
    if outcome.interrupted:
        return None
    data = extract(RunResult(outcome.records[0]))
    return replace(data, cpu_s=time.process_time() - began)


def _part_of(on_progress: Callable[[float], None], done: float, share: float) -> Callable[[float], None]:
    """Return a callback that reports the progress of a part of the work as progress of the whole."""
    return lambda part: on_progress(done + part * share)


def _seconds(run: MissingRun) -> float:
    return float(run.experiment.resolve().plan()["duration_ns"]) * 1e-9

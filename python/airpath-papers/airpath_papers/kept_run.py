"""Executing runs and storing them; the functions that worker processes call."""

import time
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from airpath._backends import BACKENDS
from airpath._run.workers import Job, run_job
from airpath.results import RunResult
from airpath_papers.experiment import Experiment
from airpath_papers.run_data import extract
from airpath_papers.store import RunStore

PRELOADED: Final = (__name__,)
"""Modules that workers import."""


def keep_runs(experiment: Experiment, repetitions: Iterable[int], store: RunStore, key: str) -> None:
    """Execute repetitions of an experiment one after another, and store each (`keep_run`)."""
    for repetition in repetitions:
        keep_run(experiment, repetition, store, key)


def keep_run(experiment: Experiment, repetition: int, store: RunStore, key: str) -> None:
    """Execute one repetition of an experiment and store it.

    Parameters
    ----------
    experiment
        The experiment.
    repetition
        Its index, from 0.
    store
        The store.
    key
        The key of the experiment (`Experiment.key`).

    Raises
    ------
    AirpathError
        If the run fails.
    """
    began = time.process_time()
    # The stored data contain nothing about single packets.
    job = replace(job_of(experiment, repetition), drops=False)
    data = extract(RunResult(run_job(job)))
    store.put(key, job.seed, replace(data, cpu_s=time.process_time() - began))


def job_of(experiment: Experiment, repetition: int) -> Job:
    """Return a repetition of an experiment as a job.

    Raises
    ------
    UsageError
        If the backend of the experiment lacks a scheme, or is not available.
    """
    scenario = experiment.resolve()
    placed = BACKENDS[experiment.world].place(scenario)
    names = [flow["name"] for flow in placed.plan["flows"]]
    schemes = {name: one for name, one in zip(names, placed.schemes, strict=True) if one is not None}
    groups = dict(zip(names, scenario.resolved.groups, strict=True))
    seed = experiment.seed + repetition
    return Job(experiment.scheme, scenario, repetition, seed, schemes, groups, experiment.world)

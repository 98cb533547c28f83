"""Runs of a policy, paired with runs of other schemes."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from gymnasium.utils import seeding
from numpy.typing import NDArray

from airpath._run.workers import Job, execute
from airpath.errors import UsageError
from airpath.learning.episodes import Episodes
from airpath.learning.settings import Settings
from airpath.results import Results
from airpath.runner import Interrupted, RunsFailed, jobs_of, refuse_no_count, refuse_schemes, workers
from airpath.scenario import Scenario
from airpath.scenario.compare import said_of_arguments
from airpath.schemes import AGENT, label_of

Policy = Callable[[NDArray[np.float32]], NDArray[Any]]
"""A function from observations to actions, with a row for each environment."""


def evaluate(
    policy: Policy,
    schemes: Sequence[str] = (),
    *,
    label: str = "agent",
    seed: int = 1,
    repetitions: int = 1,
    jobs: int | None = None,
    options: dict[str, Any] | None = None,
    **arguments: Any,
) -> Results:
    """Run a policy, and other schemes in place of it.

    Repetition k (from 0) uses the seed `seed` + k, and the values that `reset` samples with it. Repetitions
    are therefore paired between the policy and the schemes: same link, same seed, same rivals.

    Parameters
    ----------
    policy
        A function from observations to actions; it is called for all repetitions at once.
    schemes
        Schemes that run in place of the agent, optionally with options.
    label
        Name of the policy in the results.
    seed, repetitions
        Seed of the first repetition, and how many.
    jobs
        Number of simultaneous runs. Default: one for each processor.
    options
        As for `reset`, for all repetitions.
    **arguments
        As for `BottleneckEnv`.

    Returns
    -------
    Results
        The policy's runs, then those of each scheme.

    Raises
    ------
    airpath.errors.UsageError
        If an argument is wrong, a scheme is given twice, or the policy does not return an action for each
        row.
    airpath.errors.ScenarioError
        If the scenario is wrong, or a scheme cannot run in it; checked before the policy is called.
    airpath.Interrupted
        On Ctrl-C while the schemes run; contains the finished runs.
    airpath.errors.PluginError
        If code of the user fails: a `RunsFailed`, which contains the finished runs, if it is one of the
        schemes.
    """
    for name, value, least in (("seed", seed, 0), ("repetitions", repetitions, 1), ("jobs", jobs, 1)):
        refuse_no_count(name, value, least)
    schemes = refuse_schemes(schemes)
    if label in map(label_of, schemes):
        raise UsageError(f'label: found "{label}", which is one of the schemes; accepted: another name')
    settings = Settings(**arguments)
    episodes = Episodes(settings, repetitions, workers(jobs))
    for repetition in range(repetitions):
        generator, _ = seeding.np_random(seed + repetition)
        episodes.begin(repetition, seed + repetition, generator, options)
    rivals = [
        replace(job, repetition=repetition)
        for scheme in schemes
        for repetition in range(repetitions)
        for job in _jobs(episodes.scenario(repetition), scheme, seed + repetition)
    ]
    under_way = np.ones(repetitions, dtype=np.bool_)
    while under_way.any():
        actions = np.asarray(policy(episodes.observations()), dtype=np.float64).reshape(-1)
        if actions.shape != (repetitions,):
            raise UsageError(
                f"policy: found {actions.size} actions; accepted: {repetitions}, one for each row"
            )
        episodes.step(under_way, actions)
        under_way = ~(episodes.terminated | episodes.truncated)
    records = [episodes.record(repetition, label, repetition) for repetition in range(repetitions)]
    episodes.close()
    outcome = execute(rivals, workers(jobs), lambda _: None)
    results = Results.from_records([*records, *outcome.records])
    if outcome.interrupted:
        raise Interrupted(results, len(records) + len(rivals), outcome.failures)
    if outcome.failures:
        raise RunsFailed(results, len(records) + len(rivals), outcome.failures)
    return results


def _jobs(scenario: Scenario, scheme: str, seed: int) -> list[Job]:
    """Return the run of a scenario with a scheme in place of the agent."""
    [place] = [number for number, flow in enumerate(scenario.document.flows) if flow.scheme == AGENT.id]
    with said_of_arguments({f"flows[{place}].scheme": "schemes"}):
        chosen = scenario.override({f"flows.{place}.scheme": scheme})
        return jobs_of(label_of(scheme), chosen, seed, repetitions=1)

"""Episodes of one or many environments: the common part of single and vector environments."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from airpath import _core
from airpath.errors import UsageError
from airpath.learning.actions import Actuators
from airpath.learning.observations import Observer
from airpath.learning.quantities import Measured, Values
from airpath.learning.rewards import rewards
from airpath.learning.settings import Prepared, Settings
from airpath.plugins.failures import plugin_error
from airpath.plugins.specs import engine_plugins
from airpath.results import RunRecord
from airpath.runner import LARGEST_SEED
from airpath.scenario import Scenario
from airpath.schemes import AGENT

Chosen = NDArray[np.bool_]
"""A mask of environments."""


class Episodes:
    """Several environments, each with its own episode.

    Parameters
    ----------
    settings
        Settings of all environments.
    count
        Number of environments.
    threads
        Number of threads that simulate steps.
    """

    def __init__(self, settings: Settings, count: int, threads: int) -> None:
        self.settings = settings
        self._count = count
        self._threads = threads
        self._engine = _core.Episodes(count)
        self._measured = Measured(count, settings.step_s, settings.mss_bytes)
        self._observer = Observer(count, settings.history, settings.privileged, settings.mss_bytes)
        self._actuators = Actuators.of(
            settings.action, count, settings.mss_bytes, settings.largest_window_bytes
        )
        self._episodes: list[tuple[Prepared, int] | None] = [None] * count
        self._records: list[RunRecord | None] = [None] * count
        self._steps = np.zeros(count, dtype=np.int64)
        self._acted = np.zeros((count, settings.steps), dtype=np.float64)
        self.terminated = np.zeros(count, dtype=np.bool_)
        self.truncated = np.zeros(count, dtype=np.bool_)

    def begin(
        self, index: int, seed: int | None, generator: np.random.Generator, options: Mapping[str, Any] | None
    ) -> None:
        """Begin an episode.

        Parameters
        ----------
        index
            The environment.
        seed
            Seed of the run; `None` to sample one.
        generator
            Random generator of the environment.
        options
            As for `reset`.

        Raises
        ------
        UsageError, ScenarioError
            If the options are wrong; the previous episode then continues.
        """
        if seed is not None and not 0 <= seed <= LARGEST_SEED:
            raise UsageError(f"seed: found {seed}; accepted: 0 to {LARGEST_SEED}")
        chosen_seed = int(generator.integers(2**63)) if seed is None else int(seed)
        prepared = self.settings.episode(self.settings.vary.values(generator), options or {})
        try:
            self._engine.begin(
                index, prepared.plan, prepared.traces, chosen_seed, engine_plugins(prepared.code)
            )
        except _core.PlanError as error:
            raise prepared.scenario.refused(error) from None
        except _core.PluginFailed as failed:
            raise plugin_error(failed, f"seed {chosen_seed}") from failed.__cause__
        self._episodes[index], self._records[index] = (prepared, chosen_seed), None
        self._steps[index] = 0
        self.terminated[index] = self.truncated[index] = False
        chosen = np.arange(self._count) == index
        self._actuators.begin(chosen, prepared.initial_window_bytes)
        self._measured.begin(chosen, float(self._actuators.windows[index]) / self.settings.mss_bytes)
        self._observer.begin(chosen, self._measured.values)

    def step(self, chosen: Chosen, actions: NDArray[np.float64]) -> None:
        """Apply an action, and simulate the step that follows, in each chosen environment.

        Raises
        ------
        UsageError
            If an action is not a number, or an episode is over or has not begun.
        PluginError
            If a component in a file fails.
        """
        for index in np.flatnonzero(chosen):
            if self._episodes[index] is None or self.terminated[index] or self.truncated[index]:
                raise UsageError("step: no episode is running; call reset first")
        self._actuators.act(chosen, actions)
        try:
            rows = self._engine.step(
                chosen, self._actuators.windows, self._actuators.rates, self.settings.step_ns, self._threads
            )
        except _core.PluginFailed as failed:
            episode = self._episodes[failed.index]
            assert episode is not None
            raise plugin_error(failed, f"seed {episode[1]}") from failed.__cause__
        self._acted[chosen, self._steps[chosen]] = np.clip(actions[chosen], -1.0, 1.0)
        self._steps[chosen] += 1
        self._measured.update(chosen, rows)
        self._observer.update(chosen, self._measured.values)
        self.terminated = np.where(chosen, self._measured.over, self.terminated)
        self.truncated = np.where(chosen, self._steps == self.settings.steps, self.truncated)

    def rewards(self) -> Values:
        """Return the reward of the last step in each environment."""
        return rewards(self.settings.reward, self._measured.values)

    def observations(self) -> NDArray[np.float32]:
        """Return the observations, one row for each environment: a copy."""
        return self._observer.observations()

    @property
    def values(self) -> Mapping[str, Values]:
        """The quantities of the last step of each environment."""
        return self._measured.values

    def scenario(self, index: int) -> Scenario:
        """Return the scenario of an episode, with its sampled values."""
        episode = self._episodes[index]
        if episode is None:
            raise UsageError("scenario: no episode has started; call reset first")
        return episode[0].scenario

    def record(self, index: int, label: str, repetition: int = 0) -> RunRecord:
        """Return the run of a finished episode.

        Parameters
        ----------
        index
            The environment.
        label
            Name of the agent's scheme in the run.
        repetition
            Its number among runs of that label.

        Raises
        ------
        UsageError
            If the episode is not over.
        """
        episode = self._episodes[index]
        if episode is None or not (self.terminated[index] or self.truncated[index]):
            raise UsageError(
                "results: the episode has not ended; call step until it is terminated or truncated"
            )
        record = self._records[index]
        if record is None:
            record = self._records[index] = self._finish(index, *episode)
        return replace(
            record,
            scheme=label,
            repetition=repetition,
            flow_schemes={
                name: label if scheme == AGENT.id else scheme for name, scheme in record.flow_schemes.items()
            },
        )

    def close(self) -> None:
        """Release all episodes and their resources."""
        self._engine.clear()
        self._episodes, self._records = [None] * self._count, [None] * self._count

    def _finish(self, index: int, prepared: Prepared, seed: int) -> RunRecord:
        """Run an episode to the end of its scenario: other flows may continue after the agent's."""
        try:
            tables, capture, counts = self._engine.finish(index)
        except _core.PluginFailed as failed:
            raise plugin_error(failed, f"seed {seed}") from failed.__cause__
        plan, resolved = json.loads(prepared.plan), prepared.scenario.resolved
        names = [str(flow["name"]) for flow in plan["flows"]]
        schemes = zip(names, resolved.schemes, strict=True)
        acted = self._acted[index, : self._steps[index]]
        return RunRecord(
            scheme=AGENT.id,
            scenario_name=prepared.scenario.name,
            seed=seed,
            repetition=0,
            plan=plan,
            tables=tables,
            capture=capture,
            flow_schemes={name: scheme for name, scheme in schemes if scheme is not None},
            flow_groups=(
                dict(zip(names, resolved.groups, strict=True)) if len(set(resolved.groups)) > 1 else {}
            ),
            quantities=counts["quantities"],
            agent={
                "action": self.settings.action,
                "step_s": self.settings.step_s,
                "steps": len(acted),
                "actions_sha256": hashlib.sha256(acted.astype("<f8").tobytes()).hexdigest(),
            },
        )

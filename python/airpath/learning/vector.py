"""Many environments at once, stepped by the engine in its own threads."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from airpath.errors import UsageError
from airpath.learning.environment import spaces
from airpath.learning.episodes import Chosen, Episodes
from airpath.learning.settings import Settings
from airpath.results import Results
from airpath.runner import refuse_no_count, workers
from airpath.scenario import Scenario

Batch = NDArray[Any]
"""A value for each environment."""


class BottleneckVectorEnv(VectorEnv[Batch, Batch, Batch]):
    """Many environments, each as `airpath.learning.BottleneckEnv` with the same arguments.

    `gymnasium.make_vec("airpath/Bottleneck-v0", num_envs=64, ...)` makes one. Each step is one call of the
    engine for all of them, with the interpreter lock released. Each behaves exactly as a single environment
    with the same seed and actions, for any number of environments and threads.

    Parameters
    ----------
    num_envs
        Number of environments.
    threads
        Number of environments that are stepped at the same time. Default: one for each processor.
    autoreset_mode
        Behaviour at the end of an episode, as Gymnasium defines it: "NextStep" (the next step ignores the
        action and resets), "SameStep" or "Disabled".
    render_mode
        None.
    **arguments
        As for `BottleneckEnv`.
    """

    # Gymnasium declares it as an instance attribute, but reads it from the class before there is an instance.
    metadata: ClassVar[dict[str, Any]] = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}  # type: ignore[misc]

    def __init__(
        self,
        num_envs: int = 1,
        *,
        threads: int | None = None,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
        **arguments: Any,
    ) -> None:
        self.closed = True  # until there is something to close
        refuse_no_count("num_envs", num_envs)
        refuse_no_count("threads", threads)
        if render_mode is not None:
            raise UsageError(f"render_mode: found {render_mode!r}; accepted: None")
        try:
            self._mode = AutoresetMode(autoreset_mode)
        except ValueError:
            accepted = ", ".join(mode.value for mode in AutoresetMode)
            raise UsageError(f"autoreset_mode: found {autoreset_mode!r}; accepted: {accepted}") from None
        self.metadata = {**type(self).metadata, "autoreset_mode": self._mode}  # type: ignore[misc]
        self.num_envs = num_envs
        self._settings = Settings(**arguments)
        self._episodes = Episodes(self._settings, num_envs, workers(threads))
        self.single_observation_space, self.single_action_space = spaces(self._settings)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._generators: list[np.random.Generator | None] = [None] * num_envs
        self.closed = False

    @property
    def scenario(self) -> Scenario:
        """The scenario of its episodes, without sampled values."""
        return self._settings.scenario

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Batch, dict[str, Any]]:
        """Begin an episode in each environment.

        Parameters
        ----------
        seed
            One seed for each environment, or the first: environment k then has `seed` + k. If absent, seeds
            are sampled.
        options
            As for a single environment; in addition `reset_mask`, a mask of the environments to reset.
        """
        seeds = self._seeds(seed)
        if not isinstance(options, Mapping | None):
            raise UsageError(f"options: found {options!r}; accepted: a dictionary")
        given = dict(options or {})
        mask = given.pop("reset_mask", np.ones(self.num_envs, dtype=np.bool_))
        if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (self.num_envs,):
            raise UsageError(f"options.reset_mask: found {mask!r}; accepted: {self.num_envs} truth values")
        for index in np.flatnonzero(mask):
            self._begin(int(index), seeds[index], given)
        return self._episodes.observations(), self._infos(mask)

    def step(self, actions: Batch) -> tuple[Batch, Batch, Batch, Batch, dict[str, Any]]:
        """Apply an action in each environment, and simulate the step that follows.

        Returns
        -------
        tuple
            Observations, rewards, terminations, truncations, and the quantities of the step.
        """
        numbers = np.asarray(actions, dtype=np.float64).reshape(-1)
        if numbers.shape != (self.num_envs,):
            raise UsageError(
                f"actions: found {numbers.size}; accepted: {self.num_envs}, one for each environment"
            )
        episodes, everyone = self._episodes, np.ones(self.num_envs, dtype=np.bool_)
        over = episodes.terminated | episodes.truncated
        if self._mode is not AutoresetMode.NEXT_STEP:
            over = ~everyone
        episodes.step(~over, numbers)
        # Before new episodes begin: reward functions must not see steps that did not happen.
        rewards = np.where(over, 0.0, episodes.rewards())
        for index in np.flatnonzero(over):
            self._begin(int(index), None, {})
        terminated, truncated = episodes.terminated.copy(), episodes.truncated.copy()
        infos: dict[str, Any] = {}
        if self._mode is AutoresetMode.SAME_STEP and (ended := terminated | truncated).any():
            infos = self._final(ended)
            for index in np.flatnonzero(ended):
                self._begin(int(index), None, {})
        return episodes.observations(), rewards, terminated, truncated, infos | self._infos(everyone)

    def results(self, label: str = "agent", environments: Sequence[int] | None = None) -> Results:
        """Return the results of finished episodes, each as a repetition.

        Parameters
        ----------
        label
            Name of the agent's scheme in the results.
        environments
            The environments. Default: all.

        Raises
        ------
        airpath.errors.UsageError
            If one of the episodes is not over.
        """
        numbers = range(self.num_envs) if environments is None else environments
        if wrong := [number for number in numbers if not 0 <= number < self.num_envs]:
            raise UsageError(f"environments: found {wrong[0]}; accepted: 0 to {self.num_envs - 1}")
        return Results.from_records(
            [self._episodes.record(index, label, repetition) for repetition, index in enumerate(numbers)]
        )

    def close_extras(self, **_: Any) -> None:
        """Release all runs."""
        self._episodes.close()

    # In Gymnasium this is a settable generator or tuple; here it is derived from the environments.
    @property  # type: ignore[misc]
    def np_random(self) -> tuple[np.random.Generator, ...]:  # type: ignore[override]
        """Random generator of each environment."""
        return tuple(self._generator(index) for index in range(self.num_envs))

    def _seeds(self, seed: int | Sequence[int | None] | None) -> list[int | None]:
        if seed is None:
            return [None] * self.num_envs
        if isinstance(seed, int | np.integer):
            return [int(seed) + index for index in range(self.num_envs)]
        if len(seed) != self.num_envs:
            raise UsageError(f"seed: found {len(seed)} seeds; accepted: one, or {self.num_envs}")
        return list(seed)

    def _generator(self, index: int) -> np.random.Generator:
        generator = self._generators[index]
        if generator is None:
            generator, _ = seeding.np_random()
            self._generators[index] = generator
        return generator

    def _begin(self, index: int, seed: int | None, options: dict[str, Any]) -> None:
        if seed is not None:
            self._generators[index], _ = seeding.np_random(seed)
        self._episodes.begin(index, seed, self._generator(index), options)

    def _infos(self, chosen: Chosen) -> dict[str, Any]:
        """Return the quantities, and for each of them a mask of the environments in which it is known."""
        infos: dict[str, Any] = {}
        for name, value in self._episodes.values.items():
            infos[name], infos[f"_{name}"] = np.where(chosen, value, 0.0), chosen.copy()
        return infos

    def _final(self, ended: Chosen) -> dict[str, Any]:
        """Return the final observations and quantities of episodes that restart within the same step."""
        observations = np.full(self.num_envs, None, dtype=object)
        for index in np.flatnonzero(ended):
            observations[index] = self._episodes.observations()[index]
        return {
            "final_obs": observations,
            "_final_obs": ended.copy(),
            "final_info": self._infos(ended),
            "_final_info": ended.copy(),
        }

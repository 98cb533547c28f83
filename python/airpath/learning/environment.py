"""One environment for reinforcement learning."""

from typing import Any, ClassVar

import gymnasium
import numpy as np
from numpy.typing import NDArray

from airpath.errors import UsageError
from airpath.learning.episodes import Episodes
from airpath.learning.observations import FEATURES, PRIVILEGED_FEATURES, Observer
from airpath.learning.rewards import single_reward
from airpath.learning.settings import Settings
from airpath.results import Results
from airpath.scenario import Scenario

Observation = NDArray[np.float32]
"""An observation: see `airpath.learning.FEATURES`."""
Action = NDArray[np.float32]
"""An action: see `airpath.learning.ACTIONS`."""


class BottleneckEnv(gymnasium.Env[Observation, Action]):
    """A sender over a simulated network; an agent sets its window or rate at each step.

    `gymnasium.make("airpath/Bottleneck-v0", ...)` makes one, once `airpath.learning` is imported. An episode
    is a run; `reset(seed=...)` sets its seed, and the same seed and actions give the same bytes. It is
    truncated when the duration is over, and terminated when the agent's flow has sent all of its data; a
    long-lived flow never terminates.

    Parameters
    ----------
    link
        A rate ("12mbps"), the name of a shipped link, or a file with a trace. Default: "lte.down".
    rtt
        Base round-trip time. Default: that of the named link, else 40 ms.
    buffer
        Limit of the queue. Default: that of the named link, else one bandwidth-delay product.
    loss
        Probability that a packet is corrupted, independently of others. Default: none.
    rivals
        Schemes of long-lived flows over the same link.
    scenario
        A scenario instead of all of these, in which one flow has the scheme `agent`; other flows, routers and
        cross traffic are as written. Its `record.interval` is set to the step.
    override
        Changes to the scenario, with keys as for `vary`: `{"flows.0.scheme": "agent"}`.
    duration
        Length of an episode. Default: 30 s, or that of the scenario.
    step
        Simulated time from one action to the next; it must divide the duration.
    vary
        Values that are sampled for each episode: a mapping from `link`, `rate`, `rtt`, `buffer`, `loss` or
        any key of a scenario to a range ("5mbps..50mbps log") or a list of values.
    action
        Kind of action: one of `airpath.learning.ACTIONS`.
    largest_window
        Largest window, in packets or bytes; if actions set rates, this is the window.
    history
        Number of steps in an observation, the newest last.
    privileged
        Whether observations contain quantities that no sender can know.
    reward
        The weights of the reward, or a function: see `airpath.learning.Reward`.
    render_mode
        None: an episode is not rendered while it runs. Figures are made from `results`.

    Raises
    ------
    airpath.errors.UsageError
        If an argument is wrong.
    airpath.errors.ScenarioError
        If the scenario is wrong.
    """

    # Gymnasium declares metadata as an instance attribute and spaces of any kind, so type checkers reject
    # these.
    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}  # type: ignore[misc]

    def __init__(self, *, render_mode: str | None = None, **arguments: Any) -> None:
        if render_mode is not None:
            raise UsageError(f"render_mode: found {render_mode!r}; accepted: None")
        self._settings = Settings(**arguments)
        self._episodes = Episodes(self._settings, count=1, threads=1)
        self.observation_space, self.action_space = spaces(self._settings)  # type: ignore[assignment]

    @property
    def scenario(self) -> Scenario:
        """The scenario of its episodes, without sampled values."""
        return self._settings.scenario

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode.

        Parameters
        ----------
        seed
            Seed of the run, and of the values sampled for this episode and later ones. If absent, the seed
            itself is sampled.
        options
            `{"override": {key: value}}`: changes to the scenario in this episode, with keys as for `vary`.

        Returns
        -------
        tuple
            The observation before the first step, and the quantities of a step, all zero except the window.
        """
        super().reset(seed=seed)
        self._episodes.begin(0, seed, self.np_random, options)
        return self._episodes.observations()[0], self._info()

    def step(self, action: Action) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Apply an action, and simulate the step that follows.

        Returns
        -------
        tuple
            Observation, reward, whether the episode is terminated, whether it is truncated, and the
            quantities of the step (`airpath.learning.QUANTITIES`).
        """
        number = np.asarray(action, dtype=np.float64).reshape(-1)
        if number.shape != (1,):
            raise UsageError(f"action: found {action!r}; accepted: one number from -1 to 1")
        self._episodes.step(np.ones(1, dtype=np.bool_), number)
        info = self._info()
        return (
            self._episodes.observations()[0],
            single_reward(self._settings.reward, info),
            bool(self._episodes.terminated[0]),
            bool(self._episodes.truncated[0]),
            info,
        )

    def results(self, label: str = "agent") -> Results:
        """Return the results of the finished episode, as `airpath.run` returns them.

        Parameters
        ----------
        label
            Name of the agent's scheme in the results.

        Raises
        ------
        airpath.errors.UsageError
            If the episode is not over.
        """
        return Results.from_records([self._episodes.record(0, label)])

    def close(self) -> None:
        """Release the run."""
        self._episodes.close()

    def _info(self) -> dict[str, Any]:
        return {name: float(value[0]) for name, value in self._episodes.values.items()}


def spaces(settings: Settings) -> tuple[gymnasium.spaces.Box, gymnasium.spaces.Box]:
    """Return the spaces of observations and actions of one environment."""
    features = FEATURES + (PRIVILEGED_FEATURES if settings.privileged else ())
    low, high = Observer.bounds(features, settings.history)
    return (
        gymnasium.spaces.Box(low, high, dtype=np.float32),
        gymnasium.spaces.Box(-1.0, 1.0, shape=(1,), dtype=np.float32),
    )

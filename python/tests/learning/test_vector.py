"""Many environments at once equal single ones."""

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence

from airpath.errors import UsageError
from airpath.learning import ENVIRONMENT, BottleneckVectorEnv

ARGUMENTS = {
    "link": "lte.down",
    "duration": "1s",
    "vary": {"rtt": "20ms..100ms log", "loss": "0..0.05", "buffer": "20 packets..200 packets"},
    "history": 3,
    "privileged": True,
}
COUNT = 5


def played(envs, steps=25):
    """Reset and step with random actions; more than two episodes each."""
    generator = np.random.default_rng(0)
    actions = generator.uniform(-1, 1, (steps, COUNT, 1)).astype(np.float32)
    return [envs.reset(seed=3), *(envs.step(action) for action in actions)]


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.processes
def test_the_vector_environment_equals_gymnasiums_vector_of_single_environments(mode, threads):
    native = gymnasium.make_vec(
        ENVIRONMENT, num_envs=COUNT, threads=threads, autoreset_mode=mode, **ARGUMENTS
    )
    assert isinstance(native.unwrapped, BottleneckVectorEnv)
    singles = gymnasium.make_vec(
        ENVIRONMENT, COUNT, "sync", vector_kwargs={"autoreset_mode": mode}, **ARGUMENTS
    )
    assert native.single_observation_space == singles.single_observation_space
    assert native.action_space == singles.action_space
    for ours, theirs in zip(played(native), played(singles), strict=True):
        assert data_equivalence(ours, theirs, exact=True)


def test_selected_environments_are_reset():
    envs = BottleneckVectorEnv(3, link="12mbps", duration="1s", autoreset_mode="Disabled")
    envs.reset(seed=1)
    for _ in range(10):
        *_, truncated, infos = envs.step(np.zeros((3, 1)))
    assert truncated.all()
    assert infos["time_s"] == pytest.approx(1.0)
    with pytest.raises(UsageError, match="call reset first"):
        envs.step(np.zeros((3, 1)))
    _, infos = envs.reset(options={"reset_mask": np.array([False, True, False])})
    assert infos["_time_s"].tolist() == [False, True, False]
    assert envs.results(environments=[0, 2]).summary["seed"].to_pylist() == [1, 3]


def test_results_are_repetitions():
    envs = BottleneckVectorEnv(4, link="ebe.random", duration="2s")
    envs.reset(seed=10)
    with pytest.raises(UsageError, match="has not ended"):
        envs.results()
    for _ in range(20):
        envs.step(np.zeros((4, 1)))
    summary = envs.results("mine").summary
    assert summary["seed"].to_pylist() == [10, 11, 12, 13]
    assert summary["repetition"].to_pylist() == [0, 1, 2, 3]
    envs.close()
    with pytest.raises(UsageError, match="has not ended"):
        envs.results()


def test_a_custom_reward_is_called_once_for_all_environments():
    asked = []

    def reward(step):
        asked.append(step["rtt_ms"].copy())
        step["rtt_ms"][:] = -1.0  # a copy: no other code sees it
        return np.sqrt(step["delivery_rate_mbps"])

    envs = BottleneckVectorEnv(3, link="12mbps", reward=reward)
    envs.reset(seed=1)
    _, rewards, *_, infos = envs.step(np.zeros((3, 1)))
    assert rewards == pytest.approx(np.sqrt(infos["delivery_rate_mbps"]))
    assert (infos["rtt_ms"] == asked[0]).all()


def test_a_reward_is_called_for_steps_only():
    """After a reset there is no step from which a function could compute a reward."""
    envs = BottleneckVectorEnv(2, link="12mbps", duration="200ms", reward=lambda step: 1 / step["time_s"])
    envs.reset(seed=1)
    rewards = [envs.step(np.zeros(2))[1].tolist() for _ in range(4)]
    assert rewards == pytest.approx(np.array([[10.0] * 2, [5.0] * 2, [0.0] * 2, [10.0] * 2]))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"num_envs": 0}, "num_envs: found 0"),
        ({"num_envs": 2, "threads": 0}, "threads: found 0"),
        ({"num_envs": 2, "autoreset_mode": "never"}, "accepted: NextStep, SameStep, Disabled"),
        ({"num_envs": 2, "render_mode": "human"}, "render_mode: found 'human'"),
    ],
)
def test_errors_are_reported(arguments, said):
    with pytest.raises(UsageError, match=said):
        BottleneckVectorEnv(link="12mbps", **arguments)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda envs: envs.reset(seed=[1]), "seed: found 1 seeds; accepted: one, or 2"),
        (lambda envs: envs.step(np.zeros(3)), "actions: found 3; accepted: 2"),
        (lambda envs: envs.step(np.array([np.nan, 0.0])), "accepted: numbers from -1 to 1"),
        (lambda envs: envs.results(environments=[2]), "environments: found 2; accepted: 0 to 1"),
        (lambda envs: envs.reset(options={"reset_mask": [True]}), "accepted: 2 truth values"),
        (lambda envs: envs.reset(options=["rate"]), r"options: found \['rate'\]; accepted: a dictionary"),
    ],
)
def test_invalid_calls_are_reported(call, said):
    envs = BottleneckVectorEnv(2, link="12mbps")
    envs.reset(seed=1)
    with pytest.raises(UsageError, match=said):
        call(envs)


def test_a_reward_for_a_single_environment_is_rejected():
    envs = BottleneckVectorEnv(2, link="12mbps", reward=lambda _: 1.0)
    envs.reset(seed=1)
    with pytest.raises(UsageError, match="accepted: 2 numbers"):
        envs.step(np.zeros(2))

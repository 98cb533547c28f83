"""One environment: Gymnasium's interface, and its episodes."""

import gc
import warnings

import gymnasium
import numpy as np
import psutil
import pytest
from gymnasium.utils.env_checker import check_env, data_equivalence

import airpath
from airpath.learning import ENVIRONMENT, FEATURES, PRIVILEGED_FEATURES, QUANTITIES, BottleneckEnv, evaluate
from airpath.results import TABLES

KEEP = np.zeros(1, dtype=np.float32)
"""No change, for an action that is a factor."""


def episode(env, policy, seed=None, options=None):
    """Run an episode; return the rewards and the last info."""
    observation, info = env.reset(seed=seed, options=options)
    rewards, over = [], False
    while not over:
        observation, reward, terminated, truncated, info = env.step(policy(observation, info))
        assert observation in env.observation_space
        rewards.append(reward)
        over = terminated or truncated
    return rewards, info


def same_tables(one, other):
    """Return whether two runs have the same tables, except for the name of the agent."""
    labels = ["scheme", "flow_scheme", "group"]
    for name in TABLES:
        first, second = (
            results.to_pandas(name).drop(columns=labels, errors="ignore") for results in (one, other)
        )
        if not first.equals(second):  # NaN equals NaN
            return False
    return one.flow_series.num_rows > 0


@pytest.mark.parametrize("action", ["window-factor", "window", "rate-factor", "rate"])
@pytest.mark.parametrize("more", [{}, {"history": 4, "privileged": True}])
def test_the_environment_passes_the_checks_of_gymnasium(action, more):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gymnasium.make(ENVIRONMENT, link="12mbps", action=action, duration="2s", **more).unwrapped)


@pytest.mark.parametrize(
    ("arguments", "action", "window"),
    [
        ({}, 0.0, "10 packets"),
        ({"action": "window"}, 0.0, "64 packets"),  # the root of 4096
    ],
)
def test_an_agent_with_a_constant_window_equals_the_scheme_fixed(arguments, action, window):
    def keep(observations):
        return np.full(len(observations), action)

    fixed = f"fixed:window={window}"
    results = evaluate(
        keep, [fixed], link="12mbps", buffer="200 packets", duration="5s", repetitions=2, **arguments
    )
    for repetition in range(2):
        assert same_tables(results.run("agent", repetition), results.run(fixed, repetition))
    assert not same_tables(
        results.run("agent"), evaluate(keep, link="11mbps", buffer="200 packets", duration="5s", **arguments)
    )


def test_additive_increase_and_multiplicative_decrease_fill_a_link():
    env = BottleneckEnv(link="12mbps", duration="30s", action="window")
    window, reduced_s = 10.0, 0.0

    def aimd(_observation, info):
        nonlocal window, reduced_s
        if info["loss_share"] == 0:
            window += 2.0
        elif info["time_s"] > reduced_s + 0.3:  # losses of one window are spread over several steps
            window, reduced_s = window / 2, info["time_s"]
        return np.array([np.log2(window) / 6 - 1])

    _, info = episode(env, aimd, seed=1)
    assert info["time_s"] == pytest.approx(30.0)
    [run] = env.results("aimd").summary.to_pylist()
    assert run["scheme"] == "aimd"
    assert run["seed"] == 1
    assert run["utilisation"] > 0.9
    assert run["loss_rate"] > 0


def test_equal_seeds_and_actions_give_equal_episodes_and_another_seed_does_not():
    def run(seed):
        env = BottleneckEnv(link="ebe.random", duration="20s", history=2, privileged=True)
        generator = np.random.default_rng(5)
        rewards, info = episode(env, lambda *_: generator.uniform(-0.4, 0.5, 1), seed=seed)
        return rewards, info, env.results()

    first, again, other = run(1), run(1), run(2)
    assert data_equivalence(first[:2], again[:2], exact=True)
    assert same_tables(first[2], again[2])
    assert first[0] != other[0]
    records = [results.runs[0].record for results in (first[2], again[2], other[2])]
    hashes = [record.agent["actions_sha256"] for record in records]
    assert hashes == [hashes[0]] * 3
    assert records[0].agent == {
        "action": "window-factor",
        "step_s": 0.1,
        "steps": 200,
        "actions_sha256": hashes[0],
    }


def test_episodes_without_a_seed_continue_the_random_stream():
    def starts():
        env = BottleneckEnv(link="ebe.random", duration="1s", vary={"rtt": "20ms..80ms"})
        seen = []
        for seed in (7, None, None):
            _, info = episode(env, lambda *_: KEEP, seed=seed)
            seen.append((info["rtt_min_ms"], env.results().runs[0].record.seed))
        return seen

    seen = starts()
    assert seen == starts()
    assert seen[0][1] == 7
    assert len({rtt for rtt, _ in seen}) == len({seed for _, seed in seen}) == 3


def test_a_step_reports_the_recorded_values():
    env = BottleneckEnv(link="12mbps", rtt="100ms", buffer="1000 packets", duration="10s", action="window")
    env.reset(seed=1)
    for _ in range(60):
        *_, info = env.step(np.array([7 / 6 - 1]))  # 128 packets; 100 fill the path
    assert set(info) == set(QUANTITIES)
    assert info["time_s"] == pytest.approx(6.0)
    assert info["window_packets"] == 128
    assert info["capacity_mbps"] == pytest.approx(12.0)
    assert info["utilisation"] == pytest.approx(1.0, abs=0.01)
    # Of a packet of 1500 bytes, 1448 are payload.
    assert info["delivery_rate_mbps"] == pytest.approx(12 * 1448 / 1500, rel=0.02)
    assert info["sending_rate_mbps"] == pytest.approx(info["delivery_rate_mbps"], rel=0.02)
    assert info["rtt_ms"] == pytest.approx(128 * 1500 * 8 / 12e3, rel=0.03)
    assert info["rtt_min_ms"] == pytest.approx(101, abs=2)
    assert info["queue_bytes"] / 1500 == pytest.approx(128 - 100, abs=4)
    assert info["loss_share"] == 0


def test_an_observation_is_made_of_the_quantities():
    env = BottleneckEnv(link="12mbps", duration="5s", history=3, privileged=True)
    env.reset(seed=1)
    for _ in range(20):
        observation, *_, info = env.step(np.array([0.2]))
    features = [feature.name for feature in (*FEATURES, *PRIVILEGED_FEATURES)]
    assert env.observation_space.shape == (3 * len(features),)
    seen = dict(zip(features, observation[-len(features) :].astype(float), strict=True))
    assert seen["delivery_rate"] == pytest.approx(np.log2(1 + info["delivery_rate_mbps"]) / 16, rel=1e-5)
    assert seen["rtt_excess"] == pytest.approx(info["rtt_ms"] / info["rtt_min_ms"] - 1, rel=1e-5)
    assert seen["window"] == pytest.approx(np.log2(1 + info["window_packets"]) / 16, rel=1e-5)
    assert seen["capacity"] == pytest.approx(np.log2(1 + 12) / 16, rel=1e-3)
    drain_ms = info["queue_bytes"] * 8 / info["capacity_mbps"] / 1e3
    assert seen["queue"] == pytest.approx(drain_ms / info["rtt_min_ms"], rel=1e-5)
    before = observation[-2 * len(features) : -len(features)]
    after, *_ = env.step(np.array([0.2]))
    assert (after[: len(features)] == before).all()


def test_a_finished_transfer_terminates_its_episode():
    scenario = {
        "name": "transfer",
        "duration": "20s",
        "topology": {"kind": "dumbbell", "bottleneck": {"rate": "12mbps", "delay": "20ms"}},
        "flows": [
            {"name": "file", "scheme": "agent", "traffic": {"kind": "file", "size": "1MB"}},
            {"name": "rival", "scheme": "cubic"},
        ],
    }
    env = BottleneckEnv(scenario=scenario)
    env.reset(seed=1)
    terminated = truncated = False
    while not (terminated or truncated):
        *_, terminated, truncated, info = env.step(KEEP)
    assert (terminated, truncated) == (True, False)
    assert 1 < info["time_s"] < 19
    # The rival runs until the end of the scenario.
    results = env.results("mine")
    assert results.completions["bytes"].to_pylist() == [1_000_000]
    assert dict(zip(*results.flows.select(["group", "flow_scheme"]).columns, strict=True))
    assert results.flow_series["time_s"].to_numpy().max() == pytest.approx(20.0)
    assert results.flows["flow_scheme"].to_pylist() == ["mine", "cubic"]


def test_rates_persist_and_factors_multiply_them():
    env = BottleneckEnv(link="100mbps", duration="3s", action="rate-factor")
    env.reset(seed=1)
    for factor in (1.0, 1.0, 1.0, 0.0, 0.0, 0.0):
        *_, info = env.step(np.array([factor]))
    assert info["pacing_rate_mbps"] == 8
    assert info["sending_rate_mbps"] == pytest.approx(8.0, rel=0.03)


def test_a_custom_reward():
    env = BottleneckEnv(link="12mbps", duration="1s", reward=lambda step: -step["rtt_ms"])
    env.reset(seed=1)
    _, reward, *_, info = env.step(KEEP)
    assert reward == -info["rtt_ms"] < 0


def test_the_default_reward_matches_its_page():
    env = BottleneckEnv(link="12mbps", loss=0.02, duration="2s")
    env.reset(seed=1)
    for _ in range(15):
        _, reward, *_, info = env.step(np.array([0.3]))
    expected = np.log(info["delivery_rate_mbps"]) - 0.5 * np.log(info["rtt_ms"] / info["rtt_min_ms"])
    assert info["loss_share"] > 0
    assert reward == pytest.approx(expected - 10 * info["loss_share"])


def test_results_combine_with_those_of_other_schemes_and_contain_their_provenance(tmp_path):
    from airpath.explorer.writing import write_report
    from airpath.results import write
    from airpath.results.origin import origin_of_this_process
    from airpath.results.provenance import provenance

    results = evaluate(lambda seen: np.zeros(len(seen)), ["cubic"], link="12mbps", duration="2s")
    assert results.schemes == ("agent", "cubic")
    origin = origin_of_this_process()
    facts = provenance(results, "", origin)
    assert facts["runs"][0]["agent"]["steps"] == 20
    assert "agent" not in facts["runs"][1]
    write(results, tmp_path / "out", scenario_text="", origin=origin)
    write_report(results, tmp_path / "out")
    assert "agent" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


def test_abandoned_environments_free_their_memory():
    def abandon(count):
        for _ in range(count):
            env = gymnasium.make(ENVIRONMENT, link="100mbps", duration="10s", action="window")
            env.reset(seed=1)
            for _ in range(20):
                env.step(np.array([0.25]))
        gc.collect()
        return psutil.Process().memory_info().rss

    before, after = abandon(10), abandon(60)
    assert after - before < 10e6  # one kept environment takes over half a megabyte

    env = gymnasium.make(ENVIRONMENT, link="100mbps", duration="10s")
    env.reset(seed=1)
    env.close()
    with pytest.raises(airpath.errors.UsageError, match="call reset first"):
        env.unwrapped.step(KEEP)

"""Each error is one message: the argument, what was found, what is accepted."""

import numpy as np
import pytest

import airpath
from airpath.errors import AirpathError, ScenarioError
from airpath.learning import BottleneckEnv, Reward, evaluate


def dumbbell(*flows, **more):
    bottleneck = {"rate": "12mbps", "delay": "20ms"}
    return {
        "name": "mine",
        "duration": "5s",
        "topology": {"kind": "dumbbell", "bottleneck": bottleneck},
        "flows": list(flows),
        **more,
    }


AGENT = {"name": "flow", "scheme": "agent"}
ARRIVALS = {"kind": "arrivals", "size": "10kB", "mean_interval": "1s"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"action": "windows"}, "action: found 'windows'; did you mean \"window\""),
        ({"history": 0}, "history: found 0; accepted: 1 to 1000 steps"),
        ({"history": True}, "history: found True"),
        ({"largest_window": "0 packets"}, "largest_window: found"),
        ({"largest_window": "1GB"}, 'largest_window: found "1GB"; accepted: 1 to 65536 packets'),
        ({"privileged": 1}, "privileged: found 1; accepted: True, False"),
        ({"reward": 3}, "reward: found 3"),
        ({"step": 0.1}, "step: found the bare number 0.1, which has no unit"),
        ({"step": "0s"}, 'step: found "0s"; it must be more than zero'),
        ({"step": "70ms"}, "step: 70 ms does not divide the duration of 30 s"),
        ({"duration": "10000h", "step": "1ms"}, "memory"),
        ({"duration": "5"}, 'duration: found "5"'),
        ({"link": "lte.dwn"}, 'link: found "lte.dwn".*did you mean "lte.down"'),
        ({"link": 12}, "link: found 12"),
        ({"link": ""}, 'link: found ""'),
        ({"duration": ""}, 'duration: found ""'),
        ({"rtt": "fast"}, 'rtt: found "fast"'),
        ({"buffer": "10"}, 'buffer: found "10"'),
        ({"loss": 2.0}, "loss: found 2"),
        ({"rivals": "cubic"}, r"rivals: found 'cubic'; accepted: a list of schemes"),
        ({"rivals": ["cubik"]}, 'rivals: there is no scheme "cubik"; did you mean "cubic"'),
        ({"rivals": ["agent"]}, '2 flows have the scheme "agent"; accepted: one'),
        ({"render_mode": "human"}, "render_mode: found 'human'"),
        (
            {"vary": {"delay": "1ms..2ms"}},
            "vary: found 'delay'; accepted: link, rate, rtt, buffer, loss, or a path",
        ),
        ({"vary": {"rtt": "1ms"}}, "vary.rtt: found '1ms'; accepted: \"LOW..HIGH\""),
        ({"vary": {"rtt": "9ms..2ms"}}, "vary.rtt: .* it does not rise"),
        ({"vary": {"loss": "0..0.1 log"}}, "vary.loss: .* its lower end is not above zero"),
        ({"vary": {"rate": "1mbps..2ms"}}, 'vary.rate: found "1mbps..2ms"'),
        ({"vary": {"rate": []}}, "vary.rate: found \\[\\]"),
        ({"vary": ["rate"]}, "vary: found \\['rate'\\]; accepted: keys"),
        ({"override": {"flow.0": 3}}, "flow"),
        ({"override": {"buffer": "3"}}, 'buffer: found "3"'),
        ({"scenario": "nothing"}, "nothing: neither a file nor a shipped scenario"),
        ({"scenario": 3}, "scenario: found 3"),
        ({"scenario": dumbbell(AGENT), "link": "12mbps"}, "link: also given by the scenario"),
        ({"scenario": dumbbell({**AGENT, "scheme": "cubic"})}, 'mine: no flows have the scheme "agent"'),
        ({"scenario": dumbbell({**AGENT, "count": 2})}, 'mine: 2 flows have the scheme "agent"'),
        ({"scenario": dumbbell({**AGENT, "traffic": ARRIVALS})}, "an agent controls one flow"),
        ({"scenario": dumbbell({**AGENT, "parameters": {"window": 3}})}, "window"),
        ({"scenario": dumbbell({**AGENT, "scheme": "agent:rate=3"})}, "rate"),
    ],
)
def test_arguments(arguments, said):
    with pytest.raises(AirpathError, match=said) as caught:
        BottleneckEnv(**arguments)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"rtt": "10ms"}, 'options: found "rtt"; accepted: override'),
        ({"override": 3}, "options.override: found 3"),
        ({"override": {"delay": "1ms"}}, "options.override: found 'delay'"),
        ({"override": {"rtt": "soon"}}, 'rtt: found "soon"'),
        ({"override": {"rate": "soon"}}, 'found "soon"'),
        ({"override": {"topology.bottleneck.delay": "soon"}}, "delay.*soon"),
        ({"override": {"topology.bottleneck.nothing": 1}}, "nothing"),
        ({"override": {"scenario.duration": "2s"}}, "scenario"),
    ],
)
def test_invalid_options_of_a_reset_keep_the_current_episode(options, said):
    env = BottleneckEnv(link="12mbps", duration="1s")
    env.reset(seed=1)
    with pytest.raises(AirpathError, match=said):
        env.reset(options=options)
    *_, info = env.step(np.zeros(1))
    assert info["time_s"] == pytest.approx(0.1)


def test_an_option_holds_for_one_episode():
    env = BottleneckEnv(link="12mbps", duration="1s")
    capacities = []
    for options in (None, {"override": {"rate": "5mbps", "rtt": "10ms"}}, None):
        env.reset(seed=1, options=options)
        *_, info = env.step(np.zeros(1))
        capacities.append(info["capacity_mbps"])
    assert capacities == pytest.approx([12.0, 5.0, 12.0])


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_seeds(seed):
    with pytest.raises(Exception, match=r"[Ss]eed"):
        BottleneckEnv(link="12mbps").reset(seed=seed)


@pytest.mark.parametrize("action", [np.array([np.nan]), np.array([np.inf]), np.zeros(2)])
def test_actions(action):
    env = BottleneckEnv(link="12mbps")
    env.reset(seed=1)
    with pytest.raises(AirpathError, match=r"accepted: (one number|numbers) from -1 to 1"):
        env.step(action)


def test_calls_too_early_or_too_late():
    env = BottleneckEnv(link="12mbps", duration="200ms")
    with pytest.raises(AirpathError, match="call reset first"):
        env.step(np.zeros(1))
    with pytest.raises(AirpathError, match="the episode has not ended"):
        env.results()
    env.reset(seed=1)
    env.step(np.zeros(1))
    with pytest.raises(AirpathError, match="the episode has not ended"):
        env.results()
    env.step(np.zeros(1))
    env.results()
    with pytest.raises(AirpathError, match="call reset first"):
        env.step(np.zeros(1))


@pytest.mark.parametrize("weight", [-1.0, float("nan"), True, "1"])
def test_weights_of_the_reward(weight):
    with pytest.raises(AirpathError, match=r"reward\.delay: found"):
        Reward(delay=weight)


@pytest.mark.parametrize("said", [None, "much", float("nan"), [1.0, 2.0]])
def test_a_reward_that_is_no_number(said):
    env = BottleneckEnv(link="12mbps", reward=lambda _: said)
    env.reset(seed=1)
    with pytest.raises(AirpathError, match=r"reward: the function returned .* accepted: a number"):
        env.step(np.zeros(1))


def test_a_policy_with_too_few_actions():
    with pytest.raises(AirpathError, match="policy: found 1 actions; accepted: 3"):
        evaluate(lambda _: [0.0], repetitions=3, link="12mbps")


@pytest.mark.parametrize(
    ("schemes", "said"),
    [
        ("cubic", 'schemes: found "cubic"; accepted: a list'),
        (["cubic", "cubic"], 'the scheme "cubic" is given twice'),
        (["cubik"], 'schemes: there is no scheme "cubik"; did you mean "cubic"'),
        (["bbr", "agent"], 'schemes: found "agent"; nobody sets anything'),
        (["mine", "cubic"], 'label: found "mine", which is one of the schemes'),
    ],
)
def test_schemes_that_cannot_run_are_rejected_before_the_policy_is_called(schemes, said):
    asked = []
    with pytest.raises(AirpathError, match=f"^{said}"):
        evaluate(asked.append, schemes, label="mine", link="12mbps", duration="1s")
    assert asked == []


def test_a_run_has_no_agent():
    with pytest.raises(ScenarioError, match=r'flows\[0\].scheme: found "agent"; nobody sets anything'):
        airpath.run(dumbbell(AGENT))
    with pytest.raises(AirpathError, match="nobody sets anything"):
        airpath.compare(["cubic", "agent"], "12mbps", duration="1s")


def test_a_shipped_scenario_with_an_agent_in_place_of_a_scheme():
    one = {"flows.0.scheme": "agent", "flows.0.count": 1, "flows.0.direction": "forward"}
    env = BottleneckEnv(scenario="ebe-moving-bottleneck", override=one, duration="2s", step="200ms")
    env.reset(seed=1)
    for _ in range(10):
        *_, truncated, info = env.step(np.zeros(1))
    assert truncated
    assert info["capacity_mbps"] == pytest.approx(10, rel=0.01)
    flows = env.results().flows
    assert flows["flow_scheme"].to_pylist() == ["agent", *["newreno"] * 10]

"""Queues with active management, and schedulers: from the scenario to the plan and through the engine."""

import tomllib
from operator import itemgetter

import pytest
from scenario_tables import assert_complete, dumbbell, plan

import airpath
from airpath.errors import ScenarioError
from airpath.results.observations import OBSERVATIONS
from airpath.scenario import QUEUES, Scenario

MANAGED = {
    "red": {},
    "red, adaptive": {"minimum": "10kB", "maximum": "0.5bdp", "adaptive": True, "unit": "bytes"},
    "rem": {"target": "10ms", "ecn": False},
    "avq": {"capacity": "11mbps"},
    "codel": {"target": "10ms"},
    "fq-codel": {"queues": 16, "quantum": "300B"},
    "pie": {"delay": "departure-rate"},
    "dual-pi2": {},
    "priority": {"classes": [["flow"], []]},
    "drr": {},
    "drr, weighted": {"weights": {"flow": 3}},
    "policer": {"rate": "8mbps", "burst": "30kB"},
}


def table(name):
    """Return the table of a queue with a buffer of one bandwidth-delay product."""
    return {"kind": name.split(",")[0], "limit": "1bdp", **MANAGED[name]}


def management(queue, **changes):
    """Return the management of the bottleneck of 12 Mbit/s with 40 ms of base RTT."""
    return plan(dumbbell(topology__bottleneck__queue=queue, **changes))["links"][0]["queue"]["management"]


def refusal(queue, **changes):
    """Return the message about a scenario that is refused."""
    with pytest.raises(ScenarioError) as raised:
        Scenario.from_dict(dumbbell(topology__bottleneck__queue=queue, **changes)).plan()
    return str(raised.value).removeprefix("scenario: ").removeprefix("topology.bottleneck.queue.")


def test_every_managed_queue_is_tested():
    kinds = {queue.name for queue in QUEUES} - {"drop-tail", "router", "scheme"}
    assert {name.split(",")[0] for name in MANAGED} == kinds


@pytest.mark.parametrize("name", MANAGED)
def test_its_plan_is_accepted_by_the_engine_and_survives_writing(name):
    scenario = Scenario.from_dict(dumbbell(topology__bottleneck__queue=table(name)))
    resolved = scenario.plan()
    assert_complete(resolved)
    assert resolved["links"][0]["queue"]["limit_bytes"] == 60_000
    assert Scenario.from_dict(tomllib.loads(scenario.to_toml())).plan() == resolved
    assert f"managed by {resolved['links'][0]['queue']['management']['kind']}" in scenario.describe()


@pytest.mark.parametrize("name", MANAGED)
def test_it_runs_and_every_quantity_that_it_reports_has_a_meaning(name):
    tables = dumbbell(topology__bottleneck__queue=table(name), duration="3s")
    tables["flows"].append({"name": "other", "scheme": "newreno", "transport": {"ecn": True}})
    results = airpath.run(Scenario.from_dict(tables), progress=False)
    run = results.runs[0]
    found = set(run.link_observations["quantity"].to_pylist())
    assert found
    assert found <= set(OBSERVATIONS)


def test_the_defaults_of_red():
    red = management({"kind": "red", "limit": "1bdp"})
    # 1000 packets per second: half of 5 ms is 2.5 packets, so the lower bound of the minimum applies.
    assert (red["minimum"], red["maximum"], red["weight"]) == (5.0, 15.0, 0.002)
    assert (red["packet"], red["capacity"]) == (1500, 12_000_000)
    fast = management({"kind": "red", "limit": "1bdp"}, topology__bottleneck__rate="120mbps")
    assert (fast["minimum"], fast["maximum"]) == (25.0, 75.0)
    adaptive = management({"kind": "red", "limit": "1bdp", "adaptive": True})
    assert adaptive["weight"] == pytest.approx(9.995e-4)


def test_thresholds_have_the_units_of_buffers():
    # One bandwidth-delay product is 60 kB, 40 packets.
    for written in ("10 packets", "15kB", "10ms", "0.25bdp"):
        assert management({"kind": "red", "limit": "1bdp", "minimum": written})["minimum"] == 10.0
        assert management({"kind": "rem", "limit": "1bdp", "target": written})["target"] == 10.0
    halved = {"kind": "red", "limit": "1bdp", "minimum": "15kB", "packet": "750B"}
    assert management(halved)["minimum"] == 20.0


def test_rem_drops_or_marks_or_only_marks():
    rem = {"kind": "rem", "limit": "1bdp"}
    response = itemgetter("ecn", "unmarkable")
    assert response(management(rem)) == (True, "drop")
    assert response(management({**rem, "unmarkable": "pass"})) == (True, "pass")
    assert response(management({**rem, "ecn": False})) == (False, "drop")


def test_queues_with_many_packets_need_no_limit():
    for kind, packets in (("fq-codel", 10_240), ("dual-pi2", 10_000)):
        queue = plan(dumbbell(topology__bottleneck__queue={"kind": kind}))["links"][0]["queue"]
        assert queue["limit_packets"] == packets


def test_classes_follow_the_entries_of_flows():
    flows = [
        {"name": "bulk", "scheme": "cubic", "count": 2},
        {"name": "voice", "traffic": {"kind": "constant-bit-rate", "rate": "64kbps"}},
        {"name": "rest", "scheme": "newreno"},
    ]
    priority = {"kind": "priority", "limit": "1bdp", "classes": [["voice"], ["bulk"]]}
    assert management(priority, flows=flows) == {
        "kind": "priority",
        "classes": 3,
        "class_of_flow": [1, 1, 0, 2],
    }
    drr = {"kind": "drr", "limit": "1bdp", "quantum": "1kB", "weights": {"rest": 2, "voice": 5}}
    assert management(drr, flows=flows) == {
        "kind": "weighted-drr",
        "quanta": [2000, 5000, 1000],
        "class_of_flow": [2, 2, 1, 0],
    }


WRONG = {
    "a minimum that the queue never reaches": (
        {"kind": "red", "limit": "4 packets"},
        "minimum: is 5 packets, and the limit 4: no packet would be marked or dropped before the queue is"
        " full",
    ),
    "a buffer in which no departure rate can be measured": (
        {"kind": "pie", "limit": "8 packets", "delay": "departure-rate"},
        "delay: the departure rate is measured while 17884 bytes wait, and the limit comes to 12000 bytes;"
        " accepted: timestamps",
    ),
    "thresholds the wrong way round": (
        {"kind": "red", "limit": "1bdp", "minimum": "20 packets", "maximum": "20 packets"},
        "maximum: is 20 packets, which is not above the minimum of 20 packets",
    ),
    "a threshold without unit": (
        {"kind": "red", "limit": "1bdp", "minimum": 5},
        "minimum: found the bare number 5, which has no unit; accepted: a threshold such as",
    ),
    "a threshold without end": (
        {"kind": "rem", "limit": "1bdp", "target": "unlimited"},
        'target: found "unlimited"; accepted: a threshold such as "30kB", "20 packets", "5ms" or "0.5bdp"',
    ),
    "a probability beyond one": (
        {"kind": "red", "limit": "1bdp", "max_probability": 1.5},
        "max_probability: ",
    ),
    "a policer without a rate": (
        {"kind": "policer", "limit": "1bdp", "burst": "30kB"},
        "rate: required, but not given",
    ),
    "a bucket that no packet fits into": (
        {"kind": "policer", "limit": "1bdp", "rate": "8mbps", "burst": "1499B"},
        "burst: is 1499 bytes, less than the largest packet of 1500 bytes: no such packet would pass",
    ),
    "no limit": ({"kind": "codel"}, "limit: required, but not given"),
    "a virtual queue without end": (
        {"kind": "avq", "limit": "unlimited"},
        'limit: found "unlimited"; the virtual queue of avq needs a buffer',
    ),
    "a class of nobody": (
        {"kind": "priority", "limit": "1bdp", "classes": [["flaw"]]},
        'classes: there is no flow "flaw"; did you mean "flow"?',
    ),
    "a flow in two classes": (
        {"kind": "priority", "limit": "1bdp", "classes": [["flow"], ["flow"]]},
        'classes: names the flow "flow" twice',
    ),
    "no class": ({"kind": "priority", "limit": "1bdp", "classes": []}, "classes: "),
    "queues and weights": (
        {"kind": "drr", "limit": "1bdp", "weights": {"flow": 2}, "queues": 7},
        'queues: has no effect with "weights", which give each entry one queue',
    ),
    "a weight of nothing": ({"kind": "drr", "limit": "1bdp", "weights": {"flow": 0}}, "weights.flow: "),
    "too great a weight": ({"kind": "drr", "limit": "1bdp", "weights": {"flow": 10**19}}, "weights.flow: "),
    "a limit of marks without marks, red": (
        {"kind": "red", "limit": "1bdp", "ecn": False, "mark_limit": 0.5},
        'mark_limit: has no effect with "ecn = false", which disables marks',
    ),
    "a limit of marks without marks, pie": (
        {"kind": "pie", "limit": "1bdp", "ecn": False, "mark_limit": 0.5},
        'mark_limit: has no effect with "ecn = false", which disables marks',
    ),
    "what cannot be marked without marks": (
        {"kind": "rem", "limit": "1bdp", "ecn": False, "unmarkable": "pass"},
        'unmarkable: has no effect with "ecn = false", which disables marks',
    ),
}


@pytest.mark.parametrize(("queue", "message"), WRONG.values(), ids=WRONG.keys())
def test_invalid_parameters_are_rejected(queue, message):
    assert refusal(queue).startswith(message)


def test_an_unknown_rate_must_be_configured():
    for kind in ("red", "rem", "avq"):
        queue = {"kind": kind, "limit": "100kB"}
        text = refusal(queue, topology__bottleneck__rate="unlimited")
        assert text == "capacity: required: the mean rate of the link is not known"
        flows = [{"name": "flow", "traffic": {"kind": "constant-bit-rate", "rate": "64kbps"}}]
        given = {**queue, "capacity": "10mbps"}
        assert management(given, topology__bottleneck__rate="unlimited", flows=flows)["kind"] == kind

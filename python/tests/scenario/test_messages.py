"""Every kind of error, with the exact message."""

import math

import pytest
from scenario_tables import dumbbell, graph, parking_lot

from airpath.errors import AirpathError, ScenarioError
from airpath.scenario import Scenario

RATE = 'accepted: a rate in bits, such as "10mbps", "1.5 Mbit/s" or "800 kbit/s"'
DURATION = 'accepted: a duration with a unit (ns, us, ms, s, min, h), such as "32ms"'
SPARE = '"xcp-b" gives spare bandwidth and never a capacity'
ENDING = "each also with the ending -ld, which tells losses apart by their cause"
RATE_KEYS = "(accepted: high, hold, initial, kind, low, stream)"

CASES = {
    "unknown key": (
        {"flows__0__cuont": 2},
        'flows[0].cuont: unknown key; did you mean "count"? (accepted: count, direction,'
        " estimators, extra_rtt, from, hop,"
        " measured_at, name, parameters, scheme, start, stop, to, traffic, transport, via)",
    ),
    "unknown key in a nested table": (
        {"record__intervall": "1s"},
        'record.intervall: unknown key; did you mean "interval"? (accepted: capture,'
        " drops, estimate_samples, flow_limits, interval, packets, qlog, warm_up)",
    ),
    "unknown estimator": (
        {"flows__0__estimators": ["sarbe", "sarb"]},
        'flows[0].estimators[1]: there is no estimator "sarb"; did you mean "sarbe"? (nearest: samples,'
        " dynapara; `airpath list estimators` lists all)",
    ),
    "unknown parameter of an estimator": (
        {"flows__0__estimators": ["sarbe:betta=0.8"]},
        'flows[0].estimators[0]: estimator "sarbe" has no parameter "betta"; did you mean "beta"?'
        ' (accepted: beta, interval, resolution, samples, window) (in "sarbe:betta=0.8")',
    ),
    "parameter of an estimator out of range": (
        {"flows__0__estimators": ["sarbe:resolution=0s"]},
        'flows[0].estimators[0]: parameter "resolution" of estimator "sarbe": found "0s"; it must be more'
        ' than zero (in "sarbe:resolution=0s")',
    ),
    "parameter of an estimator below its bound": (
        {"flows__0__estimators": ["hoe:acks=1"]},
        'flows[0].estimators[0]: parameter "acks" of estimator "hoe": found 1; accepted: at least 2'
        ' (in "hoe:acks=1")',
    ),
    "parameters of an estimator that contradict each other": (
        {"flows__0__estimators": ["westwood:interval=5ms"]},
        'flows[0].estimators[0]: estimator "westwood": "interval" not applicable with samples = "per-ack"'
        ' (in "westwood:interval=5ms")',
    ),
    "unknown key without a near one": (
        {"record__xyzzy": 1},
        "record.xyzzy: unknown key (accepted: capture, drops, estimate_samples, flow_limits, interval,"
        " packets, qlog, warm_up)",
    ),
    "unknown key in a table with a kind": (
        {
            "topology__bottleneck__rate": {
                "kind": "uniform",
                "low": "1mbps",
                "high": "2mbps",
                "hold": "1s",
                "hihg": "2mbps",
            }
        },
        f'topology.bottleneck.rate.hihg: unknown key; did you mean "high"? {RATE_KEYS}',
    ),
    "missing": (
        {"flows": [{"scheme": "cubic"}]},
        "flows[0].name: required, but not given",
    ),
    "missing in a table with a kind": (
        {"flows__0__traffic": {"kind": "file"}},
        "flows[0].traffic.size: required, but not given",
    ),
    "bare number": (
        {"topology__bottleneck__rate": 10},
        f"topology.bottleneck.rate: found the bare number 10, which has no unit; {RATE}",
    ),
    "zero rate": (
        {"topology__bottleneck__rate": "0mbps"},
        'topology.bottleneck.rate: found "0mbps"; it must be more than zero',
    ),
    "no rate at all": ({"topology__bottleneck__rate": [1]}, f"topology.bottleneck.rate: found [1]; {RATE}"),
    "unknown kind": (
        {"topology__kind": "dumbel"},
        'topology.kind: found "dumbel" (did you mean "dumbbell"?); accepted: dumbbell, parking-lot, graph',
    ),
    "no kind": (
        {"topology__bottleneck__rate": {"low": "1mbps"}},
        'topology.bottleneck.rate: found a table; accepted: a table with the key "kind"',
    ),
    "not a table": ({"topology": 5}, "topology: found 5; accepted: a table"),
    "not a list": ({"flows": "cubic"}, 'flows: found "cubic"; accepted: a list'),
    "empty list": ({"flows": []}, "flows: found a list of 0; accepted: at least 1"),
    "not a whole number": ({"flows__0__count": "5"}, 'flows[0].count: found "5"; accepted: a whole number'),
    "true is no number": ({"flows__0__count": True}, "flows[0].count: found true; accepted: a whole number"),
    "too small": ({"flows__0__count": 0}, "flows[0].count: found 0; accepted: at least 1"),
    "too large": (
        {"topology__bottleneck__loss": 2},
        "topology.bottleneck.loss: found 2; accepted: at most 1",
    ),
    "neither a number nor a table": (
        {"topology__bottleneck__loss": "1%"},
        'topology.bottleneck.loss: found "1%"; accepted: a number from 0 to 1,'
        ' or a table with the key "kind"',
    ),
    "no such kind of losses": (
        {"topology__bottleneck__loss": {"kind": "gilbrt"}},
        'topology.bottleneck.loss.kind: found "gilbrt" (did you mean "gilbert"?); accepted:'
        " gilbert-elliott, gilbert, netem-gemodel, fading; for independent losses give a plain number,"
        ' not a table: "loss = 0.01"',
    ),
    "a bad state without end": (
        {"topology__bottleneck__loss": {"kind": "gilbert-elliott", "gamma": 0.9, "beta": 1.0}},
        "topology.bottleneck.loss.beta: found 1.0; accepted: less than 1",
    ),
    "a clock of time without its step": (
        {
            "topology__bottleneck__loss": {
                "kind": "gilbert",
                "clock": "time",
                "mean_loss": 0.1,
                "mean_burst": 2.0,
            }
        },
        'topology.bottleneck.loss: "step" is required with clock = "time", and accepted only there',
    ),
    "codes without bits": (
        {
            "topology__bottleneck__loss": {
                "kind": "gilbert-elliott",
                "gamma": 0.9,
                "beta": 0.5,
                "code_rate": 0.9,
            }
        },
        'topology.bottleneck.loss: codes and "step_by_step" need clock = "bit" or clock = "symbol"',
    ),
    "parity without a code": (
        {"topology__bottleneck__loss": {"kind": "fading", "snr": 10, "parity_takes_time": True}},
        'topology.bottleneck.loss: "parity_takes_time" needs "code_rate" or "ack_code_rate"',
    ),
    "bursts that are too short": (
        {"topology__bottleneck__loss": {"kind": "gilbert", "mean_loss": 0.9, "mean_burst": 2.0}},
        "topology.bottleneck.loss.mean_burst: found 2; accepted: from mean_loss / (1 - mean_loss)"
        " to 1e12 times that",
    ),
    "bursts that never end": (
        {"topology__bottleneck__loss": {"kind": "gilbert", "mean_loss": 0.1, "mean_burst": 1e17}},
        "topology.bottleneck.loss.mean_burst: found 1e+17; accepted: at most 1e+12",
    ),
    "netem's bursts that never end": (
        {"topology__bottleneck__loss": {"kind": "netem-gemodel", "p": 0.1, "r": 1e-17}},
        "topology.bottleneck.loss.r: found 1e-17; accepted: at least 1e-12",
    ),
    "netem's bursts that hardly ever begin": (
        {"topology__bottleneck__loss": {"kind": "netem-gemodel", "p": 1e-13, "r": 0.1}},
        "topology.bottleneck.loss.p: found 1e-13; accepted: 0, or from 1e-12 to 1",
    ),
    "bursts that hardly ever begin": (
        {"topology__bottleneck__loss": {"kind": "gilbert", "mean_loss": 1e-12, "mean_burst": 4.0}},
        "topology.bottleneck.loss.mean_burst: found 4; accepted: from mean_loss / (1 - mean_loss)"
        " to 1e12 times that",
    ),
    "a step too short for bursts": (
        {
            "topology__bottleneck__loss": {
                "kind": "gilbert",
                "clock": "time",
                "step": "1ns",
                "mean_loss": 0.1,
                "mean_burst": 2.0,
            }
        },
        "topology.bottleneck.loss.step: found 1 ns; accepted: at least 500 ns with this chain,"
        " whose mean time in each state must be at least 1 us",
    ),
    "a step too short for a chain": (
        {
            "topology__bottleneck__loss": {
                "kind": "gilbert-elliott",
                "clock": "time",
                "step": "10ns",
                "gamma": 0.75,
                "beta": 0.875,
            }
        },
        "topology.bottleneck.loss.step: found 10 ns; accepted: at least 250 ns with this chain,"
        " whose mean time in each state must be at least 1 us",
    ),
    "too many repetitions": (
        {"topology__bottleneck__arq": {"retries": 300, "delay": "8ms"}},
        "topology.bottleneck.arq.retries: found 300; accepted: at most 255",
    ),
    "feedback without a unit": (
        {"topology__bottleneck__arq": {"retries": 3, "delay": 8}},
        "topology.bottleneck.arq.delay: found the bare number 8, which has no unit;"
        ' accepted: a duration with a unit (ns, us, ms, s, min, h), such as "32ms"',
    ),
    "not a flag": ({"record__packets": "yes"}, 'record.packets: found "yes"; accepted: true or false'),
    "not text": ({"title": 5}, "title: found 5; accepted: text"),
    "not one of": (
        {"flows__0__direction": "revers"},
        'flows[0].direction: found "revers" (did you mean "reverse"?); accepted: forward, reverse, both',
    ),
    "bad name": (
        {"name": "a b"},
        'name: found "a b"; accepted: letters, digits, dots, hyphens, underscores and plus signs,'
        " beginning with a letter or digit",
    ),
    "bad draw": (
        {"flows__0__extra_rtt": {"unifrm": ["0ms", "1ms"]}},
        "flows[0].extra_rtt: found {'unifrm': ['0ms', '1ms']};"
        ' accepted: "10ms" or {uniform = ["LOW", "HIGH"]} or {even = ["FIRST", "LAST"]}',
    ),
    "draw upside down": (
        {"flows__0__start": {"uniform": ["2ms", "1ms"]}},
        "flows[0].start: found {'uniform': ['2ms', '1ms']}, whose first value is larger than its second",
    ),
    "bad item of a schedule": (
        {"topology__bottleneck__rate": {"kind": "steps", "steps": [["0s", "1mbps"], ["1", "2mbps"]]}},
        f'topology.bottleneck.rate.steps[1][0]: found "1", which has no unit; {DURATION}',
    ),
    "schedule that is no list": (
        {"topology__bottleneck__rate": {"kind": "steps", "steps": "1mbps"}},
        'topology.bottleneck.rate.steps: found "1mbps"; accepted: a list',
    ),
    "empty schedule": (
        {"topology__bottleneck__rate": {"kind": "steps", "steps": []}},
        "topology.bottleneck.rate.steps: found a list of 0; accepted: at least 1",
    ),
    "item of a schedule without a rate": (
        {"topology__bottleneck__rate": {"kind": "steps", "steps": [["0s"]]}},
        "topology.bottleneck.rate.steps[0][1]: required, but not given",
    ),
    "item of a schedule with two rates": (
        {"topology__bottleneck__rate": {"kind": "steps", "steps": [["0s", "1mbps", "2mbps"]]}},
        "topology.bottleneck.rate.steps[0]: found a list of 3; accepted: 2 values",
    ),
    "bad name of a stream": (
        {
            "topology__bottleneck__rate": {
                "kind": "uniform",
                "low": "1mbps",
                "high": "2mbps",
                "hold": "1s",
                "stream": "a b",
            }
        },
        'topology.bottleneck.rate.stream: found "a b"; accepted: letters, digits, dots, hyphens,'
        " underscores and plus signs, beginning with a letter or digit",
    ),
    "schedule out of order": (
        {"topology__bottleneck__rate": {"kind": "steps", "steps": [["1s", "1mbps"]]}},
        'topology.bottleneck.rate: the starts in "steps" must begin with "0s" and increase',
    ),
    "schedule that repeats too early": (
        {
            "topology__bottleneck__rate": {
                "kind": "steps",
                "steps": [["0s", "1mbps"], ["2s", "3mbps"]],
                "repeat_after": "2s",
            }
        },
        'topology.bottleneck.rate: "repeat_after" must be later than the last start in "steps"',
    ),
    "range upside down": (
        {"topology__bottleneck__rate": {"kind": "uniform", "low": "3mbps", "high": "2mbps", "hold": "1s"}},
        'topology.bottleneck.rate: "low" must not be above "high"',
    ),
    "unknown link": (
        {"topology__bottleneck__rate": {"kind": "link", "name": "lte.dwn"}},
        'topology.bottleneck.rate.name: there is no link "lte.dwn"; did you mean "lte.down"?'
        " (accepted: ebe.bottleneck, ebe.random, lte.down, lte.up)",
    ),
    "unknown scheme": (
        {"flows__0__scheme": "cubik"},
        'flows[0].scheme: there is no scheme "cubik"; did you mean "cubic"?'
        f" (nearest: cubic-ebe, cubic-2008; `airpath list schemes` lists all); {ENDING}",
    ),
    "a source that its protocol cannot use": (
        {"flows__0__scheme": "mpcp-xcp-b"},
        f'flows[0].scheme: there is no scheme "mpcp-xcp-b"; {SPARE}, which mpcp needs; it works with xcp',
    ),
    "the same by its short name": (
        {"flows__0__scheme": "vcp-b-ld"},
        f'flows[0].scheme: there is no scheme "vcp-b-ld"; {SPARE}, which vcp needs; it works with xcp',
    ),
    "option without value": (
        {"flows__0__scheme": "cubic:beta"},
        'flows[0].scheme: found "beta" in "cubic:beta"; accepted: options of the form name=value',
    ),
    "unknown parameter": (
        {"flows__0__scheme": "cubic:betta=0.7"},
        'flows[0].parameters.betta: unknown key; did you mean "beta"?'
        ' (accepted: beta, c, fast_convergence, reno_friendly, slow_start) (scheme "cubic")',
    ),
    "parameter out of range": (
        {"flows__0__parameters": {"beta": 1.5}},
        'flows[0].parameters.beta: found 1.5; accepted: less than 1 (scheme "cubic")',
    ),
    "missing parameter": (
        {"flows__0__scheme": "fixed"},
        'flows[0].parameters.window: required, but not given (scheme "fixed")',
    ),
    "no scheme": (
        {"flows": [{"name": "flow"}]},
        'flows[0].scheme: required for traffic of kind "bulk", but not given',
    ),
    "scheme for datagrams": (
        {"flows__0__traffic": {"kind": "constant-bit-rate", "rate": "1mbps"}},
        'flows[0].scheme: not applicable to traffic of kind "constant-bit-rate" (datagrams)',
    ),
    "flow that stops before it starts": (
        {"flows__0__start": {"uniform": ["2s", "3s"]}, "flows__0__stop": "2s"},
        'flows[0].stop: "flow-1" never sends: it stops after 2 s at the latest,'
        " and does not start before 2 s",
    ),
    "flow that stops before it starts, among others": (
        {"flows__0__count": 2, "flows__0__start": {"even": ["0s", "3s"]}, "flows__0__stop": "1s"},
        'flows[0].stop: "flow-2" never sends: it stops after 1 s at the latest,'
        " and does not start before 3 s",
    ),
    "half an on-off source": (
        {"flows": [{"name": "d", "traffic": {"kind": "constant-bit-rate", "rate": "1mbps", "on": "1s"}}]},
        'flows[0].traffic: "on" and "off" must be given together',
    ),
    "key of another topology": (
        {"flows__0__hop": 1},
        'flows[0].hop: not applicable to a topology of kind "dumbbell"',
    ),
    "losses by time without selective acknowledgments": (
        {"transport": {"recovery": "newreno", "loss_detection": "rack"}},
        'flows[0].transport.loss_detection: found "rack", which reads selective acknowledgments;'
        ' accepted with recovery "newreno": "threshold"',
    ),
    "warm-up too long": (
        {"record__warm_up": "10s"},
        "record.warm_up: found 10 s, which must be shorter than the duration of 10 s",
    ),
    "link that never sends, with a buffer in time": (
        {"topology__bottleneck__rate": {"kind": "steps", "steps": [["0s", "0mbps"]]}},
        'topology.bottleneck.rate: the mean rate of link "bottleneck" is zero: no packet can ever be sent',
    ),
    "unknown link to capture": (
        {"record__capture": ["bottlenek"]},
        'record.capture[0]: unknown link "bottlenek"; did you mean "bottleneck"?'
        " (accepted: bottleneck, bottleneck-reverse)",
    ),
    "measured elsewhere": (
        {"flows__0__measured_at": "bottleneck-reverse"},
        'flows[0].measured_at: unknown link "bottleneck-reverse"; did you mean "bottleneck"?'
        " (accepted: bottleneck)",
    ),
    "two flows of one name": (
        {"flows": [{"name": "x", "scheme": "cubic"}, {"name": "x", "scheme": "cubic"}]},
        'flows: there is more than one flow "x-1"; give the entries different names',
    ),
    "buffer smaller than a packet": (
        {"topology__bottleneck__delay": "0ms"},
        'topology.bottleneck.queue.limit: the buffer of link "bottleneck" comes to 0 bytes, less'
        " than one packet"
        " of 1500 bytes (base RTT 0 ms)",
    ),
    "buffer of no packets": (
        {"topology__bottleneck__queue": {"kind": "drop-tail", "limit": "0 packets"}},
        "topology.bottleneck.queue.limit: found a buffer of 0 packets; it must hold at least one",
    ),
    "buffer in time on an unlimited link": (
        {
            "topology__bottleneck__rate": "unlimited",
            "topology__bottleneck__queue": {"kind": "drop-tail", "limit": "1ms"},
        },
        "topology.bottleneck.queue.limit: needs a mean rate, but the link is unlimited;"
        " accepted: bytes or packets",
    ),
    "retransmission timeout upside down": (
        {"transport__min_rto": "200s"},
        "flows[0].transport.min_rto: must not be above max_rto",
    ),
    "undo without timestamps": (
        {"transport__timestamps": False, "transport__spurious_timeout_undo": True},
        "flows[0].transport.spurious_timeout_undo: needs timestamps, which are off",
    ),
    "headers without room": (
        {"transport__headers": "1500B"},
        "flows[0].transport.headers: found 1500 B, which leaves no room in a packet of 1500 B; give mss too",
    ),
}


@pytest.mark.parametrize(("changes", "message"), CASES.values(), ids=CASES.keys())
def test_a_fault_in_a_scenario(changes, message):
    assert fault_of(dumbbell(**changes)) == f"scenario: {message}"


@pytest.mark.parametrize(
    "changes",
    [
        {"topology__bottleneck__loss": {"kind": "netem-gemodel", "p": 0, "r": 0.1}},
        {"topology__bottleneck__loss": {"kind": "netem-gemodel", "p": 1e-12, "r": 0.1}},
        {"flows__0__start": {"uniform": ["2s", "3s"]}, "flows__0__stop": {"uniform": ["1s", "4s"]}},
        {"flows__0__start": {"uniform": ["2s", "3s"]}, "flows__0__stop": "2.001s"},
    ],
    ids=["no bursts", "the rarest bursts", "a stop that may come before", "a stop that hardly comes after"],
)
def test_values_at_the_bounds_are_accepted(changes):
    assert Scenario.from_dict(dumbbell(**changes)).plan()["flows"]


GRAPH_CASES = {
    "unknown node": (
        [{"from": "A", "to": "E", "rate": "1mbps"}],
        'topology.links[0].to: there is no node "E"; accepted: A, B, C, D',
    ),
    "no path": (
        [{"from": "A", "to": "B", "rate": "1mbps"}],
        'flows[0]: there is no path from "A" to "D"',
    ),
    "no path back": (
        [{"from": "A", "to": "D", "rate": "1mbps", "duplex": False}],
        'flows[0]: there is no path from "D" to "A"',
    ),
    "two links of one name": (
        [{"from": "A", "to": "D", "rate": "1mbps"}, {"from": "A", "to": "D", "rate": "1mbps"}],
        'topology.links[1]: there is more than one link "A-D"; give them different names',
    ),
}


INFINITE_CASES = {
    "gain of a scheme": (
        {"flows__0__scheme": "xcp:alpha=inf"},
        'flows[0].parameters.alpha: found inf; accepted: a finite number, more than 0 (scheme "xcp")',
    ),
    "a number so large that it is infinite": (
        {"flows__0__scheme": "xcp:beta=1e400"},
        'flows[0].parameters.beta: found inf; accepted: a finite number, at least 0 (scheme "xcp")',
    ),
    "a number that may be absent": (
        {"flows__0__scheme": "xcp-ebe:upsilon=inf"},
        'flows[0].parameters.upsilon: found inf; accepted: a finite number, at least 1 (scheme "xcp-ebe")',
    ),
    "not a number": (
        {"flows__0__scheme": "xcp:alpha=nan"},
        'flows[0].parameters.alpha: found nan; accepted: a finite number, more than 0 (scheme "xcp")',
    ),
    "gain of an estimator": (
        {"flows__0__estimators": ["sarbe:beta=inf"]},
        'flows[0].estimators[0]: parameter "beta" of estimator "sarbe": found inf; accepted: a finite number,'
        ' at least 0, less than 1 (in "sarbe:beta=inf")',
    ),
    "burst": (
        {"topology__bottleneck__loss": {"kind": "gilbert", "mean_loss": 0.1, "mean_burst": math.inf}},
        "topology.bottleneck.loss.mean_burst: found inf; accepted: a finite number, at least 1,"
        " at most 1e+12",
    ),
} | {
    f"{kind} {key}": (
        {"topology__bottleneck__queue": {"kind": kind, "limit": "100 packets", key: math.inf}},
        f"topology.bottleneck.queue.{key}: found inf; accepted: a finite number, {accepted}",
    )
    for kind, key, accepted in (
        ("rem", "gamma", "more than 0"),
        ("rem", "phi", "more than 1"),
        ("pie", "alpha", "at least 0"),
        ("dual-pi2", "coupling", "more than 0"),
    )
}


@pytest.mark.parametrize(("changes", "message"), INFINITE_CASES.values(), ids=INFINITE_CASES.keys())
def test_an_infinite_number(changes, message):
    assert fault_of(dumbbell(**changes)) == f"scenario: {message}"


@pytest.mark.parametrize(("links", "message"), GRAPH_CASES.values(), ids=GRAPH_CASES.keys())
def test_a_fault_in_a_graph(links, message):
    assert fault_of(graph(links)) == f"scenario: {message}"


def test_faults_of_flows_on_graphs_and_parking_lots():
    link = {"from": "A", "to": "D", "rate": "1mbps", "delay": "1s"}
    assert fault_of(graph([link], flows__0={"name": "x", "scheme": "cubic"})) == (
        'scenario: flows[0]: a flow on a graph needs the keys "from" and "to"'
    )
    assert fault_of(graph([link], flows__0__to="A")) == 'scenario: flows[0]: the path begins and ends at "A"'
    assert fault_of(graph([link], flows__0__via=["D", "A"])) == (
        "scenario: flows[0]: the path A -> D -> A -> D crosses a link twice"
    )
    assert fault_of(graph([link], flows__0__direction="reverse")) == (
        'scenario: flows[0].direction: not applicable to a topology of kind "graph"'
    )
    assert (
        fault_of(parking_lot(flows__0__hop=3))
        == "scenario: flows[0].hop: found 3; the parking lot has 2 bottlenecks"
    )
    assert fault_of(graph([link], topology__nodes=["A", "A", "D"])) == (
        "scenario: topology.nodes: a node is listed twice"
    )


def test_several_faults_have_a_line_each():
    text = fault_of(dumbbell(seeed=1, duration="10", flows__0__count=0))
    assert text.splitlines() == [
        f'scenario: duration: found "10", which has no unit; {DURATION}',
        "scenario: flows[0].count: found 0; accepted: at least 1",
        'scenario: seeed: unknown key; did you mean "seed"? (accepted: description, duration,'
        " flows, name, record,"
        " repetitions, seed, title, topology, transport)",
    ]


def fault_of(tables):
    with pytest.raises(AirpathError) as caught:
        Scenario.from_dict(tables).plan()
    assert isinstance(caught.value, ScenarioError)
    return str(caught.value)

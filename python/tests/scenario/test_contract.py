"""A plan has the fields that the engine reads, all of them and no others, in the engine's types."""

import json

import pytest
from scenario_tables import assert_complete, dumbbell, graph, parking_lot, plan

from airpath._core import PlanError, packet_loss
from airpath.scenario import Scenario, scenario_names
from airpath.schemes import ESTIMATORS
from airpath.schemes.westwood import WESTWOOD

TIMES = {"uniform": ["1ms", "2ms"]}


@pytest.mark.parametrize("name", scenario_names())
def test_shipped_scenarios_resolve_to_plans_that_the_engine_accepts(name):
    assert_complete(Scenario.load(name).plan())


RATES = {
    "unlimited": "unlimited",
    "constant": "12mbps",
    "steps": {"kind": "steps", "steps": [["0s", "20mbps"], ["5s", "0bps"]]},
    "sequence": {"kind": "sequence", "rates": ["1mbps", "2mbps"], "hold": "1s"},
    "uniform": {"kind": "uniform", "low": "1mbps", "high": "2mbps", "hold": "1s"},
    "trace": {"kind": "link", "name": "lte.down", "mode": "once"},
}


@pytest.mark.parametrize("rate", RATES.values(), ids=RATES.keys())
def test_every_rate(rate):
    assert_complete(plan(dumbbell(topology__bottleneck__rate=rate)))


CHAIN = {"gamma": 0.99, "beta": 0.9}
LOSSES = {
    "a probability": 0.01,
    "per packet": {"kind": "gilbert-elliott", **CHAIN},
    "per bit, coded": {"kind": "gilbert-elliott", "clock": "bit", "code_rate": 0.93, **CHAIN},
    "per unit of time": {"kind": "gilbert-elliott", "clock": "time", "step": "1ms", **CHAIN},
    "means": {"kind": "gilbert", "mean_loss": 0.02, "mean_burst": 4},
    "netem": {"kind": "netem-gemodel", "p": 0.01, "r": 0.167},
    "fading": {"kind": "fading", "snr": 20, "antennas": "2x1", "ack_code_rate": 0.5},
    "fading, parity in time": {"kind": "fading", "snr": 20, "code_rate": 0.93, "parity_takes_time": True},
    "fading, modulated": {"kind": "fading", "snr": 20.0, "modulation": "16psk"},
    "fading, per symbol": {"kind": "fading", "snr": 20.0, "clock": "symbol", "step_by_step": True},
}


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES.keys())
def test_every_kind_of_losses(loss):
    resolved = plan(dumbbell(topology__bottleneck__loss=loss))
    assert_complete(resolved)
    forward, backward = resolved["links"]
    assert backward["bursts"] == forward["bursts"]


ARQ = {"retries": 3, "delay": "8ms"}
SHORTEST_BURSTS = [(0.8, 4.0), (0.9, 9.0), (0.99, 99.0), (0.5, 1.0), (0.66666667, 2.0)]


@pytest.mark.parametrize(("mean_loss", "mean_burst"), SHORTEST_BURSTS)
def test_the_engine_accepts_the_shortest_possible_bursts(mean_loss, mean_burst):
    loss = {"kind": "gilbert", "mean_loss": mean_loss, "mean_burst": mean_burst}
    bursts = plan(dumbbell(topology__bottleneck__loss=loss))["links"][0]["bursts"]
    assert bursts["mean_burst"] == mean_burst
    assert packet_loss(json.dumps(bursts), 1500) == pytest.approx(mean_loss)


def test_link_layer_retransmission_applies_in_both_directions_unless_disabled():
    forward, backward = plan(dumbbell(topology__bottleneck__arq=ARQ))["links"]
    kind = {"kind": "selective-repeat"}
    assert forward["arq"] == backward["arq"] == kind | {"retries": 3, "delay": 8_000_000, "in_order": True}
    none = {"retries": 0, "delay": "0ms", "in_order": False}
    resolved = plan(dumbbell(topology__bottleneck__arq=ARQ, topology__reverse={"arq": none}))
    assert_complete(resolved)
    assert resolved["links"][1]["arq"] == kind | {"retries": 0, "delay": 0, "in_order": False}


TRAFFIC = {
    "bulk": "bulk",
    "file": {"kind": "file", "size": "1MB"},
    "repeated": {"kind": "repeated", "size": {"exponential": "1MB"}, "pause": TIMES},
    "arrivals": {"kind": "arrivals", "size": "10kB", "mean_interval": "1s"},
    "writes": {"kind": "writes", "size": "200kB", "interval": "2s"},
    "random writes": {"kind": "writes", "size": {"exponential": "200kB"}, "interval": TIMES},
}
DATAGRAMS = {
    "always on": {"kind": "constant-bit-rate", "rate": "1mbps"},
    "on and off": {"kind": "constant-bit-rate", "rate": "1mbps", "on": "1s", "off": {"exponential": "1s"}},
    "poisson": {"kind": "poisson-datagrams", "rate": "1mbps", "packet": {"uniform": ["100B", "1500B"]}},
}


@pytest.mark.parametrize("traffic", TRAFFIC.values(), ids=TRAFFIC.keys())
def test_every_traffic(traffic):
    assert_complete(plan(dumbbell(flows__0__traffic=traffic)))


@pytest.mark.parametrize("traffic", DATAGRAMS.values(), ids=DATAGRAMS.keys())
def test_every_kind_of_datagrams(traffic):
    resolved = plan(dumbbell(flows=[{"name": "datagrams", "traffic": traffic}]))
    assert_complete(resolved)
    assert resolved["flows"][0]["controller"] is None
    assert resolved["flows"][0]["transport"] is None


@pytest.mark.parametrize(
    "scheme",
    [
        "newreno",
        "reno:slow_start=hystart++",
        "newreno:slow_start=hoe",
        "cubic:c=1",
        "cubic-2008",
        "bbr",
        "copa:competitive=true",
        "ledbat++:target=25ms",
        "vegas:slow_start=every-other-round",
        "bic:max_increment=32",
        "highspeed:counting=acknowledgments",
        "htcp:delta_l=2s",
        "veno",
        "fixed:window=10 packets,rate=1mbps",
        "agent",
        "newreno-ld:delay_share=0.3",
        "cubic-ebe-ld:history_rule=total,evidence=feedback",
        *(scheme.id for scheme in WESTWOOD),
        "westwood:guard=false,reduction=after-recovery,minimum_rtt=since-timeout,threshold_unit=bytes,virtual_samples=none",
    ],
)
def test_every_scheme(scheme):
    assert_complete(plan(dumbbell(flows__0__scheme=scheme)))


SAMPLINGS = [
    "per-ack",
    "round-trip",
    "interval,interval=20ms",
    "receiver-clock,resolution=10ms",
    "delivery-rate",
]


@pytest.mark.parametrize(
    "estimator",
    [*(estimator.id for estimator in ESTIMATORS), *(f"sarbe:samples={samples}" for samples in SAMPLINGS)],
)
def test_every_estimator_as_a_passive_estimator(estimator):
    resolved = plan(dumbbell(flows__0__estimators=[estimator]))
    assert_complete(resolved)
    assert [one["name"] for one in resolved["estimators"]] == [estimator]
    assert resolved["flows"][0]["estimators"] == [0]


def test_the_other_topologies_and_all_that_is_optional():
    link = {"from": "A", "to": "D", "rate": "20mbps", "delay": TIMES, "jitter": {"exponential": "1ms"}}
    assert_complete(plan(graph([link], record__capture=["A-D"], flows__0__start=TIMES, flows__0__stop="5s")))
    assert_complete(plan(parking_lot(flows__0__extra_rtt=TIMES, record__packets=True)))


def _tables(part):
    """Return all tables in a part of a plan."""
    if isinstance(part, dict):
        yield part
    for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from _tables(inner)


def test_every_missing_renamed_or_mistyped_field_is_detected():
    resolved = plan(
        dumbbell(
            topology__bottleneck__loss=LOSSES["fading"],
            topology__bottleneck__arq=ARQ,
            flows__0__estimators=["sarbe"],
        )
    )
    for table in list(_tables(resolved)):
        for key, value in list(table.items()):
            more = f"{key}s"
            number = [{key: int(value)}] if isinstance(value, float) else []
            for changed in ({}, {more: value}, {key: value, more: value}, {key: [value]}, *number):
                del table[key]
                table.update(changed)
                with pytest.raises((AssertionError, PlanError)):
                    assert_complete(resolved)
                table.pop(more, None)
                table[key] = value
    assert_complete(resolved)

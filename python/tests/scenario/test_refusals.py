"""Errors of the engine are reported at the field of the scenario, like all other errors."""

import re
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
from scenario_tables import dumbbell

from airpath.errors import ScenarioError
from airpath.scenario import Scenario
from airpath.scenario.load import SHIPPED
from airpath.scenario.simulation import simulation

TIMER = "accepted: at least a microsecond"
XCP = {"flows__0__scheme": "xcp-ebe"}
QUEUE = "topology__bottleneck__queue"
BITS = {"kind": "constant-bit-rate", "rate": "900tbps", "packet": "1kB"}
TOO_CLOSE = (
    "at that rate its packets are less than a nanosecond apart; accepted: a lower rate, or larger packets"
)


def router(protocol: dict[str, Any], source: dict[str, Any], limit: str = "50kB") -> dict[str, Any]:
    return {QUEUE: {"kind": "router", "limit": limit, "protocol": protocol, "source": source}}


CASES = {
    "of a managed queue": (
        {QUEUE: {"kind": "pie", "limit": "50kB", "update_interval": "500ns"}},
        f'topology.bottleneck.queue.update_interval: found "500ns"; {TIMER}',
    ),
    "of a scheme, for its router": (
        {**XCP, "flows__0__parameters": {"min_interval": "1ns"}},
        f'flows[0].parameters.min_interval: found "1ns"; {TIMER}',
    ),
    "of a scheme, for the router's source": (
        {**XCP, "flows__0__parameters": {"measurement_interval": "1ns"}},
        f'flows[0].parameters.measurement_interval: found "1ns"; {TIMER}',
    ),
    "an option of a scheme": (
        {"flows__0__scheme": "xcp-ebe:min_interval=1ns"},
        f'flows[0].scheme:min_interval: found "1ns"; {TIMER}',
    ),
    "an option of a queue's scheme": (
        {QUEUE: {"kind": "scheme", "limit": "50kB", "scheme": "vcp:queue_sampling_interval=7ns"}},
        f'topology.bottleneck.queue.scheme:queue_sampling_interval: found "7ns"; {TIMER}',
    ),
    "of a router": (
        router({"kind": "qfcp", "control_interval": "9ns"}, {"kind": "oracle"}),
        f'topology.bottleneck.queue.protocol.control_interval: found "9ns"; {TIMER}',
    ),
    "of a router of ABC": (
        router({"kind": "abc", "rate_window": "9ns"}, {"kind": "oracle"}),
        f'topology.bottleneck.queue.protocol.rate_window: found "9ns"; {TIMER}',
    ),
    "of the oracle": (
        router({"kind": "abc"}, {"kind": "oracle", "averaging": "9ns"}),
        f'topology.bottleneck.queue.source.averaging: found "9ns"; {TIMER}',
    ),
    "of a router's source": (
        router({"kind": "xcp"}, {"kind": "qfcp", "estimation_interval": "9ns"}),
        f'topology.bottleneck.queue.source.estimation_interval: found "9ns"; {TIMER}',
    ),
    "the limit of a router": (
        router({"kind": "xcp"}, {"kind": "xcp-b"}, "unlimited"),
        'topology.bottleneck.queue.limit: found "unlimited"; the capacity source acts on shares of the'
        " buffer; accepted: a limit",
    ),
    "of a controller, against one that was not given": (
        {"flows__0__scheme": "vegas", "flows__0__parameters": {"alpha": 10}},
        "flows[0].parameters.beta: found 4.0; accepted: at least alpha and finite",
    ),
    "of a flow's transport": (
        {"flows__0__transport": {"initial_window": "1B"}},
        'flows[0].transport.initial_window: found "1B"; accepted: at least one segment',
    ),
    "of the transport of all flows": (
        {"transport": {"initial_rto": "10min"}},
        'transport.initial_rto: found "10min"; accepted: at most max_rto',
    ),
    "a size": (
        {"transport": {"ack": "20MB"}},
        'transport.ack: found "20MB"; accepted: from 1 byte to 16 MB',
    ),
    "of traffic": (
        {"flows": [{"name": "flow", "traffic": BITS}]},
        f'flows[0].traffic.rate: found "900tbps"; {TOO_CLOSE}',
    ),
    "of the run": (
        {"record": {"interval": "3s"}},
        'duration: found "10s"; accepted: a whole number of record intervals, which are of 3 s',
    ),
    "a sequence that never ends": (
        {"topology__bottleneck__rate": {"kind": "sequence", "rates": ["1mbps"] * 3, "hold": "9e9s"}},
        'topology.bottleneck.rate: "hold": found 9000000000 s; accepted: at most 3074457345.618258602 s with'
        " 3 rates",
    ),
}


@pytest.mark.parametrize(("changes", "message"), CASES.values(), ids=CASES)
def test_a_refusal_names_the_field(changes, message):
    with pytest.raises(ScenarioError) as refusal:
        simulation(Scenario(dumbbell(**changes), source="small.toml"), 1)
    assert str(refusal.value) == f"small.toml: {message}"


EXTREMES = {
    r"[\d.e]+ ?(ns|us|ms|s|min)": ("1ns", "600ns", "3us", "9000000000s"),
    r"[\d.e]+ ?[kMGmg]?bps": ("1bps", "900tbps"),
    r"[\d.e]+ ?[kMG]?i?B": ("1B", "20MB", "1TB"),
}


def wrong(tables: Any, steps: tuple[str | int, ...] = ()) -> Iterator[dict[str, Any]]:
    """Yield a scenario change for each quantity in turn: much too small or too large."""
    items = tables.items() if isinstance(tables, dict) else enumerate(tables)
    for key, value in items:
        if isinstance(value, dict | list):
            yield from wrong(value, (*steps, key))
        elif isinstance(value, str):
            matching = (extremes for form, extremes in EXTREMES.items() if re.fullmatch(form, value))
            for extreme in next(matching, ()):
                yield {".".join(map(str, (*steps, key))): extreme}


@pytest.mark.parametrize("name", ["ebe-dumbbell-o", "vcpw-testbed", "satellite", "short-flows", "two-way"])
def test_every_refusal_of_a_wrong_scenario_names_a_field(name):
    file = SHIPPED / f"{name}.toml"
    scenario = Scenario(tomllib.loads(file.read_text()), source="F.toml", folder=SHIPPED)
    field = re.compile(r'F\.toml: ([a-z_]+(\[\d+\])?(\.[a-z_]+(\[\d+\])?)*: |"record\.warm_up")')
    refusals = [(change, said) for change in wrong(scenario.to_dict()) for said in refusal(scenario, change)]
    assert [one for one in refusals if not field.match(one[1])] == []
    assert len(refusals) >= 10


def refusal(scenario: Scenario, change: dict[str, Any]) -> list[str]:
    """Return the messages for a changed scenario; none if it can be run, or needs much memory."""
    try:
        changed = scenario.override(change)
        if changed.memory().bytes < 1 << 30:
            simulation(changed, 1)
    except ScenarioError as error:
        return str(error).splitlines()
    return []

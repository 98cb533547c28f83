"""Router-assisted schemes: their composition, and the router of each link."""

import tomllib
from dataclasses import replace

import pytest
from scenario_tables import assert_complete, dumbbell, graph, parking_lot, plan

from airpath._declared.tables import table
from airpath.errors import ScenarioError, UsageError
from airpath.scenario import Scenario, compare_scenario
from airpath.scenario.simulation import simulation
from airpath.schemes import SCHEMES, LinkFacts, find_scheme
from airpath.schemes.registry import named_schemes
from airpath.schemes.router_assisted import CAPACITY_SOURCES, FAMILIES, XCP, compose
from airpath.units import parse_rate

LISTED = (
    "xcp xcp-b xcp-ebe xcp-ebe-hold xcp-busy xcp-oracle vcp vcp-ebe vcp-oracle"
    " mpcp mpcp-ebe mpcp-oracle dpcp dpcp-ebe qfcp abc abc-ebe abc-configured"
)
PAIRS = sorted({scheme.id for scheme in named_schemes().values() if scheme.router is not None})
LINK = LinkFacts(10e6, 1000)


def queue_of(tables, link=0):
    return plan(tables)["links"][link]["queue"]


def refusal(tables):
    with pytest.raises(ScenarioError) as raised:
        Scenario.from_dict(tables).plan()
    return str(raised.value).removeprefix("scenario: ")


def test_the_schemes_that_are_listed():
    assert [scheme.id for scheme in SCHEMES if scheme.router is not None] == LISTED.split()


def test_every_possible_pair_has_a_name():
    assert len(PAIRS) == 32
    assert {"xcp-qfcp", "dpcp-oracle", "qfcp-ebe", "qfcp-configured", "abc-qfcp"} < set(PAIRS)
    for name in ("vcp-b", "qfcp-b", "xcp-cubic", "cubic-oracle"):
        with pytest.raises(UsageError, match="there is no scheme"):
            find_scheme(name)


@pytest.mark.parametrize("scheme", PAIRS)
def test_every_pair_has_a_plan_that_the_engine_accepts(scheme):
    resolved = plan(dumbbell(flows__0__scheme=scheme))
    assert_complete(resolved)
    queues = [link["queue"] for link in resolved["links"]]
    assert [queue["kind"] for queue in queues] == ["router", "router"]
    controller = resolved["flows"][0]["controller"]
    for queue in queues:
        assert queue["protocol"]["kind"] == controller["kind"] == find_scheme(scheme).router.protocol
        assert queue["source"]["kind"] == find_scheme(scheme).estimator


@pytest.mark.parametrize("scheme", PAIRS)
def test_every_parameter_is_described(scheme):
    parameters = find_scheme(scheme).parameters
    assert all(schema["description"] for schema in parameters.keys.values())


def test_the_defaults_are_those_of_the_findings():
    def parts(name):
        scheme = find_scheme(name)
        defaults = scheme.parameters.read({})
        return scheme.router.plan(defaults, LINK), scheme.build(defaults, 1000)

    router, sender = parts("xcp-ebe")
    assert router["protocol"] == {
        "kind": "xcp",
        "alpha": 0.4,
        "beta": 0.226,
        "gamma": 0.1,
        "min_interval": 1_000_000,
        "max_interval": 1_000_000_000,
        "negative_share": "all",
        "upsilon_on": "capacity",
        "form": "rate",
    }
    assert router["source"] == {
        "kind": "ebe",
        "profile": "icc",
        "sampled_queue": "mean",
        "monitor": "plain",
        "maintainer": "latch",
        "spare_arrivals": "protocol",
        "threshold": 0.15,
        "upsilon": 1.40,
        "capacity": 10_000_000,
        "min_capacity": 40_000,  # one packet of 1000 bytes in 200 ms
        "max_capacity": 8_000_000_000_000,
        "unit": "bytes",
        "packet": 1000,
        "measurement_interval": 10_000_000,
        "estimation_interval": 200_000_000,
    }
    assert sender == {
        "kind": "xcp",
        "halve_on_loss": True,
        "form": "rate",
        "inter_packet": "whole-packets",
    }
    xcp = find_scheme("xcp")
    assert xcp.build(xcp.parameters.read({"inter_packet": "window"}), 1000) == {
        **sender,
        "inter_packet": "window",
    }
    assert parts("xcp-b")[0]["source"] == {
        "kind": "xcp-b",
        "kappa": 0.0,
        "chi": 0.2,
        "late_reaction": 2,
        "signal": "minimum",
    }
    router, sender = parts("vcp-ebe")
    assert router["source"]["upsilon"] == 1.14
    assert router["protocol"] == {
        "kind": "vcp",
        "load_factor_interval": 200_000_000,
        "queue_sampling_interval": 10_000_000,
        "kappa_q": 0.5,
        "target_utilisation": 0.98,
        "queue_weight": 0.25,
    }
    assert sender == {
        "kind": "vcp",
        "rtt_scaling": "minimum",
        "additive_scaling": "square",
        "bounds": "spec",
        "rtt_cap": True,
        "freeze": "all",
        "after_freeze": "author",
        "kappa": 0.25,
        "alpha": 1.0,
        "beta": 0.875,
        "load_factor_interval": 200_000_000,
        "loss_factor": 0.5,
        "pace_small_windows": True,
    }
    assert parts("mpcp-ebe")[0]["source"]["upsilon"] == 1.14
    assert parts("dpcp")[1]["digits"] == 2
    assert parts("qfcp")[0]["source"]["max_capacity"] == 20_000_000


def test_a_shared_interval_is_one_parameter():
    resolved = plan(dumbbell(flows__0__scheme="vcp:load_factor_interval=100ms"))
    assert resolved["links"][0]["queue"]["protocol"]["load_factor_interval"] == 100_000_000
    assert resolved["flows"][0]["controller"]["load_factor_interval"] == 100_000_000


def test_packets_carry_the_header_of_the_scheme():
    def transport(**changes):
        return plan(dumbbell(**changes))["flows"][0]["transport"]

    assert transport(flows__0__scheme="xcp")["header_bytes"] == 40 + 12 + 20
    assert transport(flows__0__scheme="xcp")["delayed_ack_segments"] == 1
    assert transport(flows__0__scheme="vcp")["header_bytes"] == 40 + 12
    plain = transport(flows__0__scheme="xcp", transport__timestamps=False)
    assert (plain["header_bytes"], plain["ack_bytes"], plain["mss_bytes"]) == (60, 60, 1440)
    assert transport(flows__0__scheme="xcp", transport__headers="40B")["header_bytes"] == 40


def test_the_capacity_is_the_mean_rate_unless_it_is_given():
    steps = {"kind": "sequence", "rates": ["4mbps", "8mbps"], "hold": "5s"}
    tables = dumbbell(topology__bottleneck__rate=steps, flows__0__scheme="xcp")
    assert queue_of(tables)["source"] == {"kind": "configured", "capacity": 6_000_000}
    tables["flows"][0]["parameters"] = {"capacity": "10mbps"}
    assert queue_of(tables)["source"] == {"kind": "configured", "capacity": 10_000_000}
    tables["flows"][0] = {"name": "flow", "scheme": "xcp-ebe:capacity=10mbps"}
    assert queue_of(tables)["source"]["capacity"] == 10_000_000


def test_no_estimate_is_below_zero_or_out_of_order():
    outage = {"kind": "steps", "steps": [["0s", "0bps"]]}
    tables = dumbbell(topology__bottleneck__rate=outage, flows__0__scheme="xcp-ebe")
    tables["topology"]["bottleneck"]["queue"] = {"kind": "scheme", "limit": "60kB"}
    assert 'the mean rate of the link is not known; give the parameter "capacity"' in refusal(tables)
    slow = {"kind": "constant", "rate": "1kbps"}
    tables["topology"]["bottleneck"]["rate"] = slow
    source = queue_of(tables)["source"]
    assert 0 < source["min_capacity"] <= source["capacity"] <= source["max_capacity"]
    wrong = dumbbell(flows__0__scheme="qfcp:max_capacity=1mbps")
    assert refusal(wrong).startswith(
        "flows[0].parameters: capacity (12 Mbit/s) must not be above max_capacity (1 Mbit/s)"
    )


def test_end_to_end_schemes_have_a_plain_queue():
    limit = {"limit_bytes": 60_000, "limit_packets": None}
    assert queue_of(dumbbell()) == {"kind": "drop-tail", **limit}
    scheme_queue = {"kind": "scheme", "limit": "1bdp"}
    assert queue_of(dumbbell(topology__bottleneck__queue=scheme_queue)) == {"kind": "drop-tail", **limit}


def test_the_reverse_direction_gets_the_same_kind_with_its_own_capacity():
    tables = dumbbell(flows__0__scheme="xcp", topology__reverse={"rate": "2mbps"})
    assert queue_of(tables, 1)["kind"] == "router"
    assert queue_of(tables, 1)["source"] == {"kind": "configured", "capacity": 2_000_000}


def test_data_decides_before_acknowledgments():
    flows = [{"name": "x", "scheme": "xcp"}, {"name": "v", "scheme": "vcp", "direction": "reverse"}]
    tables = dumbbell(flows=flows)
    assert [queue_of(tables, link)["protocol"]["kind"] for link in (0, 1)] == ["xcp", "vcp"]


def test_other_traffic_may_share_the_link():
    flows = [
        {"name": "x", "scheme": "xcp-ebe"},
        {"name": "tcp", "scheme": "cubic"},
        {"name": "udp", "traffic": {"kind": "constant-bit-rate", "rate": "1mbps"}},
    ]
    resolved = plan(dumbbell(flows=flows))
    assert_complete(resolved)
    assert resolved["links"][0]["queue"]["source"]["kind"] == "ebe"


def test_every_bottleneck_of_a_parking_lot_is_a_router_by_default():
    tables = parking_lot(flows__0__scheme="vcp-oracle")
    tables["topology"]["bottlenecks"] = [{"rate": "12mbps", "delay": "10ms"}] * 2
    assert {link["queue"]["kind"] for link in plan(tables)["links"]} == {"router"}


EXPLICIT = {"kind": "router", "limit": "1bdp", "protocol": {"kind": "xcp", "gamma": 0.2}, "source": "ebe"}


def test_a_router_in_full():
    tables = dumbbell(flows__0__scheme="xcp", topology__bottleneck__queue=EXPLICIT)
    resolved = plan(tables)
    assert_complete(resolved)
    queue = resolved["links"][0]["queue"]
    assert queue["limit_bytes"] == 60_000
    assert queue["protocol"]["gamma"] == 0.2
    assert queue["source"]["upsilon"] == 1.40
    assert Scenario.from_dict(tables).buffers["bottleneck"].packets == pytest.approx(40)


@pytest.mark.parametrize("protocol", ["xcp", "vcp", "mpcp", "qfcp", "abc"])
@pytest.mark.parametrize("source", ["configured", "oracle", "qfcp", "ebe"])
def test_every_router_in_short(protocol, source):
    explicit = {"kind": "router", "limit": "50 packets", "protocol": protocol, "source": source}
    assert_complete(plan(dumbbell(topology__bottleneck__queue=explicit)))


@pytest.mark.parametrize("scheme", ["xcp-ebe:monitor=hold,upsilon=1.2", "cubic"])
def test_the_scheme_of_a_queue_can_be_named(scheme):
    named = {"kind": "scheme", "limit": "1bdp", "scheme": scheme}
    queue = queue_of(dumbbell(topology__bottleneck__queue=named))
    assert queue["kind"] == ("drop-tail" if scheme == "cubic" else "router")
    if scheme != "cubic":
        assert (queue["source"]["monitor"], queue["source"]["upsilon"]) == ("hold", 1.2)


def test_a_scenario_with_routers_survives_writing_and_is_described():
    tables = dumbbell(flows__0__scheme="xcp", topology__bottleneck__queue=EXPLICIT)
    scenario = Scenario.from_dict(tables)
    again = Scenario.from_dict(tomllib.loads(scenario.to_toml()))
    assert again.plan() == scenario.plan()
    assert "router xcp, capacity source ebe" in scenario.describe()
    believed = Scenario.from_dict(dumbbell(flows__0__scheme="vcp:capacity=10mbps"))
    assert "router vcp, capacity source configured (10 Mbit/s)" in believed.describe()


ANY = {"kind": "scheme", "limit": "1bdp"}
WRONG = {
    "no router": (
        {"flows__0__scheme": "xcp", "topology__bottleneck__queue": {"kind": "drop-tail", "limit": "1bdp"}},
        'flows[0].scheme: "xcp" needs a router of xcp on its path, and there is none; give the bottleneck',
    ),
    "another router": (
        {"flows__0__scheme": "vcp", "topology__bottleneck__queue": EXPLICIT},
        'flows[0].scheme: "vcp" needs routers of vcp, and that of link "bottleneck" is xcp',
    ),
    "two routers": (
        {"flows": [{"name": "x", "scheme": "xcp"}, {"name": "v", "scheme": "vcp"}]},
        'topology.bottleneck.queue.scheme: required: flows of different routers cross link "bottleneck",'
        " which can have one only (xcp of flows[0], vcp of flows[1])",
    ),
    "two routers of one scheme": (
        {
            "flows": [
                {"name": "x", "scheme": "xcp-ebe"},
                {"name": "y", "scheme": "cubic"},
                {"name": "z", "scheme": "xcp-ebe:upsilon=1.2"},
            ]
        },
        'topology.bottleneck.queue.scheme: required: flows of different routers cross link "bottleneck",'
        " which can have one only (xcp-ebe of flows[0], xcp-ebe of flows[2] with other parameters)",
    ),
    "no capacity": (
        {"topology__bottleneck__queue": EXPLICIT | {"protocol": "vcp", "source": "xcp-b"}},
        'topology.bottleneck.queue.source: "xcp-b" gives spare bandwidth and never a capacity',
    ),
    "a key": (
        {"topology__bottleneck__queue": EXPLICIT | {"source": {"kind": "ebe", "monitr": "hold"}}},
        'topology.bottleneck.queue.source.monitr: unknown key; did you mean "monitor"?',
    ),
    "a kind": (
        {"topology__bottleneck__queue": EXPLICIT | {"source": "eb"}},
        'topology.bottleneck.queue.source.kind: found "eb"',
    ),
    "a scheme": (
        {"topology__bottleneck__queue": ANY | {"scheme": "xpc"}},
        'topology.bottleneck.queue.scheme: there is no scheme "xpc"; did you mean "xcp"?',
    ),
    "a parameter": (
        {"topology__bottleneck__queue": ANY | {"scheme": "xcp:alpha=-1"}},
        "topology.bottleneck.queue.scheme.alpha: found -1; accepted: more than 0",
    ),
    "arrivals": (
        {"flows__0__scheme": "vcp-ebe:spare_arrivals=estimator"},
        'flows[0].parameters: spare_arrivals = "estimator" is for xcp',
    ),
    "least capacity": (
        {"flows__0__scheme": "xcp-ebe:min_capacity=30mbps,capacity=20mbps"},
        "flows[0].parameters: min_capacity (30 Mbit/s) must not be above capacity (20 Mbit/s)",
    ),
    "samples of the queue": (
        {"flows__0__scheme": "vcp:queue_sampling_interval=300ms"},
        'flows[0].parameters: "queue_sampling_interval" (300 ms) must not be longer than'
        ' "load_factor_interval" (200 ms)',
    ),
    "intervals": (
        {"flows__0__scheme": "xcp:min_interval=3s"},
        'flows[0].parameters: "min_interval" (3 s) must not be longer than "max_interval" (1 s)',
    ),
    "times of another sampler": (
        {"flows__0__scheme": "westwood:interval=500ms"},
        'flows[0].parameters: "interval" not applicable with samples = "per-ack"',
    ),
    "a clock of another sampler": (
        {"flows__0__scheme": "westwood-ti:resolution=10ms"},
        'flows[0].parameters: "resolution" not applicable with samples = "per-ack"',
    ),
    "all of the buffer": (
        {"flows__0__scheme": "xcp-b:kappa=1"},
        "flows[0].parameters.kappa: found 1; accepted: less than 1",
    ),
    "timers": (
        {"flows__0__scheme": "xcp-ebe:measurement_interval=1s"},
        "flows[0].parameters: measurement_interval must not be above estimation_interval",
    ),
}


@pytest.mark.parametrize(("changes", "message"), WRONG.values(), ids=WRONG.keys())
def test_errors_are_reported(changes, message):
    assert refusal(dumbbell(**changes)).startswith(message)


@pytest.mark.parametrize("profile", ["normalised", "icc"])
def test_a_filter_in_shares_of_the_buffer_needs_one(profile):
    scheme = f"xcp-ebe:profile={profile},maintainer=off"
    scenario = Scenario.from_dict(
        dumbbell(flows__0__scheme=scheme, topology__bottleneck__queue=ANY | {"limit": "unlimited"})
    )
    if profile == "icc":
        assert simulation(scenario, 1)
    else:
        with pytest.raises(ScenarioError, match=r"queue.limit: found .* accepted: a limit"):
            simulation(scenario, 1)


def test_a_link_without_a_mean_rate_needs_a_capacity():
    link = {"from": "A", "to": "D", "rate": "unlimited", "queue": {"kind": "scheme", "limit": "50 packets"}}
    tables = graph([link], flows__0__scheme="xcp")
    assert 'give the parameter "capacity" (scheme "xcp")' in refusal(tables)
    tables["flows"][0]["scheme"] = "xcp:capacity=10mbps"
    assert queue_of(tables)["source"]["capacity"] == parse_rate("10mbps")


def test_comparisons_configure_each_schemes_requirements():
    scenarios = compare_scenario(["cubic", "xcp", "xcp-ebe"], "lte.down", buffer="100ms")
    queues = [scenario.plan()["links"][0]["queue"] for scenario in scenarios]
    assert [queue["kind"] for queue in queues] == ["drop-tail", "router", "router"]
    assert len({queue["limit_bytes"] for queue in queues}) == 1
    assert [queue["source"]["kind"] for queue in queues[1:]] == ["configured", "ebe"]


def test_a_variant_has_its_own_name_and_defaults():
    better = table("capacity-source", "ebe", defaults={"monitor": "hold"})
    variant = compose(
        XCP, replace(CAPACITY_SOURCES[2], parameters=better), id="better", title="Better", colour="#123456"
    )
    assert (variant.id, variant.title, variant.marker) == ("better", "Better", "D")
    source = variant.router.plan(variant.parameters.read({}), LINK)["source"]
    assert (source["monitor"], source["profile"]) == ("hold", "icc")


def test_each_scheme_looks_different():
    looks = [(scheme.colour.lower(), scheme.marker) for scheme in SCHEMES]
    assert len(set(looks)) == len(looks)
    assert len({colour for colour, _ in looks}) == len(looks)


# Machado, Oliveira and Fernandes 2009: the colours that readers without red, green or blue cones see, in
# linear RGB.
BLINDNESS = {
    "none": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
}


@pytest.mark.parametrize("blindness", BLINDNESS.values(), ids=BLINDNESS.keys())
@pytest.mark.parametrize("family", [family.id for family in FAMILIES])
def test_the_schemes_of_a_family_are_distinguishable(family, blindness):
    colours = next(one for one in FAMILIES if one.id == family).colours
    assert_distinguishable(
        [colour for source, colour in colours.items() if source != "qfcp" or family == "qfcp"], blindness
    )


@pytest.mark.parametrize("blindness", BLINDNESS.values(), ids=BLINDNESS.keys())
def test_the_end_to_end_schemes_of_the_time_of_the_papers_are_distinguishable(blindness):
    names = ["newreno", "cubic", "cubic-2008", "vegas", "bic", "highspeed", "htcp", "veno"]
    assert_distinguishable([find_scheme(name).colour for name in names], blindness)


@pytest.mark.parametrize("blindness", BLINDNESS.values(), ids=BLINDNESS.keys())
def test_the_current_end_to_end_schemes_are_distinguishable(blindness):
    names = ["newreno", "cubic", "bbr", "copa", "ledbat++", "fixed"]
    assert_distinguishable([find_scheme(name).colour for name in names], blindness, least=29)
    for other in ("westwood+", "xcp", "xcp-ebe", "vcp-ebe"):
        assert_distinguishable([find_scheme(name).colour for name in ("bbr", other)], blindness, least=29)


def assert_distinguishable(colours, blindness, least=15):
    seen = [lab(colour, blindness) for colour in colours]
    for index, one in enumerate(seen):
        for other in seen[:index]:
            distance = sum((a - b) ** 2 for a, b in zip(one, other, strict=True)) ** 0.5
            assert distance > least  # CIE 1976: 2.3 is just noticeable


def lab(colour, blindness):
    """Return CIE L*a*b* (D65) of a colour as a reader sees it."""
    code = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in code]
    red, green, blue = (
        min(1, max(0, sum(w * c for w, c in zip(row, linear, strict=True)))) for row in blindness
    )
    x = (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.9505
    y = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    z = (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.089
    fx, fy, fz = (t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in (x, y, z))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


def test_load_words_of_mpcp_have_a_valid_length():
    assert find_scheme("mpcp").parameters.read({})["digits"] == 3
    assert "at most 8" in refusal(dumbbell(flows__0__scheme="mpcp:digits=9"))


def test_the_second_window_of_abc_is_that_of_any_controller_or_of_none():
    abc = find_scheme("abc")

    def second(**given):
        return abc.build(abc.parameters.read(given), 1000)["second_window"]

    assert second() == "none"
    assert second(second_window="newreno") == "newreno"
    nested = second(second_window={"kind": "cubic", "beta": 0.8})
    assert (nested["kind"], nested["beta"], nested["c"]) == ("cubic", 0.8, 0.4)
    assert '(did you mean "cubic"?); accepted: none, newreno, cubic' in refusal(
        dumbbell(flows__0__scheme="abc:second_window=cubik")
    )

"""The options of one link: the scenario of each, and bad values."""

from typing import get_type_hints

import pytest

import airpath
from airpath.checks.document import CaseTable
from airpath.emulation import emulated_scenario
from airpath.errors import ScenarioError, UsageError
from airpath.learning import BottleneckEnv
from airpath.links.networks import networks
from airpath.links.options import (
    CompareOptions,
    Comparison,
    FlowOptions,
    LinkAndFlows,
    LinkOptions,
    OneLink,
    options_of,
)
from airpath.rivals.meetings import rival_scenarios
from airpath.scenario import Scenario, compare_scenario
from airpath.scenario.link_line import link_line

DRAWN_TEXT = "(drawn within ± 2 % for each seed)"
DRAWN = {"uniform": ["19.6ms", "20.4ms"]}
FLOW = {"name": "flow", "scheme": "cubic", "count": 1, "start": {"uniform": ["0s", "1s"]}}
BOTTLENECK = {"rate": "12mbps", "delay": DRAWN}


def written(bottleneck=None, reverse=None, flow=None, **more):
    """Return the scenario of `compare cubic --link 12mbps`, with changes."""
    return Scenario.from_dict(
        {
            "name": "compare-cubic",
            "title": "TCP CUBIC over 12mbps",
            "duration": "60s",
            "seed": 1,
            "repetitions": 1,
            "record": {"warm_up": Comparison.warm_up},
            "topology": {
                "kind": "dumbbell",
                "bottleneck": BOTTLENECK | (bottleneck or {}),
                **({} if reverse is None else {"reverse": reverse}),
            },
            "flows": [
                {"name": "flow", "scheme": "cubic", "count": 1, "start": {"uniform": ["0s", "1s"]}}
                | (flow or {})
            ],
        }
        | more
    )


ARQ = {"retries": 255, "in_order": False}


@pytest.mark.parametrize(
    ("options", "scenario"),
    [
        ({}, written()),
        ({"loss": "1%"}, written({"loss": 0.01})),
        ({"loss": 0.01}, written({"loss": 0.01})),
        ({"loss": "1%:4"}, written({"loss": {"kind": "gilbert", "mean_loss": 0.01, "mean_burst": 4.0}})),
        ({"jitter": "5ms"}, written({"jitter": {"uniform": ["0ms", "5ms"]}})),
        ({"reorder": "2%"}, written({"loss": 0.02, "arq": {"delay": "8ms", **ARQ}})),
        ({"reorder": "2%:3ms"}, written({"loss": 0.02, "arq": {"delay": "3ms", **ARQ}})),
        ({"up": "3mbps"}, written(reverse={"rate": "3mbps"})),
        ({"up": "lte.up"}, written(reverse={"rate": "lte.up"})),
        ({"rtt": "100ms"}, written({"delay": {"uniform": ["49ms", "51ms"]}})),
        (
            {"rtt": "20ms..200ms", "flows": 3},
            written(
                {"delay": {"uniform": ["9.8ms", "10.2ms"]}, "queue": {"kind": "scheme", "limit": "110ms"}},
                flow={"count": 3, "extra_rtt": {"even": ["0ms", "180ms"]}},
            ),
        ),
        (
            {"rtt": "20ms..60ms", "flows": 2, "buffer": "0.5bdp", "queue": "codel"},
            written(
                {"delay": {"uniform": ["9.8ms", "10.2ms"]}, "queue": {"kind": "codel", "limit": "20ms"}},
                flow={"count": 2, "extra_rtt": {"even": ["0ms", "40ms"]}},
            ),
        ),
        (
            {"rtt": "20ms..60ms", "flows": 2, "buffer": "90kB"},
            written(
                {"delay": {"uniform": ["9.8ms", "10.2ms"]}, "queue": {"kind": "scheme", "limit": "90kB"}},
                flow={"count": 2, "extra_rtt": {"even": ["0ms", "40ms"]}},
            ),
        ),
    ],
    ids=str,
)
def test_an_option_equals_the_handwritten_scenario(options, scenario):
    (made,) = compare_scenario(["cubic"], "12mbps", **options)
    assert made.to_dict() == scenario.to_dict()
    assert made.plan() == scenario.plan()


def topology(link=None, **options):
    (made,) = compare_scenario(["cubic"], link, **options)
    return made.to_dict()["topology"]


def test_without_a_link_it_is_lte():
    assert topology() == topology(network="lte")
    assert topology(network="lte") == topology("lte.down", up="lte.up", rtt="40ms", buffer="300 packets")


def test_options_replace_the_parts_of_a_network():
    wifi = topology(network="wifi")
    slower = topology("5mbps", network="wifi", rtt="50ms", buffer="50 packets")
    assert slower["bottleneck"].pop("rate") == {"kind": "constant", "rate": "5 Mbit/s"}
    assert slower["bottleneck"].pop("delay") == {"uniform": ["24.5 ms", "25.5 ms"]}
    assert slower["bottleneck"].pop("queue") == {"kind": "scheme", "limit": "50 packets"}
    assert slower["bottleneck"] == {key: wifi["bottleneck"][key] for key in ("loss", "arq")}
    lossy = topology(network="wifi", loss="1%", queue="codel")["bottleneck"]
    assert lossy["loss"] == 0.01
    assert "arq" not in lossy, "a share that is lost is lost, not repeated"
    assert lossy["queue"] == {"kind": "codel", "limit": "250 packets"}
    # Rate and queue of the reverse link are those of the network, unless the link is another.
    assert topology(network="cable")["reverse"]["rate"]["rate"] == "10 Mbit/s"
    assert topology("5mbps", network="cable", buffer="1bdp").get("reverse") is None
    assert topology(network="cable", up="1mbps")["reverse"]["rate"]["rate"] == "1 Mbit/s"
    assert topology(network="starlink", jitter="1ms")["bottleneck"]["jitter"] == {"uniform": ["0 s", "1 ms"]}


@pytest.mark.parametrize("network", networks(), ids=lambda network: network.name)
def test_networks_run(network):
    results = airpath.compare(["cubic"], network=network.name, duration="2s", warm_up="0s", jobs=1)
    assert results.runs[0].metrics["throughput_mbps"] > 0.1


WRONG = {
    "network": ("wify", 'network: found "wify"; did you mean "wifi"'),
    "rtt": ("200ms..20ms", 'rtt: found "200ms..20ms"; accepted: a time, or a rising range'),
    "buffer": ("10", 'buffer: found "10", which has no unit'),
    "queue": ("codle", 'queue: found "codle"'),
    "up": ("lte.upp", 'up: found "lte.upp", which is neither a rate, nor a file, nor a shipped link'),
    "loss": ("100%", 'loss: found "100%"; accepted: a share above 0 % and below 100 %'),
    "jitter": ("5", 'jitter: found "5", which has no unit'),
    "reorder": ("1%:5", 'reorder: found "5", which has no unit'),
    "ecn": ("yes", "ecn: found 'yes'; accepted: True, False"),
    "flows": (0, "flows: found 0; accepted: at least 1"),
    "duration": ("60", 'duration: found "60", which has no unit'),
    "warm_up": ("60s", "warm_up: found 60 s, which must be shorter"),
    "seed": (-1, "seed: found -1"),
    "repetitions": (0, "repetitions: found 0"),
}


def test_each_option_has_a_bad_value_here():
    assert {"link", *WRONG} == set(options_of(Comparison))


@pytest.mark.parametrize(
    ("kind", "keywords"),
    [(OneLink, LinkOptions), (LinkAndFlows, FlowOptions), (Comparison, CompareOptions)],
)
def test_keyword_arguments_are_the_fields(kind, keywords):
    assert {"link": str | None, **get_type_hints(keywords)} == get_type_hints(kind)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        *(({name: value}, said) for name, (value, said) in WRONG.items()),
        ({"rtt": "2ms..4ms"}, 'rtt: found "2ms..4ms" for one flow; accepted: one time, or 2 flows or more'),
        ({"rtt": "1ms..2ms..3ms"}, 'rtt: found "1ms..2ms..3ms"'),
        ({"rtt": "20..200ms"}, 'rtt: found "20", which has no unit'),
        ({"rtt": 40}, "rtt: found 40; accepted: text"),
        ({"loss": "1"}, 'loss: found "1"; accepted: a share'),
        ({"loss": "0%"}, 'loss: found "0%"; accepted: a share'),
        ({"loss": "much"}, 'loss: found "much"; accepted: a share'),
        ({"loss": "1%:"}, 'loss: found "1%:"; accepted: a share'),
        ({"loss": "1%:4%"}, 'loss: found "1%:4%"; accepted: a share'),
        ({"loss": "1%:0.5"}, 'loss: found "1%:0.5"; accepted: a mean burst from 1 to 1000000 packets'),
        ({"loss": "80%:1"}, 'loss: found "80%:1"; accepted: a mean burst from 4 to 1000000 packets'),
        ({"loss": 1.5}, "loss: found 1.5"),
        ({"reorder": "many"}, 'reorder: found "many"; accepted: a share'),
        ({"reorder": "1%:"}, 'reorder: found ""'),
        ({"reorder": "1%", "loss": "1%"}, 'reorder: found "1%" with loss "1%"; accepted: one of them'),
        ({"los": "1%"}, 'there is no option "los"; did you mean "loss"'),
    ],
    ids=str,
)
def test_bad_values(options, said):
    with pytest.raises((UsageError, ScenarioError)) as caught:
        compare_scenario(["cubic"], "12mbps", **options)
    assert str(caught.value).startswith(said)
    assert "\n" not in str(caught.value)


def test_seeds_determine_round_trip_times_shared_by_all_schemes():
    results = airpath.compare(["cubic", "bbr"], "12mbps", rtt="40ms", duration="2s", repetitions=4, jobs=2)
    rtts_ms = {}
    for run in results.runs:
        links = [
            link for link in run.table("links").to_pylist() if link["link_name"].startswith("bottleneck")
        ]
        assert len(links) == 2
        rtts_ms.setdefault(run.record.scheme, []).append(sum(1e3 * link["delay_s"] for link in links))
    cubic = rtts_ms["cubic"]
    assert cubic == rtts_ms["bbr"]
    assert len(set(cubic)) == 4
    assert all(39.2 <= rtt <= 40.8 for rtt in cubic)


def test_rivals_emulations_agents_and_suites_accept_the_same_options():
    given = {"loss": "1%:4", "jitter": "5ms", "up": "3mbps", "buffer": "90kB"}
    (compared,) = compare_scenario(["cubic"], "12mbps", **given)
    expected = compared.to_dict()["topology"]
    pairs, _ = rival_scenarios(["cubic"], "12mbps", **given)
    assert next(iter(pairs.values())).to_dict()["topology"] == expected
    exact = {**expected, "bottleneck": {**expected["bottleneck"], "delay": "20 ms"}}
    assert emulated_scenario("12mbps", **given).to_dict()["topology"] == exact
    assert BottleneckEnv(link="12mbps", **given).scenario.to_dict()["topology"] == exact
    case = CaseTable.model_validate({"name": "case", "link": "12mbps", **given})
    assert case.over_link == {"link": "12mbps", **given}
    for call in (lambda **more: emulated_scenario("12mbps", **more), lambda **more: BottleneckEnv(**more)):
        with pytest.raises(UsageError, match=r'^rtt: found "20ms\.\.40ms"; accepted: one time'):
            call(rtt="20ms..40ms")


@pytest.mark.parametrize(
    ("link", "options", "line"),
    [
        (
            "12mbps",
            {},
            "12 Mbit/s, RTT 40 ms (drawn within ± 2 % for each seed), buffer 60 kB (1 BDP), 1 flow",
        ),
        (None, {}, "network lte (no --link or --network was given): 9 Mbit/s on average, RTT 40 ms"),
        (None, {"network": "geo"}, "network geo: 20 Mbit/s, RTT 600 ms"),
        ("5mbps", {"network": "geo"}, "network geo with link 5mbps: 5 Mbit/s"),
        ("12mbps", {"rtt": "20ms..200ms", "flows": 3}, "12 Mbit/s, RTT 20 ms to 200 ms"),
    ],
)
def test_the_first_line(link, options, line):
    (scenario,) = compare_scenario(["cubic"], link, **options)
    assert link_line(scenario, LinkAndFlows.of(link, options)).startswith(line)

"""Each topology: the links of the plan, and the paths of the flows."""

import pytest
from scenario_tables import dumbbell, graph, parking_lot, path_names, plan

from airpath.scenario import Scenario

CONSTANT_20_MS = {"kind": "constant", "value": 2e7}


def test_the_smallest_dumbbell_to_the_last_key():
    link = {
        "name": "bottleneck",
        "rate": {"kind": "constant", "bps": 12_000_000},
        "delay_ns": CONSTANT_20_MS,
        "jitter_ns": None,
        "loss": 0.0,
        "bursts": None,
        "arq": None,
        # 12 Mbit/s times 40 ms.
        "queue": {"kind": "drop-tail", "limit_bytes": 60_000, "limit_packets": None},
        "record": True,
    }
    assert plan(dumbbell()) == {
        "format": 2,
        "duration_ns": 10_000_000_000,
        "record": {
            "measure_from_ns": 0,
            "interval_ns": 100_000_000,
            "packets": False,
            "estimate_samples": False,
            "drops": True,
            "flow_limits": False,
            "capture": [],
            "qlog": False,
        },
        "estimators": [],
        "links": [link, link | {"name": "bottleneck-reverse"}],
        "flows": [
            {
                "name": "flow-1",
                "path": [0],
                "reverse_path": [1],
                "measured_at": 0,
                "start_ns": {"kind": "constant", "value": 0.0},
                "stop_ns": None,
                "traffic": {"kind": "bulk"},
                "controller": {
                    "kind": "cubic",
                    "c": 0.4,
                    "beta": 0.7,
                    "fast_convergence": True,
                    "reno_friendly": True,
                    "form": "rfc9438",
                    "slow_start": "hystart++",
                },
                "transport": {
                    "mss_bytes": 1448,
                    "header_bytes": 52,
                    "ack_bytes": 52,
                    "initial_window_bytes": 14_480,
                    "receive_window_bytes": 2**30,
                    "recovery": "prr",
                    "lost_retransmission_detection": True,
                    "loss_detection": "threshold",
                    "spurious_timeout_undo": True,
                    "timestamps": True,
                    "delayed_ack_segments": 2,
                    "delayed_ack_timeout_ns": 40_000_000,
                    "min_rto_ns": 200_000_000,
                    "rto_floor": "variance",
                    "max_rto_ns": 120_000_000_000,
                    "initial_rto_ns": 1_000_000_000,
                    "ecn": False,
                    "accurate_ecn": False,
                    "pacing": False,
                    "stack": "rfc",
                    "gso": True,
                },
                "estimators": [],
            }
        ],
    }


def test_host_links_of_a_dumbbell_have_their_own_rate_delay_and_queue():
    resolved = plan(
        dumbbell(
            topology__access={"rate": "100mbps", "delay": "4ms"},
            flows__0__count=2,
            flows__0__direction="both",
        )
    )
    assert [flow["name"] for flow in resolved["flows"]] == [
        "flow-forward-1",
        "flow-forward-2",
        "flow-reverse-1",
        "flow-reverse-2",
    ]
    assert path_names(resolved, 1) == (
        ["flow-forward-2-access", "bottleneck", "flow-forward-2-egress"],
        ["flow-forward-2-egress-reverse", "bottleneck-reverse", "flow-forward-2-access-reverse"],
    )
    assert path_names(resolved, 2) == (
        ["flow-reverse-1-access", "bottleneck-reverse", "flow-reverse-1-egress"],
        ["flow-reverse-1-egress-reverse", "bottleneck", "flow-reverse-1-access-reverse"],
    )
    assert [resolved["links"][flow["measured_at"]]["name"] for flow in resolved["flows"]] == [
        "bottleneck",
        "bottleneck",
        "bottleneck-reverse",
        "bottleneck-reverse",
    ]
    access = next(link for link in resolved["links"] if link["name"] == "flow-forward-1-access")
    assert access == {
        "name": "flow-forward-1-access",
        "rate": {"kind": "constant", "bps": 100_000_000},
        "delay_ns": {"kind": "constant", "value": 4e6},
        "jitter_ns": None,
        "loss": 0.0,
        "bursts": None,
        "arq": None,
        "queue": {"kind": "drop-tail", "limit_bytes": None, "limit_packets": None},
        "record": False,
    }


def test_extra_rtt_is_split_if_fixed_and_on_the_reverse_path_if_random():
    def delays(extra):
        resolved = plan(dumbbell(flows__0__count=3, flows__0__extra_rtt=extra))
        by_name = {link["name"]: link["delay_ns"] for link in resolved["links"]}
        return [
            tuple(by_name.get(f"flow-{number}-{side}") for side in ("access", "access-reverse"))
            for number in (1, 2, 3)
        ]

    def constant(value):
        return {"kind": "constant", "value": value}

    assert delays({"even": ["0ms", "10ms"]}) == [
        (None, None),
        (constant(2.5e6), constant(2.5e6)),
        (constant(5e6), constant(5e6)),
    ]
    assert delays({"uniform": ["0ms", "10ms"]}) == 3 * [(None, {"kind": "uniform", "low": 0.0, "high": 1e7})]
    assert delays("0ms") == 3 * [(None, None)]
    assert delays("3ns") == 3 * [(constant(2.0), constant(1.0))]


def test_the_reverse_direction_equals_the_forward_direction_by_default():
    def reverse(**changes):
        resolved = plan(
            dumbbell(
                topology__bottleneck__loss=0.01,
                topology__bottleneck__queue={"kind": "drop-tail", "limit": "30 packets"},
                topology__reverse=changes,
            )
        )
        return resolved["links"][1]

    assert reverse() == {
        "name": "bottleneck-reverse",
        "rate": {"kind": "constant", "bps": 12_000_000},
        "delay_ns": CONSTANT_20_MS,
        "jitter_ns": None,
        "loss": 0.01,
        "bursts": None,
        "arq": None,
        "queue": {"kind": "drop-tail", "limit_bytes": None, "limit_packets": 30},
        "record": True,
    }
    assert reverse(loss=0.0, record=False) == reverse() | {"loss": 0.0, "record": False}
    assert reverse(rate="1mbps")["rate"] == {"kind": "constant", "bps": 1_000_000}
    # A delay of zero is explicit, not absent.
    assert reverse(delay="0ms")["delay_ns"] == {"kind": "constant", "value": 0.0}
    assert reverse(jitter="1ms")["jitter_ns"] == {"kind": "constant", "value": 1e6}


def test_both_directions_of_a_random_link_have_the_same_rates():
    rate = {"kind": "uniform", "low": "1mbps", "high": "20mbps", "hold": "10s"}
    resolved = plan(dumbbell(topology__bottleneck__rate=rate))
    assert [link["rate"]["stream"] for link in resolved["links"]] == ["bottleneck", "bottleneck"]
    apart = plan(dumbbell(topology__bottleneck__rate=rate, topology__reverse={"rate": rate}))
    assert [link["rate"]["stream"] for link in apart["links"]] == ["bottleneck", "bottleneck-reverse"]


def test_a_named_link_includes_its_reverse_direction_delay_and_buffer():
    lte = Scenario.from_dict(
        dumbbell(topology__bottleneck={"rate": {"kind": "link", "name": "lte.down", "mode": "once"}})
    )
    rates = [link["rate"] for link in lte.plan()["links"]]
    assert rates == [{"kind": "opportunities", "trace": index, "once": True} for index in (0, 1)]
    assert [trace.path.name for trace in lte.traces] == ["lte.down", "lte.up"]
    assert lte.plan()["links"][0]["delay_ns"] == CONSTANT_20_MS
    ebe = plan(dumbbell(topology__bottleneck={"rate": {"kind": "link", "name": "ebe.bottleneck"}}))
    assert ebe["links"][0]["delay_ns"] == {"kind": "constant", "value": 32e6}
    assert [link["queue"]["limit_bytes"] for link in ebe["links"]] == [575_000, 575_000]
    rates = [bps // 1_000_000 for bps in ebe["links"][1]["rate"]["rates"]]
    assert rates == [10, 14, 17, 19, 15, 17, 5, 2, 6, 4, 8, 5]
    assert (ebe["links"][1]["rate"]["hold_ns"], ebe["links"][1]["rate"]["repeat"]) == (10 * 10**9, True)


def test_parking_lot_paths():
    resolved = plan(
        parking_lot(
            flows=[
                {"name": "long", "scheme": "cubic"},
                {"name": "back", "scheme": "cubic", "direction": "reverse"},
                {"name": "local", "scheme": "cubic", "hop": "each", "direction": "both"},
                {"name": "second", "scheme": "cubic", "hop": 2, "count": 2},
            ]
        )
    )
    assert [link["name"] for link in resolved["links"]] == ["R0-R1", "R1-R0", "R1-R2", "R2-R1"]
    paths = {flow["name"]: path_names(resolved, index) for index, flow in enumerate(resolved["flows"])}
    assert paths == {
        "long-1": (["R0-R1", "R1-R2"], ["R2-R1", "R1-R0"]),
        "back-1": (["R2-R1", "R1-R0"], ["R0-R1", "R1-R2"]),
        "local-hop1-forward-1": (["R0-R1"], ["R1-R0"]),
        "local-hop1-reverse-1": (["R1-R0"], ["R0-R1"]),
        "local-hop2-forward-1": (["R1-R2"], ["R2-R1"]),
        "local-hop2-reverse-1": (["R2-R1"], ["R1-R2"]),
        "second-1": (["R1-R2"], ["R2-R1"]),
        "second-2": (["R1-R2"], ["R2-R1"]),
    }


def test_throughput_is_measured_at_the_first_recorded_link_by_default():
    def measured(**changes):
        resolved = plan(parking_lot(**changes))
        return resolved["links"][resolved["flows"][0]["measured_at"]]["name"]

    assert measured() == "R0-R1"
    assert measured(topology__access={"delay": "1ms"}) == "R0-R1"
    assert measured(flows__0__measured_at="R1-R2") == "R1-R2"
    assert measured(topology__bottlenecks__0__record=False) == "R1-R2"


def link(start, end, **more):
    return {"from": start, "to": end, "rate": "12mbps", "delay": "10ms"} | more


@pytest.mark.parametrize(
    ("links", "expected"),
    [
        # Fewest hops first, even if slower.
        ([link("A", "B"), link("B", "D"), link("A", "D", delay="1s")], ["A-D"]),
        # Then the smaller delay.
        ([link("A", "B"), link("B", "D"), link("A", "C", delay="9ms"), link("C", "D")], ["A-C", "C-D"]),
        # Then the name.
        ([link("A", "C"), link("C", "D"), link("A", "B"), link("B", "D")], ["A-B", "B-D"]),
        ([link("A", "D", name="z"), link("A", "D", name="b")], ["b"]),
    ],
)
def test_the_path_through_a_graph(links, expected):
    assert path_names(plan(graph(links)))[0] == expected


def test_a_graph_with_stops_one_way_links_and_names():
    links = [
        link("A", "B", name="radio"),
        link("B", "D"),
        link("A", "D", delay="20ms"),
        link("D", "C", duplex=False),
        link("C", "A", duplex=False),
    ]
    assert path_names(plan(graph(links, flows__0__via=["B"]))) == (["radio", "B-D"], ["D-B", "radio-reverse"])
    one_way = [link("A", "D", duplex=False), link("D", "C"), link("C", "A")]
    assert path_names(plan(graph(one_way))) == (["A-D"], ["D-C", "C-A"])


def test_unlimited_links_of_a_graph_are_not_recorded_by_default():
    links = [link("A", "B", rate="unlimited"), link("B", "D")]
    records = {entry["name"]: entry["record"] for entry in plan(graph(links))["links"]}
    assert records == {"A-B": False, "B-A": False, "B-D": True, "D-B": True}
    links[0]["record"] = True
    assert plan(graph(links))["links"][0]["record"]


def test_each_direction_has_the_default_queue_of_its_own_rate():
    def ends(forward, backward):
        resolved = plan(dumbbell(topology__bottleneck__rate=forward, topology__reverse={"rate": backward}))
        return [(link["queue"]["limit_bytes"], link["record"]) for link in resolved["links"]]

    assert ends("12mbps", "unlimited") == [(60_000, True), (None, False)]
    assert ends("unlimited", "12mbps") == [(None, False), (60_000, True)]
    assert ends("unlimited", "unlimited") == [(None, False), (None, False)]
    assert ends("12mbps", "24mbps") == [(60_000, True), (120_000, True)]


def test_the_name_of_a_link_is_a_rate():
    long = dumbbell(topology__bottleneck={"rate": {"kind": "link", "name": "ebe.random"}})
    assert plan(dumbbell(topology__bottleneck={"rate": "ebe.random"})) == plan(long)

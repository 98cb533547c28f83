"""Derived values: mean rates, buffers in four units, transports in layers, controllers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scenario_tables import dumbbell, parking_lot, plan

from airpath.scenario import BufferSize, Scenario
from airpath.scenario.resolve import Resolved
from airpath.schemes import SCHEMES


def resolved(**changes) -> Resolved:
    return Scenario.from_dict(dumbbell(**changes)).resolved


@pytest.mark.parametrize(
    ("limit", "limit_bytes", "limit_packets"),
    [
        ("60kB", 60_000, None),
        ("40 packets", None, 40),
        ("40ms", 60_000, None),
        ("1bdp", 60_000, None),
        ("1.5bdp", 90_000, None),
    ],
)
def test_buffers_are_configured_in_one_of_four_measures_and_reported_in_all(
    limit, limit_bytes, limit_packets
):
    result = resolved(topology__bottleneck__queue={"kind": "drop-tail", "limit": limit})
    queue = {"kind": "drop-tail", "limit_bytes": limit_bytes, "limit_packets": limit_packets}
    assert result.plan["links"][0]["queue"] == queue
    # 1500-byte packets at 12 Mbit/s take 1 ms each; 40 of them are one bandwidth-delay product.
    scale = 1.5 if limit == "1.5bdp" else 1
    buffer = result.buffers["bottleneck"]
    assert buffer.bytes == 60_000 * scale
    assert buffer.packets == pytest.approx(40 * scale)
    assert buffer.seconds == pytest.approx(0.04 * scale)
    assert buffer.bdp == pytest.approx(scale)


def test_no_limit_has_no_measures():
    result = resolved(topology__bottleneck__queue={"kind": "drop-tail", "limit": "unlimited"})
    assert result.plan["links"][0]["queue"] == {
        "kind": "drop-tail",
        "limit_bytes": None,
        "limit_packets": None,
    }
    assert result.buffers["bottleneck"] == BufferSize(None, None, None, None)
    assert resolved(topology__bottleneck__rate="unlimited").buffers["bottleneck"].bytes is None


@pytest.mark.parametrize(
    ("rate", "mean"),
    [
        ("12mbps", 12e6),
        ({"kind": "uniform", "low": "1mbps", "high": "20mbps", "hold": "1s", "initial": "10mbps"}, 10.5e6),
        # The run lasts 10 s: 2 s at 20, then 8 s at 10.
        ({"kind": "steps", "steps": [["0s", "20mbps"], ["2s", "10mbps"]]}, 12e6),
        # Steps after the end do not count.
        ({"kind": "steps", "steps": [["0s", "20mbps"], ["20s", "10mbps"]]}, 20e6),
        # One period.
        ({"kind": "steps", "steps": [["0s", "20mbps"], ["2s", "10mbps"]], "repeat_after": "4s"}, 15e6),
        ({"kind": "sequence", "rates": ["10mbps", "20mbps", "0bps"], "hold": "7s"}, 10e6),
        ({"kind": "sequence", "rates": ["20mbps", "10mbps"], "hold": "2s", "repeat": False}, 12e6),
        ({"kind": "link", "name": "ebe.bottleneck"}, 122e6 / 12),
        ("unlimited", None),
    ],
)
def test_mean_rates(rate, mean):
    assert resolved(topology__bottleneck__rate=rate).mean_rate_bps["bottleneck"] == (
        mean and pytest.approx(mean)
    )


@given(
    st.lists(st.tuples(st.integers(1, 10**10), st.integers(10**6, 10**9)), min_size=1, max_size=8),
    st.booleans(),
)
def test_the_mean_rate_of_a_schedule_is_its_integral_over_time(pieces, repeats):
    starts = [sum(hold for hold, _ in pieces[:index]) for index in range(len(pieces))]
    period = sum(hold for hold, _ in pieces)
    steps = [[f"{start} ns", f"{bps} bps"] for start, (_, bps) in zip(starts, pieces, strict=True)]
    rate = {"kind": "steps", "steps": steps} | ({"repeat_after": f"{period} ns"} if repeats else {})
    tables = dumbbell(duration=f"{period} ns", record__interval="1s", topology__bottleneck__rate=rate)
    result = Scenario.from_dict(
        tables | {"topology": tables["topology"] | {"reverse": {"rate": "1mbps"}}}
    ).resolved
    expected = sum(hold * bps for hold, bps in pieces) / period
    assert result.mean_rate_bps["bottleneck"] == pytest.approx(expected)


def test_a_mahimahi_trace_has_the_mean_of_its_lines_over_its_period(tmp_path):
    (tmp_path / "link").write_text("1\n1\n3\n6\n")
    tables = dumbbell(topology__bottleneck__rate={"kind": "trace", "file": "link"})
    scenario = Scenario.from_dict(tables, folder=tmp_path)
    # Four packets of 1500 bytes in 6 ms.
    assert scenario.resolved.mean_rate_bps["bottleneck"] == pytest.approx(8e6)
    # Both directions read the same file once.
    assert [trace.path for trace in scenario.traces] == [tmp_path / "link"]
    assert [link["rate"]["trace"] for link in scenario.plan()["links"]] == [0, 0]


def test_the_base_rtt_is_that_of_the_longest_flow_that_crosses():
    flows = [
        {"name": "long", "scheme": "cubic", "extra_rtt": "50ms"},
        {"name": "local", "scheme": "cubic", "hop": 1},
    ]
    both = Scenario.from_dict(parking_lot(flows=flows, topology__access={"delay": "1ms"})).resolved
    assert both.base_rtt_ns["R0-R1"] == 2 * (10 + 10 + 2 * 1) * 1e6
    local = Scenario.from_dict(parking_lot(flows=flows[1:], topology__access={"delay": "1ms"})).resolved
    assert local.base_rtt_ns["R0-R1"] == 2 * (10 + 2 * 1) * 1e6
    # No flow crosses the second hop: twice its own delay.
    assert local.base_rtt_ns["R1-R2"] == 20e6


def test_asymmetric_and_random_delays_count_with_both_directions_and_their_means():
    result = resolved(
        topology__bottleneck__delay={"uniform": ["10ms", "30ms"]},
        topology__reverse={"delay": {"exponential": "5ms"}},
    )
    assert result.base_rtt_ns["bottleneck"] == result.base_rtt_ns["bottleneck-reverse"] == 25e6


def test_transports_are_layered_flow_over_scenario_over_scheme_over_default():
    def window(**changes):
        return plan(dumbbell(**changes))["flows"][0]["transport"]["initial_window_bytes"]

    assert window() == 10 * 1448
    assert window(flows__0__scheme="cubic-2008") == 3 * 1448
    assert window(flows__0__scheme="cubic-2008", transport__initial_window="4 packets") == 4 * 1448
    assert (
        window(transport__initial_window="4 packets", flows__0__transport={"initial_window": "9kB"}) == 9000
    )


def test_false_and_zero_count_as_configured():
    transport = plan(
        dumbbell(
            transport={"timestamps": True, "pacing": True, "delayed_ack_timeout": "10ms"},
            flows__0__transport={"timestamps": False, "pacing": False, "delayed_ack_timeout": "0ms"},
        )
    )["flows"][0]["transport"]
    assert (transport["timestamps"], transport["pacing"], transport["delayed_ack_timeout_ns"]) == (
        False,
        False,
        0,
    )


def test_sizes_of_packets_follow_from_each_other():
    def sizes(**settings):
        transport = plan(dumbbell(transport=settings))["flows"][0]["transport"]
        return tuple(transport[key] for key in ("mss_bytes", "header_bytes", "ack_bytes"))

    assert sizes() == (1448, 52, 52)
    assert sizes(timestamps=False) == (1460, 40, 40)
    assert sizes(mss="1000B") == (1000, 52, 52)
    assert sizes(headers="40B") == (1460, 40, 40)
    assert sizes(mss="1000B", headers="40B", ack="60B") == (1000, 40, 60)


def test_windows_in_packets_count_segments():
    def controller(scheme, **changes):
        return plan(dumbbell(flows__0__scheme=scheme, **changes))["flows"][0]["controller"]

    assert controller("fixed:window=20 packets", transport__mss="1000B") == {
        "kind": "fixed",
        "window": 20_000,
        "rate": None,
    }
    assert controller("fixed:window=20kB,rate=3mbps") == {
        "kind": "fixed",
        "window": 20_000,
        "rate": 3_000_000,
    }
    assert controller("fixed", flows__0__parameters={"window": "1KiB"})["window"] == 1024


def test_parameters_override_options():
    flow = plan(dumbbell(flows__0__scheme="cubic:beta=0.8,c=1", flows__0__parameters={"beta": 0.5}))["flows"][
        0
    ]
    assert (flow["controller"]["beta"], flow["controller"]["c"]) == (0.5, 1.0)


def test_controllers_of_the_registry():
    def controller(scheme):
        return plan(dumbbell(flows__0__scheme=scheme))["flows"][0]["controller"]

    assert (
        controller("newreno")
        == controller("reno")
        == {
            "kind": "newreno",
            "counting": "bytes",
            "threshold_unit": "bytes",
            "slow_start": "standard",
        }
    )
    old = {"beta": 0.8, "form": "2008", "slow_start": "per-acknowledgment"}
    assert controller("cubic-2008") == controller("cubic") | old


def test_starts_are_random_or_spread():
    def starts(start):
        return [
            flow["start_ns"] for flow in plan(dumbbell(flows__0__count=3, flows__0__start=start))["flows"]
        ]

    assert starts({"uniform": ["0ms", "300ms"]}) == 3 * [{"kind": "uniform", "low": 0.0, "high": 3e8}]
    assert [start["value"] for start in starts({"even": ["0s", "1s"]})] == [0.0, 5e8, 1e9]
    assert starts({"exponential": "1s"}) == 3 * [{"kind": "exponential", "mean": 1e9}]


def test_schemes_have_different_names():
    names = [name for scheme in SCHEMES for name in (scheme.id, *scheme.aliases)]
    assert len(set(names)) == len(names)

"""Columns of a summary agree with each other in any scenario."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

import airpath
from airpath.results import RunResult

scenarios = st.fixed_dictionaries(
    {
        "schemes": st.lists(st.sampled_from(["cubic", "bbr", "vegas", "newreno"]), min_size=1, max_size=3),
        "rate": st.sampled_from(["700kbps", "3mbps", "12mbps", "31mbps"]),
        "limit": st.sampled_from(["3 packets", "20 packets", "100ms", "400 packets"]),
        "loss": st.sampled_from([0.0, 0.001, 0.05]),
        "delay": st.sampled_from(["1ms", "20ms", "150ms"]),
        "warm_up": st.sampled_from(["0s", "auto", "700ms"]),
        "start": st.sampled_from(["0s", "300ms", "1200ms"]),
        "stop": st.sampled_from([None, "1500ms"]),
    }
)


def run_of(case: dict[str, Any]) -> RunResult:
    """Run long flows over one link without other traffic."""
    stop = {} if case["stop"] is None else {"stop": case["stop"]}
    link = {
        "rate": case["rate"],
        "delay": case["delay"],
        "queue": {"kind": "drop-tail", "limit": case["limit"]},
    }
    results = airpath.run(
        {
            "name": "agreement",
            "duration": "2500ms",
            "record": {"warm_up": case["warm_up"]},
            "topology": {"kind": "dumbbell", "bottleneck": link | {"loss": case["loss"]}},
            "flows": [
                {"name": f"flow-{number}", "scheme": scheme}
                | ({"start": case["start"]} | stop if number == 0 else {})
                for number, scheme in enumerate(case["schemes"])
            ],
        },
        jobs=1,
        progress=False,
    )
    return results.runs[0]


@seed(33)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow], database=None)
@given(scenarios)
def test_rates_and_losses_cover_the_same_interval(case: dict[str, Any]) -> None:
    metrics = run_of(case).metrics
    share = metrics["throughput_mbps"] / metrics["capacity_mbps"]
    assert share == pytest.approx(metrics["utilisation"], rel=1e-12, abs=0.0)
    assert metrics["link_throughput_mbps"] == pytest.approx(metrics["throughput_mbps"], rel=1e-12, abs=0.0)
    losses = [metrics[f"{cause}loss_rate"] for cause in ("", "congestion_", "channel_")]
    assert all(0.0 <= loss < 1.0 for loss in losses)
    assert losses[0] == pytest.approx(losses[1] + losses[2], rel=1e-12, abs=0.0)
    assert (losses[2] > 0.0) <= (case["loss"] > 0.0)


def test_queued_packets_are_not_lost() -> None:
    """A queue that is not full at the end of a run: its content does not count as lost."""
    case = {"schemes": ["newreno"], "rate": "3mbps", "limit": "2000 packets", "loss": 0.0, "delay": "20ms"}
    metrics = run_of(case | {"warm_up": "0s", "start": "0s", "stop": None}).metrics
    assert metrics["queue_mean_bytes"] > 10_000
    assert metrics["loss_rate"] == 0.0


def test_counts_of_flows_exclude_the_warm_up() -> None:
    case = {"schemes": ["newreno", "cubic"], "rate": "3mbps", "limit": "20 packets", "loss": 0.05}
    case |= {"delay": "20ms", "start": "0s", "stop": None}
    whole, later = (run_of(case | {"warm_up": warm_up}) for warm_up in ("0s", "1500ms"))
    for flow in range(2):
        all_of_it, measured = (run.flows.slice(flow, 1).to_pylist()[0] for run in (whole, later))
        for name in ("sent_packets", "retransmitted_packets", "lost_packets", "recoveries"):
            assert 0 < measured[name] < all_of_it[name], name
        events = [row for row in later.flow_events.to_pylist() if row["flow"] == flow]
        for event, name in (("timeout", "timeouts"), ("spurious timeout", "spurious_timeouts")):
            times = [row["time_s"] for row in events if row["event"] == event]
            assert all_of_it[name] == len(times)
            assert measured[name] == sum(time > 1.5 for time in times)
        drops = [row for row in later.drops.to_pylist() if row["link_name"] == "bottleneck"]
        lost = [row["time_s"] for row in drops if row["flow"] == flow]
        assert measured["lost_packets"] == sum(time > 1.5 for time in lost)

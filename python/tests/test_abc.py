"""ABC over links with varying capacity, compared with CUBIC with CoDel as by its authors, and with XCP."""

import pytest
from outside import recorded_trace

import airpath
from airpath.scenario import Scenario, compare_scenario


def summary(scheme, link, queue=None):
    """Return the summary of one flow over the link, as in the authors' script: 100 ms, 250 packets."""
    (scenario,) = compare_scenario([scheme], link, rtt="100ms", buffer="250 packets", duration="60s")
    if queue is not None:
        tables = scenario.to_dict()
        tables["topology"]["bottleneck"]["queue"] = queue
        scenario = Scenario.from_dict(tables)
    (row,) = airpath.run(scenario).summary.to_pylist()
    return row


CODEL = {"kind": "codel", "limit": "250 packets", "target": "50ms", "interval": "100ms"}


def test_over_lte_abc_delivers_more_than_cubic_over_codel_with_less_delay_than_cubic():
    abc, told, cubic = (summary(scheme, "lte.down") for scheme in ("abc", "xcp-oracle", "cubic"))
    managed = summary("cubic", "lte.down", CODEL)
    assert abc["throughput_mbps"] > 1.3 * managed["throughput_mbps"]
    assert abc["throughput_mbps"] > told["throughput_mbps"]
    assert abc["queueing_p95_ms"] < 0.4 * cubic["queueing_p95_ms"]


def test_over_the_moving_bottleneck_abc_fills_the_link_without_a_queue():
    abc, cubic = (summary(scheme, "ebe.bottleneck") for scheme in ("abc", "cubic"))
    assert abc["utilisation"] > 0.96
    assert abc["queueing_p95_ms"] < 0.05 * cubic["queueing_p95_ms"]
    assert abc["congestion_loss_rate"] == 0


@pytest.mark.parametrize(
    "name",
    [
        "Verizon-LTE-short.down",
        "Verizon-LTE-short.up",
        "ATT-LTE-driving-2016.down",
        "ATT-LTE-driving-2016.up",
        "TMobile-LTE-short.down",
    ],
)
def test_over_recorded_traces_abc_delivers_more_than_cubic_over_codel(name):
    path = recorded_trace(name)
    abc, managed = summary("abc", str(path)), summary("cubic", str(path), CODEL)
    # 18 to 49 % were measured; the 50 % of the paper are not reached.
    assert abc["throughput_mbps"] > 1.1 * managed["throughput_mbps"]
    assert abc["queueing_p95_ms"] < 2 * managed["queueing_p95_ms"]

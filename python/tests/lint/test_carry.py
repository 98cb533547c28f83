"""The scenario converted from a configuration is equivalent: its tables, and a run of it."""

import pytest

import airpath
from airpath.errors import LintError
from airpath.scenario import Scenario
from airpath_lint import lint_text
from airpath_lint.carry import carry_over
from airpath_lint.losses import FourStateLoss

TWO_WAYS = """
tc qdisc add dev down root netem delay 20ms rate 10mbit limit 60 loss gemodel 0.1% 20% 90% 0.01%
tc qdisc add dev up root handle 1: tbf rate 2mbit burst 1600 latency 50ms
"""


def carried(text):
    return carry_over(lint_text(text))


def test_rates_delays_buffers_and_losses():
    plan = carried(TWO_WAYS).scenario.to_dict()["topology"]
    down, up = plan["bottleneck"], plan["reverse"]
    assert down["rate"]["rate"] == "10 Mbit/s"
    assert down["delay"] == "20 ms"
    # 60 packets, of which 10e6 x 0.02 / (8 x 1514) = 16.5 are in flight.
    assert down["queue"] == {"kind": "drop-tail", "limit": "43 packets"}
    assert down["loss"] == {
        "kind": "netem-gemodel",
        "p": 0.001,
        "r": 0.2,
        "loss_bad": 0.9,
        "loss_good": pytest.approx(1e-4),
    }
    assert up["rate"]["rate"] == "2 Mbit/s"
    # 50 ms of 2 Mbit/s and the bucket.
    assert up["queue"] == {"kind": "drop-tail", "limit": "14.1 kB"}


def test_a_single_direction_has_an_unlimited_reverse_path():
    made = carried("tc qdisc add dev eth0 root netem delay 20ms rate 10mbit")
    assert made.scenario.to_dict()["topology"]["reverse"]["rate"] == {"kind": "unlimited"}
    assert made.missing == ()


@pytest.mark.parametrize(
    ("queue", "kind"),
    [
        (
            "codel target 9ms interval 80ms ecn",
            {"kind": "codel", "target": "9 ms", "interval": "80 ms", "ecn": True},
        ),
        (
            "fq_codel flows 64 noecn",
            {"kind": "fq-codel", "queues": 64, "ecn": False, "limit": "10240 packets"},
        ),
        ("pie target 20ms limit 200", {"kind": "pie", "target": "20 ms", "limit": "200 packets"}),
        (
            "red limit 100kb min 10kb max 30kb avpkt 1000 probability 0.05",
            {"kind": "red", "minimum": "10.24 kB"},
        ),
        ("bfifo limit 30kb", {"kind": "drop-tail", "limit": "30.72 kB"}),
    ],
)
def test_queues(queue, kind):
    made = carried(
        "tc qdisc add dev eth0 root handle 1: tbf rate 10mbit burst 1600 limit 30k\n"
        f"tc qdisc add dev eth0 parent 1:1 {queue}"
    )
    found = made.scenario.to_dict()["topology"]["bottleneck"]["queue"]
    assert found | kind == found
    assert made.missing == ()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("delay 20ms 5ms", "reordering"),
        ("delay 20ms 5ms distribution pareto", "pareto"),
        ("duplicate 1%", "duplicate"),
        ("corrupt 1%", "corrupt"),
        ("delay 1ms reorder 1%", "reorder"),
        ("loss 10% 25%", "correlation"),
        ("loss state 1% 20% 30% 40% 0.1%", "four states"),
        ("slot 1ms 2ms", "slot"),
    ],
)
def test_omissions_are_listed_in_the_file_too(options, says):
    made = carried(f"tc qdisc add dev eth0 root netem {options}")
    assert any(says in one for one in made.missing)
    assert f"# Not carried over: {made.missing[0]}." in made.toml


def test_four_states_keep_their_mean_and_burst():
    loss = carried("tc qdisc add dev e root netem loss state 1% 20% 30% 40% 0.1%").scenario.to_dict()
    table = loss["topology"]["bottleneck"]["loss"]
    meant = FourStateLoss(0.01, 0.2, 0.3, 0.4, 0.001)
    assert table["mean_loss"] == pytest.approx(meant.mean_loss)
    assert table["mean_burst"] == pytest.approx(meant.mean_burst)


def test_jitter_becomes_extra_delay_that_keeps_the_mean():
    link = carried("tc qdisc add dev e root netem delay 20ms 5ms rate 1mbit").scenario.to_dict()["topology"]
    assert link["bottleneck"]["delay"] == "15 ms"
    assert link["bottleneck"]["jitter"] == {"uniform": ["0 s", "10 ms"]}


def test_without_a_link_there_is_no_scenario():
    with pytest.raises(LintError, match="no queueing discipline"):
        carried("tc qdisc show dev eth0")


def test_the_file_is_read_back_and_its_run_has_the_rate_and_the_losses(tmp_path):
    file = tmp_path / "link.toml"
    text = TWO_WAYS.replace("gemodel 0.1% 20% 90% 0.01%", "gemodel 2% 40%").replace("10mbit", "40mbit")
    made = carried(text.replace("limit 60", "limit 600"))
    file.write_text(made.toml)
    scenario = Scenario.load(file).override({"duration": "60s", "flows.0.scheme": "fixed:window=100packets"})
    links = airpath.run(scenario).runs[0].links.to_pylist()
    (link,) = [one for one in links if one["link_name"] == "bottleneck"]
    assert link["delay_s"] == 0.02
    # 100 packets of data in flight fill 40 Mbit/s over 20 ms.
    assert link["departed_bytes"] * 8 / 60 == pytest.approx(40e6, rel=0.01)
    count, lost = link["departed_packets"], link["dropped_packets_corruption"]
    # 2 / (2 + 40) of packets, in bursts of 2.5; the standard deviation of the share in n packets.
    mean, burst = 2 / 42, 2.5
    spread = (mean * (1 - mean) * 2 * burst / count) ** 0.5
    assert abs(lost / count - mean) < 5 * spread

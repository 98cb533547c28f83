"""The output of tc: text, JSON, and the command that configured it are read alike."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airpath.errors import LintError
from airpath_lint import lint_text
from airpath_lint.losses import FourStateLoss, GilbertElliottLoss, RandomLoss
from airpath_lint.netem import read_netem
from airpath_lint.words import Words

PERCENT = st.integers(1, 99)


def only(text):
    (tree,) = lint_text(text).trees
    return tree.root


@given(
    limit=st.integers(1, 100_000),
    delay=st.integers(1, 5_000),
    jitter=st.integers(0, 100),
    rate=st.integers(1, 1_000),
    seed=st.integers(0, 2**40),
    loss=st.one_of(
        st.tuples(st.just("random"), st.tuples(PERCENT, st.just(0))),
        st.tuples(st.just("gemodel"), st.tuples(PERCENT, PERCENT, PERCENT, PERCENT)),
        st.tuples(st.just("state"), st.tuples(PERCENT, PERCENT, PERCENT, PERCENT, PERCENT)),
    ),
)
def test_netem_is_the_same_in_a_command_on_a_screen_and_in_json(limit, delay, jitter, rate, seed, loss):
    model, numbers = loss
    labels = {
        "random": ("", ""),
        "gemodel": ("p", "r", "1-h", "1-k"),
        "state": ("p13", "p31", "p32", "p23", "p14"),
    }
    spread = f" {jitter}ms" if jitter else ""
    given_ = " ".join(f"{number}%" for number in numbers if number)
    printed = " ".join(
        f"{label} {number}%" for label, number in zip(labels[model], numbers, strict=True) if number
    )
    command = f"limit {limit} delay {delay}ms{spread} loss {model} {given_} rate {rate}mbit seed {seed}"
    word = "" if model == "random" else model
    screen = f"limit {limit} delay {delay}ms {spread} loss {word} {printed} seed {seed} rate {rate}Mbit"
    names = ("loss", "correlation") if model == "random" else labels[model]
    options = {
        "limit": limit,
        "delay": {"delay": delay / 1e3, "jitter": jitter / 1e3, "correlation": 0},
        f"loss-{model}": {name: number / 100 for name, number in zip(names, numbers, strict=True)},
        "rate": {"rate": rate * 125_000, "packetoverhead": 0, "cellsize": 0, "celloverhead": 0},
        "seed": seed,
        "ecn": False,
        "gap": 0,
    }
    of_command = read_netem(Words(command.split()))
    of_screen = only(f"qdisc netem 1: dev eth0 root refcnt 2 {screen}").options
    entry = {"kind": "netem", "handle": "1:", "dev": "eth0", "root": True, "options": options}
    of_json = only(json.dumps([entry])).options
    for shown in (of_screen, of_json):
        assert shown.loss.mean_loss == pytest.approx(of_command.loss.mean_loss)
        assert type(shown.loss) is type(of_command.loss)
        assert (shown.limit, shown.delay_ns, shown.jitter_ns) == (limit, delay * 10**6, jitter * 10**6)
        assert (shown.rate_bps, shown.seed) == (of_command.rate_bps, seed)


def test_models_of_loss_on_a_screen():
    line = "qdisc netem 8001: dev eth0 root refcnt 2 limit 1000 loss "
    assert only(line + "1%").options.loss == RandomLoss(0.01)
    assert only(line + "1% 25%").options.loss == RandomLoss(0.01, 0.25)
    assert only(line + "gemodel p 1% r 10% 1-h 100% 1-k 0%").options.loss == GilbertElliottLoss(0.01, 0.1)
    assert only(line + "state p13 1% p31 99% p32 0% p23 100% p14 0%").options.loss == FourStateLoss(
        0.01, 0.99
    )


SCREEN = """qdisc noqueue 0: dev lo root refcnt 2
 Sent 0 bytes 0 pkt (dropped 0, overlimits 0 requeues 0)
 backlog 0b 0p requeues 0
qdisc tbf 8001: dev eth0 root refcnt 2 rate 10Mbit burst 5Kb lat 50ms
 Sent 1514000 bytes 1000 pkt (dropped 30, overlimits 400 requeues 0)
 backlog 15140b 10p requeues 0
qdisc htb 1: dev eth1 root refcnt 2 r2q 10 default 0x10 direct_packets_stat 3 direct_qlen 1000
 Sent 0 bytes 0 pkt (dropped 0, overlimits 0 requeues 0)
qdisc fq_codel 10: dev eth1 parent 1:10 limit 10240p flows 1024 target 5ms interval 100ms ecn
class htb 1:10 dev eth1 parent 1:1 leaf 10: prio 0 rate 5Mbit ceil 6Mbit burst 1600b cburst 1599b
class htb 1:1 dev eth1 root rate 8Mbit ceil 8Mbit burst 1600b cburst 1600b
"""


def test_a_screen_with_its_counters():
    shaper, tree = lint_text(SCREEN).trees
    assert shaper.root.options.rate_bps == 10_000_000
    assert shaper.root.options.burst == 5120
    # 50 ms of 10 Mbit/s and the bucket.
    assert shaper.root.options.limit == 62_500 + 5120
    seen = shaper.root.statistics
    assert (seen.sent_packets, seen.dropped, seen.backlog_bytes, seen.backlog_packets) == (
        1000,
        30,
        15_140,
        10,
    )
    assert tree.root.options.default == 0x10
    (lane,) = [one for one in lint_text(SCREEN).directions.lanes if one.tree.device.name == "eth1"]
    assert (lane.name, lane.rate_bps, lane.aqm.kind) == ("eth1 1:10", 6_000_000, "fq_codel")
    assert lane.aqm.options.ecn
    assert {one.rule.name for one in lint_text(SCREEN).findings} >= {"direct-packets", "overflowed"}


def test_the_same_as_json():
    counters = {"bytes": 1514000, "packets": 1000, "drops": 30, "overlimits": 400, "requeues": 0}
    entries = [
        {"kind": "tbf", "handle": "8001:", "dev": "eth0", "root": True,
         "options": {"rate": 1250000, "burst": 5120, "lat": 50000}, **counters, "backlog": 15140, "qlen": 10},
        {"kind": "htb", "handle": "1:", "dev": "eth1", "root": True,
         "options": {"r2q": 10, "default": "0x10", "direct_packets_stat": 3}},
        {"kind": "fq_codel", "handle": "10:", "dev": "eth1", "parent": "1:10",
         "options": {"limit": 10240, "flows": 1024, "target": 4999, "interval": 99999, "ecn": True}},
        {"class": "htb", "handle": "1:10", "dev": "eth1", "parent": "1:1", "rate": 625000, "ceil": 750000},
        {"class": "htb", "handle": "1:1", "dev": "eth1", "root": True, "rate": 1000000, "ceil": 1000000},
    ]  # fmt: skip
    shaper, tree = lint_text(json.dumps(entries)).trees
    of_text, of_text_tree = lint_text(SCREEN).trees
    assert shaper.root.options == of_text.root.options
    assert shaper.root.statistics == of_text.root.statistics
    assert {name: one.options.most_bps for name, one in tree.classes.items()} == {
        name: one.options.most_bps for name, one in of_text_tree.classes.items()
    }


def test_an_output_without_devices_and_one_without_configuration():
    text = "qdisc netem 8001: root refcnt 2 limit 1000 delay 10ms\n"
    assert [str(tree.device) for tree in lint_text(text).trees] == ["(device)"]
    assert lint_text("qdisc pfifo_fast 0: dev eth0 root refcnt 2 bands 3 priomap 1 2 2 2 1 2 0 0\n").clean


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[{]", "not JSON"),
        ('[{"kind":"tbf","options":{rate 1Mbit burst 3840b lat 10.0ms }}]', "omit -j"),
        ('{"kind": "netem"}', "not a list"),
        ('[{"name": 1}]', "kind"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_other_json_is_rejected(text, says):
    with pytest.raises(LintError, match=says):
        lint_text(text)


def test_unusual_values_in_json_are_reported():
    entry = {"kind": "netem", "handle": "1:", "dev": "eth0", "root": True, "options": {"limit": -5}}
    (one,) = lint_text(json.dumps([entry])).findings
    assert one.rule.name == "not-understood"
    assert "limit" in one.what


def test_classes_and_filters_without_a_device_belong_to_the_only_discipline_that_has_them():
    text = """qdisc htb 1: dev eth0 root refcnt 2 r2q 10 default 0x10
qdisc netem 2: dev eth1 root refcnt 2 limit 1000
class htb 1:10 parent 1:1 prio 0 rate 5Mbit ceil 6Mbit burst 1600b cburst 1599b
filter parent 1: protocol ip pref 1 u32 chain 0 fh 800::800 order 2048 key ht 800 bkt 0 flowid 1:10
"""
    tree, other = lint_text(text).trees
    assert (str(tree.device), list(tree.classes), [one.target for one in tree.filters]) == (
        "eth0",
        ["1:10"],
        ["1:10"],
    )
    assert (str(other.device), other.classes) == ("eth1", {})

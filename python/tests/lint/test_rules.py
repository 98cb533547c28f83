"""Each rule finds its mistake, and nothing in a correct configuration."""

import json
import re
from pathlib import Path

import pytest

from airpath_lint import lint_text
from airpath_lint.findings import Level
from airpath_lint.rules_table import RULES

OFF = "ethtool -K eth0 tso off gso off gro off\nethtool -K eth1 tso off gso off gro off\n"
NETEM = "tc qdisc add dev eth0 root netem "
SCREEN = """qdisc netem 1: dev eth0 root refcnt 2 limit 1000 loss 10%
 Sent 1000 bytes {} pkt (dropped {}, overlimits 0 requeues 0)
"""


def cases():
    """Return the cases of `rule_cases.txt`: a rule, a text that breaks it, and one that does not."""
    for section in (Path(__file__).parent / "rule_cases.txt").read_text().split("\n=== ")[1:]:
        rule, wrong, right = re.fullmatch(
            r"(\S+)\n--- wrong\n(.*)\n--- right\n(.*)", section, re.DOTALL
        ).groups()
        yield rule, wrong, right.rstrip("\n") + "\n"


CASES = list(cases())


def found(text):
    return {one.rule.name: one for one in lint_text(text).findings}


def test_every_rule_has_a_case():
    assert {rule for rule, _, _ in CASES} == set(RULES)


@pytest.mark.parametrize(("rule", "wrong", "right"), CASES)
def test_a_rule_reports_its_mistake_and_nothing_else(rule, wrong, right):
    one = found(wrong).get(rule)
    assert one is not None, sorted(found(wrong))
    assert one.what
    assert one.place.line is not None
    assert rule not in found(right)


def test_a_configuration_without_mistakes_is_clean():
    text = OFF
    for device, delay in (("eth0", 10), ("eth1", 10)):
        text += f"tc qdisc add dev {device} root netem delay {delay}ms rate 10mbit limit 40 seed 3"
        text += " loss gemodel 0.1% 20%\n"
    linted = lint_text(text)
    assert linted.clean
    assert {one.rule.level for one in linted.findings} <= {Level.NOTE}


def test_numbers_of_a_limit_that_is_too_small():
    one = found(NETEM + "delay 100ms rate 1gbit")["netem-limit"]
    # 1e9 bit/s x 0.1 s / (8 x 1514 bytes) = 8256.3; 1000 packets in 0.1 s are 121 Mbit/s.
    assert "8256 packets" in one.what
    assert "121 Mbit/s" in one.what
    again = found(NETEM + f"delay 100ms rate 1gbit {one.instead.split(' for')[0]}")
    assert "netem-limit" not in again


def test_the_suggestion_against_byte_limits_passes():
    one = found(NETEM + "rate 10mbps")["rate-in-bytes"]
    assert one.what == "rate 10mbps is 80 Mbit/s"
    assert one.instead == "rate 10mbit, or rate 80mbit if bytes were meant"


def test_commands_before_the_end_are_checked_too():
    text = NETEM + "delay 100ms 5ms\niperf3 -c h\ntc qdisc del dev eth0 root\n"
    assert {"jitter-reorders", "netem-limit", "on-the-end-host"} <= set(found(text))
    assert lint_text(text).directions.lanes[0].delay_ns == 100_000_000


def test_losses_explain_drops_only_up_to_chance():
    def shown(dropped):
        return SCREEN.format(10_000 - dropped, dropped)

    # Standard deviation 30; the linter's spread, 2 x burst with a burst of 1.1, is 45.
    assert "netem-dropped-at-limit" not in found(shown(1100))
    assert "netem-dropped-at-limit" in found(shown(1400))


def test_findings_are_in_line_order_and_occur_once():
    text = "for i in 1 2 3; do\n" + NETEM.replace("add", "replace") + "delay 100ms 9ms\ndone\n" + OFF
    lines = [(one.rule.name, one.place.line) for one in lint_text(text).findings]
    assert len(lines) == len(set(lines))
    assert [line for _, line in lines] == sorted(line for _, line in lines)


def test_a_finding_is_plain_text():
    assert json.dumps([one.what for one in lint_text(NETEM + "loss 1% 99.9%").findings])

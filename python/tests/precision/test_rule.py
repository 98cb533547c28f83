"""The requested precision, and the level of each look: against constants of the literature."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri

from airpath.errors import OutputError, UsageError
from airpath.metrics import METRICS
from airpath.precision import PrecisionRule
from airpath.precision.group_sequential import nominal_level
from airpath.precision.rule import metric_called
from airpath.results.reading import stopping_rule

POCOCK = {2: 2.178, 3: 2.289, 4: 2.361, 5: 2.413, 6: 2.453, 7: 2.485, 8: 2.512, 10: 2.555, 20: 2.672}
"""Jennison and Turnbull, "Group Sequential Methods", 2000, Table 2.1: C_P(K, 0.05).

There are equally many values between looks.
"""
RULES = st.builds(
    lambda least, more: PrecisionRule(0.02, min_repetitions=least, max_repetitions=least + more),
    st.integers(2, 400),
    st.integers(0, 3000),
)


@pytest.mark.parametrize(("looks", "constant"), POCOCK.items())
def test_the_level_is_that_of_pocock(looks, constant):
    level = nominal_level(tuple(range(7, 7 * looks + 1, 7)))
    assert -ndtri(level / 2) == pytest.approx(constant, abs=5.1e-4)


def test_a_single_look_is_an_ordinary_interval():
    assert nominal_level((17,)) == pytest.approx(0.05)
    assert PrecisionRule(0.02, min_repetitions=30, max_repetitions=30).level == pytest.approx(0.05)


@given(RULES)
def test_looks_grow_from_the_fewest_to_the_most(rule):
    looks = rule.looks
    assert looks[-1] == rule.max_repetitions
    assert looks[0] >= rule.min_repetitions
    assert all(before < now for before, now in pairwise(looks))
    # Otherwise a look costs more than it gains, and the quadrature would need more points.
    assert all(4 * now >= 5 * before for before, now in pairwise(looks))


@given(RULES)
def test_levels_lie_between_bonferroni_and_a_single_look(rule):
    assert 0.05 / len(rule.looks) - 1e-12 <= rule.level <= 0.05 + 1e-12


def test_the_looks_of_the_defaults():
    assert PrecisionRule(0.02).looks == (10, 15, 23, 35, 53, 80, 100)


@pytest.mark.parametrize(
    ("text", "share"), [("2%", 0.02), (" .5 % ", 0.005), ("12.5%", 0.125), ("3.%", 0.03)]
)
def test_shares_have_their_unit(text, share):
    rule = PrecisionRule.parse(text, difference=text)
    assert (rule.precision, rule.difference) == (pytest.approx(share), pytest.approx(share))


@pytest.mark.parametrize(
    "text", ["2", "0%", "100%", "-1%", "1e-3%", "%", "", "nan%", "٢%", "2 percent", 0.02, None]
)
def test_other_shares_are_rejected(text):
    with pytest.raises(UsageError, match=r'precision: .*; accepted: a share .* as in "2%"'):
        PrecisionRule.parse(text)


@given(st.text())
def test_any_text_is_a_share_or_rejected(text):
    try:
        rule = PrecisionRule.parse("1%", difference=text)
    except UsageError:
        return
    assert rule.difference is not None
    assert 0 < rule.difference < 1


@pytest.mark.parametrize(
    ("name", "metric"),
    [
        ("goodput", "goodput_mbps"),
        ("goodput_mbps", "goodput_mbps"),
        ("loss_rate", "loss_rate"),
        ("utilisation", "utilisation"),
        ("delay_p95", "delay_p95_ms"),
    ],
)
def test_metrics_are_found_by_an_unambiguous_part_of_their_name(name, metric):
    assert PrecisionRule.parse("2%", metric=name).metric == metric


def test_every_metric_is_called_by_its_name():
    assert all(metric_called(name) == name for name in METRICS)


@pytest.mark.parametrize("name", ["delay", "speed", ""])
def test_an_unknown_or_ambiguous_metric_name_is_rejected(name):
    with pytest.raises(UsageError, match=f'metric: found "{name}"; .*accepted: .*goodput_mbps'):
        PrecisionRule.parse("2%", metric=name)


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ({"min_repetitions": 1}, "min_repetitions: found 1; accepted: 2 to 1000000 repetitions"),
        ({"min_repetitions": 2.5}, r"min_repetitions: found 2\.5; accepted: 2 to"),
        ({"min_repetitions": True}, "min_repetitions: found True; accepted"),
        ({"min_repetitions": 20, "max_repetitions": 19}, "max_repetitions: found 19; accepted: 20 to"),
        ({"max_repetitions": 1}, "max_repetitions: found 1; accepted: 10 to"),
        ({"max_repetitions": 10**9}, "max_repetitions: found 1000000000; accepted: 10 to 1000000"),
        ({"max_repetitions": "50"}, "max_repetitions: found '50'; accepted: 10 to"),
    ],
)
def test_impossible_numbers_of_repetitions_are_rejected(counts, said):
    with pytest.raises(UsageError, match=said):
        PrecisionRule.parse("2%", **counts)


def test_fewer_than_ten_may_be_the_most():
    rule = PrecisionRule.parse("2%", max_repetitions=5)
    assert rule.looks == (5,)


@pytest.mark.parametrize("share", [0.0, 1.0, -0.1, float("nan"), "2%", True])
def test_shares_of_attributes_are_numbers(share):
    with pytest.raises(UsageError, match="accepted: a number above 0 and below 1"):
        PrecisionRule(share)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
FACTS = st.fixed_dictionaries(
    {},
    optional={
        name: JSON | st.floats(0.0, 1.0) | st.integers(0, 300) | st.sampled_from(sorted(METRICS))
        for name in ("precision", "difference", "metric", "min_repetitions", "max_repetitions", "speed")
    },
)


@given(JSON | st.fixed_dictionaries({"rule": FACTS | JSON}))
def test_the_rule_in_results_is_valid_or_rejected(stopping):
    try:
        rule = stopping_rule({"stopping": stopping})
    except OutputError:
        return
    assert (rule is None) == (stopping is None)
    assert rule is None or stopping_rule({"stopping": {"rule": rule.facts()}}) == rule


def test_an_empty_rule_is_rejected():
    with pytest.raises(UsageError, match="nothing was given"):
        PrecisionRule()

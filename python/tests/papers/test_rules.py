"""Rules at their limits: exact agreement, disagreement by a little, and their text."""

import math

import pytest

from airpath_papers.rules import AtLeast, AtMost, Between, Near, NotSignificant, Positive
from airpath_papers.sample import Sample, ratio_of_means, sample

NOTHING = sample([math.nan])


def mean(value):
    """Return runs with exactly this mean, but different values."""
    return sample([value - 0.25, value + 0.25])


@pytest.mark.parametrize(
    ("rule", "ends", "inside", "outside"),
    [
        (Near(8.0, 0.25), (6.0, 10.0), (6.0, 8.0, 10.0), (5.99, 10.01, -8.0)),
        (Near(-8.0, 0.25), (-10.0, -6.0), (-10.0, -6.0), (-10.01, -5.99, 8.0)),
        (Between(-1.0, 3.0), (-1.0, 3.0), (-1.0, 0.0, 3.0), (-1.01, 3.01)),
        (AtLeast(3.0), (3.0, math.inf), (3.0, 9.0), (2.99,)),
        (AtMost(3.0), (-math.inf, 3.0), (3.0, -9.0), (3.01,)),
    ],
)
def test_the_bounds_agree_and_values_beyond_do_not(rule, ends, inside, outside):
    assert rule.ends == ends
    assert all(rule.holds(mean(value)) for value in inside)
    assert not any(rule.holds(mean(value)) for value in outside)
    assert not rule.holds(NOTHING)


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (Near(8.0, 0.25), "8 ± 25 %"),
        (Between(-1.0, 3.0), "-1 to 3"),
        (AtLeast(3.0), "≥ 3"),
        (AtLeast(3.0, surely=True), "≥ 3, the whole interval"),
        (AtMost(3.0), "≤ 3"),
        (AtMost(3.0, surely=True), "≤ 3, the whole interval"),
        (Positive(), "> 0, significant at 0.01"),
        (NotSignificant(), "not different from 0 at 0.01"),
    ],
)
def test_how_rules_are_written(rule, text):
    assert str(rule) == text


def test_surely_is_of_the_whole_interval():
    runs = sample([1.0, 1.1, 0.9, 1.05])
    low, high = runs.interval
    assert AtLeast(low, surely=True).holds(runs)
    assert not AtLeast(low + 1e-9, surely=True).holds(runs)
    assert AtMost(high, surely=True).holds(runs)
    assert not AtMost(high - 1e-9, surely=True).holds(runs)


def test_a_rule_is_settled_if_it_holds_or_the_interval_excludes_it():
    runs = sample([1.0, 1.1, 0.9, 1.05])
    assert Between(0.9, 1.1).settled(runs)
    for far in (Between(2.0, 3.0), Between(-3.0, 0.0)):
        assert not far.holds(runs)
        assert far.settled(runs)
    # Its interval overlaps the range.
    assert not Between(1.1, 3.0).settled(runs)
    assert not Between(0.0, 0.9).settled(runs)
    assert not Between(2.0, 3.0).settled(sample([1.0]))


def test_a_mean_of_zero_is_not_above_zero_and_the_reason_is_reported():
    assert not Positive().holds(sample([0.0] * 20))
    assert Positive().holds(sample([1.0, 1.1, 0.9, 1.05, 1.0]))
    assert not Positive().holds(sample([-1.0, -1.1, -0.9, -1.05, -1.0]))
    assert Positive().obstacle(sample([1.0])) == "one run shows no significance"
    assert Near(1.0, 0.1).obstacle(sample([1.0])) == "a single run: no interval, no significance"
    assert Near(1.0, 0.1).obstacle(sample([1.0, 2.0])) == ""
    assert Positive().obstacle(sample([1.0, 1.1, 0.9, 1.05, 1.0])) == ""
    for runs in (3, 2):
        untested = ratio_of_means([1.0] * runs, [0.0] * (runs - 1) + [1.0])
        assert Positive().obstacle(untested) == "this number has no test"
    assert Positive().obstacle(sample([0.5] * 20)) == ""


def test_equal_differences_count_if_the_paper_has_its_own_test():
    assert not NotSignificant().holds(sample([0.5] * 3))
    assert NotSignificant().holds(Sample((0.5, 0.5, 0.5), p=0.5))
    assert not NotSignificant().holds(Sample((0.5, 0.5, 0.5), p=0.001))
    # A value equal to the level is not significant.
    assert NotSignificant().holds(Sample((1.0, 2.0), p=0.01))
    assert not Positive().holds(Sample((1.0, 2.0), p=0.01))

"""Effect sizes computed by hand: sums of squares of eight numbers, and pooled deviations."""

import math
import statistics

import pytest

from airpath.statistics import Anova, Group, eta_squared, hedges_g, omega_squared, one_way

A, B, C = [1.0, 2.0, 3.0], [2.0, 4.0], [7.0, 8.0, 9.0]


def groups(*samples):
    return [Group.of(name, of) for name, of in zip("abc", samples, strict=False)]


def test_shares_of_the_variation():
    everything = [*A, *B, *C]
    total = sum((x - statistics.mean(everything)) ** 2 for x in everything)
    within = sum((x - statistics.mean(of)) ** 2 for of in (A, B, C) for x in of)
    assert (within, total) == (6.0, 66.0)
    anova = one_way(groups(A, B, C))
    assert eta_squared(anova) == pytest.approx(60 / 66)
    # (60 - 2 * 1.2) / (66 + 1.2)
    assert omega_squared(anova) == pytest.approx(57.6 / 67.2)


def test_without_variation_there_is_no_share():
    nothing = Anova(0.0, 0.0, 1, 4, math.nan, math.nan)
    assert math.isnan(eta_squared(nothing))
    assert math.isnan(omega_squared(nothing))
    little = Anova(0.1, 0.4, 1, 4, 1.0, 0.5)
    assert eta_squared(little) == pytest.approx(0.2)
    assert omega_squared(little) == pytest.approx(0.0)


def test_hedges_g_is_in_pooled_deviations_less_the_bias():
    first, second = groups(A, [*C, 12.0])
    # Squares 2 and 14 with 5 degrees of freedom.
    factor = math.gamma(2.5) / (math.sqrt(2.5) * math.gamma(2.0))
    assert hedges_g(first, second) == pytest.approx(factor * (2.0 - 9.0) / math.sqrt(16 / 5))
    assert hedges_g(second, first) == pytest.approx(-hedges_g(first, second))
    alone = Group.of("one", [5.0])
    factor = math.gamma(1.0) / math.gamma(0.5)
    assert hedges_g(first, alone) == pytest.approx(factor * (2.0 - 5.0) / 1.0)
    assert hedges_g(alone, first) == pytest.approx(factor * (5.0 - 2.0) / 1.0)


def test_too_few_or_equal_samples_have_no_g():
    one, two, same = Group.of("a", [1.0]), Group.of("b", [1.0, 2.0]), Group.of("c", [3.0, 3.0, 3.0])
    assert math.isnan(hedges_g(one, two))
    assert math.isnan(hedges_g(same, same))
    assert not math.isnan(hedges_g(two, two))

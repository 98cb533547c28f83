"""Differences of means: paired if seeds are the same, else Welch, against numbers computed by hand."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airpath.statistics import MeanEstimate, mean_difference, welch_interval

VALUES = st.dictionaries(st.integers(0, 30), st.floats(-1e6, 1e6), max_size=12)


def test_equal_seeds_are_compared_in_pairs():
    # Differences 1, 2, 3: mean 2, sd 1, t(0.975, 2) = 4.302653.
    found = mean_difference({1: 11.0, 2: 22.0, 3: 33.0}, {1: 10.0, 2: 20.0, 3: 30.0})
    half = 4.302653 / math.sqrt(3)
    assert (found.difference, found.pairs) == (2.0, 3)
    assert (found.low, found.high) == pytest.approx((2 - half, 2 + half), rel=1e-6)
    assert not found.is_sure


def test_other_seeds_are_compared_by_welch():
    # Variance 1 and n = 3 each: standard error sqrt(2/3), 4 degrees of freedom, t(0.975, 4) = 2.776445.
    found = mean_difference({1: 1.0, 2: 2.0, 3: 3.0}, {4: 11.0, 5: 12.0, 6: 13.0})
    half = 2.776445 * math.sqrt(2 / 3)
    assert (found.difference, found.pairs) == (-10.0, 0)
    assert (found.low, found.high) == pytest.approx((-10 - half, -10 + half), rel=1e-6)
    assert found.is_sure


def test_values_of_one_side_only_do_not_count_in_pairs():
    found = mean_difference({1: 1.0, 2: 2.0, 9: 1e9}, {1: 0.0, 2: 0.0, 7: math.nan})
    assert (found.difference, found.pairs) == (1.5, 2)


def test_constant_differences_are_significant_and_zero_is_not():
    always = mean_difference({1: 2.0, 2: 3.0}, {1: 1.0, 2: 2.0})
    assert (always.low, always.high, always.is_sure) == (1.0, 1.0, True)
    never = mean_difference({1: 2.0, 2: 3.0}, {1: 2.0, 2: 3.0})
    assert (never.low, never.high, never.is_sure) == (0.0, 0.0, False)


def test_single_values_have_a_difference_and_no_interval():
    found = mean_difference({1: 3.0}, {1: 1.0})
    assert found.difference == 2.0
    assert math.isnan(found.low)
    assert not found.is_sure
    assert math.isnan(mean_difference({}, {1: 1.0}).difference)
    assert MeanEstimate.of({1: math.nan}).n == 0


def test_a_single_value_is_compared_with_that_of_its_seed():
    found = mean_difference({2: 5.0}, {1: 1.0, 2: 4.0, 3: 100.0})
    assert (found.difference, found.pairs) == (1.0, 1)
    assert math.isnan(found.low)
    # Two unpaired samples have an interval, which is worth more than one pair.
    assert mean_difference({2: 5.0, 9: 5.0}, {1: 1.0, 2: 4.0, 3: 100.0}).pairs == 0
    for other in (3.0, 1.0):
        alone = mean_difference({9: 5.0}, {1: 1.0, 2: other})
        assert (alone.difference, alone.pairs) == (5.0 - (1.0 + other) / 2, 0)
        assert math.isnan(alone.low)
        assert math.isnan(alone.high)
    # A seed without a value cannot be compared.
    for first, second in [
        ({1: math.nan, 2: 4.0}, {1: 1.0, 2: 3.0}),
        ({1: 1.0, 2: 4.0}, {1: math.nan, 2: 3.0}),
    ]:
        found = mean_difference(first, second)
        assert (found.difference, found.pairs) == (1.0, 1)


def test_a_mean_has_students_interval():
    # Standard deviation 2, n = 4: t(0.975, 3) = 3.182446.
    found = MeanEstimate.of({1: 1.0, 2: 3.0, 3: 5.0, 4: 3.0, 5: math.nan})
    half = 3.182446 * math.sqrt(8 / 3) / 2
    assert (found.mean, found.n) == (3.0, 4)
    assert (found.low, found.high) == pytest.approx((3 - half, 3 + half), rel=1e-6)


@pytest.mark.parametrize(("first", "second"), [(3, 2), (3, 4), (7, 10)])
def test_equal_values_do_not_differ_for_any_number_of_runs(first, second):
    """Their sum is rounded: three times 0.1, over three, is not 0.1."""
    ours, theirs = dict.fromkeys(range(first), 0.1), dict.fromkeys(range(20, 20 + second), 0.1)
    assert MeanEstimate.of(ours) == MeanEstimate(0.1, 0.1, 0.1, first)
    found = mean_difference(ours, theirs)
    assert (found.difference, found.low, found.high) == (0.0, 0.0, 0.0)
    assert not found.is_sure


def test_differences_too_small_for_their_squares_have_an_interval():
    found = mean_difference({1: 1e-200, 2: 3e-200}, {1: 0.0, 2: 0.0})
    assert found.low == found.high == found.difference == 2e-200


@given(VALUES, VALUES)
def test_swapping_the_samples_negates_the_result(first, second):
    there, back = mean_difference(first, second), mean_difference(second, first)
    assert there.pairs == back.pairs
    if math.isnan(there.difference):
        assert math.isnan(back.difference)
        return
    scale = 1 + abs(there.difference)
    assert there.difference == pytest.approx(-back.difference, abs=1e-9 * scale)
    if not math.isnan(there.low):
        scale += abs(there.low) + abs(there.high)
        assert there.low == pytest.approx(-back.high, abs=1e-9 * scale)
        assert there.low <= there.difference + 1e-9 * scale
        assert there.difference <= there.high + 1e-9 * scale


def test_samples_that_do_not_vary_have_their_difference_as_interval():
    assert welch_interval([2.0, 2.0], [1.0, 1.0, 1.0]) == (1.0, 1.0)

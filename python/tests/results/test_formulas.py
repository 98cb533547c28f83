"""Closed forms at their edges, and against a second computation."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import stdtr, stdtrit

from airpath.metrics import convergence_time, jain_index, log_power, mean_interval, nearest_rank, power
from airpath.metrics.formulas import settling_time, vary
from airpath.metrics.student import t_quantile, two_sided


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30), st.integers(1, 100))
def test_nearest_rank_is_numpys_inverse_of_the_distribution(values, percentile):
    expected = np.percentile(values, percentile, method="inverted_cdf")
    assert nearest_rank(values, percentile) == expected
    # The same items, as values and counts.
    kinds, counts = np.unique(values, return_counts=True)
    assert nearest_rank(kinds, percentile, counts) == expected


@pytest.mark.parametrize("percentile", [-1.0, 0.0, 100.5])
def test_an_invalid_percentile_is_rejected(percentile):
    with pytest.raises(ValueError, match="above 0 and at most 100"):
        nearest_rank([1.0, 2.0], percentile)


@given(st.lists(st.floats(0.001, 1e6), min_size=1, max_size=20))
def test_jains_index_is_one_over_one_and_the_squared_variation(shares):
    x = np.array(shares)
    assert jain_index(shares) == pytest.approx(1 / (1 + (x.std() / x.mean()) ** 2))


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_jains_index_is_scale_invariant(scale):
    assert jain_index([scale, 3 * scale]) == pytest.approx(0.8)


def test_delays_of_less_than_one_have_a_power():
    assert power(3.0, 0.5) == 6.0
    assert log_power(math.e, 0.5) == pytest.approx(1 + math.log(2))
    assert log_power(0.5, math.e) == pytest.approx(-1 - math.log(2))


def test_convergence_is_never_before_the_event():
    ends = [1.0, 2.0, 3.0, 4.0, 5.0]
    assert convergence_time(ends, [10.0] * 5, 10.0, event_s=2.5) == pytest.approx(0.5)
    assert convergence_time(ends, [10.0] * 5, 10.0, event_s=3.0) == 0.0
    assert math.isnan(convergence_time(ends, [10.0] * 5, 10.0, event_s=4.5))


def test_the_first_interval_is_as_long_as_the_second():
    assert convergence_time([0.5, 1.0], [10.0, 0.0], 10.0, event_s=0.0, hold_s=0.5) == 0.0
    assert math.isnan(convergence_time([0.5, 1.0], [10.0, 0.0], 10.0, event_s=0.0, hold_s=0.6))
    assert math.isnan(convergence_time([0.5], [10.0], 10.0, event_s=0.0, hold_s=0.1))


@pytest.mark.parametrize("time", [convergence_time, settling_time])
def test_the_default_for_convergence_is_a_tenth_for_a_second(time):
    times = [0.5, 1.0, 1.5]
    assert not math.isnan(time(times, [11.0, 9.0, 11.0], 10.0, event_s=0.0))
    assert math.isnan(time(times, [11.1, 11.1, 11.1], 10.0, event_s=0.0))
    assert math.isnan(time(times, [0.0, 10.0, 0.0], 10.0, event_s=0.0))
    assert math.isnan(time([0.1, 0.2, 0.3, 0.4], [10.0] * 4, 10.0, event_s=0.0))


def test_varying_quantities():
    assert not vary(np.array([0.3, 0.1 + 0.2]))
    assert vary(np.array([0.3, 0.3 + 1e-9]))
    assert vary(np.array([math.inf, 1.0]))
    assert not vary(np.array([math.inf, math.inf]))
    assert not vary(np.zeros(3))


def test_a_mean_of_equal_values_is_each_of_them():
    assert mean_interval([0.1] * 3) == (0.1, 0.0, 3, 0.1, 0.1)
    assert sum([0.1] * 3) / 3 != 0.1


@pytest.mark.parametrize("df", [1, 2, 3, 4, 5, 29, 99, 499, 5000])
def test_probabilities_of_students_t_are_scipys(df):
    for t in (0.0, 1e-6, 0.01, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 40.0, 200.0, -2.0):
        assert two_sided(df, t) == pytest.approx(2 * stdtr(df, -abs(t)), rel=1e-10, abs=1e-290)


@pytest.mark.parametrize("df", [1, 2, 3, 4, 5, 9, 10, 29, 60, 333, 1998, 1999, 2000, 10_000, 1_000_000])
def test_quantiles_of_students_t_are_scipys(df):
    for probability in (0.5, 0.6, 0.9, 0.95, 0.975, 0.995, 0.9995, 1 - 1e-6, 0.025, 1e-6):
        expected = float(stdtrit(df, probability))
        assert t_quantile(df, probability) == pytest.approx(expected, rel=1e-10, abs=1e-15)

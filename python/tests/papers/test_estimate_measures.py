"""Measures of estimates, on series with known results."""

import math

import numpy as np
import pytest
from fabricated import run_data

from airpath_papers import estimate_measures as measures
from airpath_papers.estimate_data import EstimateData

TIME = np.arange(1, 501) * 0.1
BEFORE, AFTER = (0.0, 25.0), (25.0, 50.0)


def follower(tau_s: float, from_mbps: float = 1.0, to_mbps: float = 3.0) -> np.ndarray:
    """Return an estimate that follows a step at 25 s with a time constant."""
    later = np.maximum(TIME - 25.0, 0.0)
    return from_mbps + (to_mbps - from_mbps) * (1 - np.exp(-later / tau_s))


def test_an_estimate_begins_with_its_first_value():
    nothing = np.full((1, 100), math.nan)
    bps = np.full((1, 100), 2e6)
    bps[0, :3] = math.nan
    run = run_data(estimates={"westwood": EstimateData(bps, nothing, nothing, nothing)})
    time_s, mbps = measures.estimate_mbps(run, "westwood")
    assert time_s[0] == pytest.approx(0.8)
    assert mbps == pytest.approx(np.full(97, 2.0))


def test_spans_take_the_intervals_that_end_in_them():
    assert measures.within(TIME, TIME, (1.0, 2.0)) == pytest.approx(np.arange(11, 21) * 0.1)


def test_errors_are_relative_to_the_true_value():
    truth = np.array([1.0, 2.0, 4.0, 1.0])
    estimate = np.array([2.0, 2.0, 2.0, 2.0])
    assert measures.bias(estimate, truth) == pytest.approx(0.0)
    assert measures.mean_absolute_error(estimate, truth) == pytest.approx((1 + 0 + 0.5 + 1) / 4)
    assert measures.p95_absolute_error(estimate, truth) == pytest.approx(1.0)


@pytest.mark.parametrize("tau_s", [0.5, 1.0, 2.0])
def test_ninety_percent_of_a_step_take_two_point_three_time_constants(tau_s):
    measured = measures.response_s(TIME, follower(tau_s), BEFORE, AFTER)
    assert measured == pytest.approx(math.log(10) * tau_s, abs=0.1)
    assert measures.response_s(TIME, follower(tau_s, 3.0, 1.0), BEFORE, AFTER) == pytest.approx(measured)


def test_settling_needs_the_right_level():
    assert measures.settling_s(TIME, follower(1.0), 3.0, AFTER) == pytest.approx(math.log(2 / 0.3), abs=0.2)
    assert measures.settling_s(TIME, follower(1.0), 4.0, AFTER) == pytest.approx(25.0)  # it never settles
    assert measures.response_s(TIME, follower(1.0), BEFORE, AFTER) < 2.5  # but it responds


def test_spread_is_that_of_the_second_halves():
    jump = np.where(TIME < 12.5, 10.0, np.where(np.arange(500) % 2, 1.0, 2.0))
    assert measures.spread(TIME, jump, [BEFORE, AFTER]) == pytest.approx(0.5, rel=0.01)


@pytest.mark.parametrize("late", [0, 1, 7, 30])
def test_lag_is_the_shift_of_a_copy(late):
    truth = np.random.default_rng(1).uniform(1, 5, 500)
    assert measures.lag_s(np.roll(truth, late), truth, 0.1) == pytest.approx(0.1 * late)


def test_a_constant_has_no_lag():
    assert math.isnan(measures.lag_s(np.ones(500), np.linspace(1, 2, 500), 0.1))

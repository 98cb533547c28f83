"""Measures of GM, for known runs."""

import numpy as np
import pytest
from fabricated import link_data, run_data

from airpath_papers.estimate_data import EstimateData
from airpath_papers.gm import measures
from airpath_papers.gm.paper import SETTLED_S, WIRE

LINK = 5.0
COUNT = 1500
"""Intervals of 0.2 s: 300 s, of which the datagram source sends from 100 to 200 s."""


def gm_run(used_mbps=4.0, estimate_mbps=4.0, **changes):
    """Return one flow whose rate and estimate are constant, or given for each interval."""
    row = np.full((1, COUNT), 1.0)
    estimate = row * estimate_mbps * 1e6 / WIRE
    facts = {
        "windows_packets": row,
        "ssthresh_packets": row * 40,
        "departed_bytes": row * used_mbps * 1e6 / 8 * 0.2,
        "min_rtt_s": np.array([0.1]),
        "timeouts": np.zeros(1),
        "estimates": {"controller": EstimateData(estimate, estimate * 3, estimate * 5, estimate * 4)},
    }
    return run_data(link_data(COUNT * 0.2), **{**facts, **changes})


def test_estimates_are_compared_with_the_rate_used_and_the_link():
    run = gm_run(used_mbps=2.0, estimate_mbps=10.0)
    assert measures.mean_used(run) == pytest.approx(2.0)
    assert measures.mean_over_used(run, "controller") == pytest.approx(5.0)
    assert measures.mean_over_link(run, "controller", LINK) == pytest.approx(2.0)
    assert measures.largest_over_link(run, "controller", LINK) == pytest.approx(6.0)
    assert measures.largest_sample(run, "controller") == pytest.approx(50.0)
    assert measures.largest_in_order_sample(run, "controller") == pytest.approx(40.0)


def test_the_start_does_not_count():
    early = np.arange(1, COUNT + 1) * 0.2 <= SETTLED_S + 1e-6
    run = gm_run(used_mbps=np.where(early, 100.0, 4.0), estimate_mbps=np.where(early, 100.0, 4.0))
    assert measures.mean_over_used(run, "controller") == pytest.approx(1.0)
    assert measures.largest_over_link(run, "controller", LINK) == pytest.approx(2.4)


def test_datagrams_use_a_share_every_other_hundred_seconds():
    times = np.array([0.2, 100.0, 100.2, 200.0, 200.2, 300.0, 300.2])
    assert measures.available_mbps(times, LINK).tolist() == [5, 5, 4, 4, 5, 5, 4]


def test_errors_are_relative_to_the_available_bandwidth():
    run = gm_run()
    truth = measures.available_mbps(run.window_time_s, LINK)[np.newaxis]
    assert measures.error(run, truth, LINK) == pytest.approx(0.0)
    assert measures.error(run, truth * 0.8, LINK) == pytest.approx(0.2)


def test_a_threshold_over_the_smallest_rtt_is_a_bandwidth():
    assert measures.threshold_mbps(gm_run())[0, 0] == pytest.approx(40 * 12e-3 / 0.1)
    assert measures.mean_threshold(gm_run()) == pytest.approx(40)


def test_distance_and_variation_are_those_of_each_flow():
    wave = np.where(np.arange(COUNT) % 2 == 0, 1.0, -1.0)
    values = np.stack([1.0 + 0.5 * wave, np.full(COUNT, 1.4)])
    run = gm_run()
    assert measures.distance(run, values, 1.0) == pytest.approx((0.5 + 0.4) / 2)
    assert measures.variation(run, values) == pytest.approx((0.5 + 0.0) / 2)
    assert measures.mean_value(run, values) == pytest.approx(1.2)


def test_thresholds_before_the_first_loss_do_not_count():
    values = np.full((1, COUNT), 2.0)
    values[0, :200] = np.nan
    assert measures.distance(gm_run(), values, 1.0) == pytest.approx(1.0)


def test_quantities_without_a_value_are_missing():
    nothing = np.full((1, COUNT), np.nan)
    run = gm_run(estimates={"controller": EstimateData(nothing, nothing, nothing, nothing)})
    assert np.isnan(measures.largest_in_order_sample(run, "controller"))

import numpy as np
import pytest
from fabricated import BUFFER, INTERVAL_S, link_data, run_data

from airpath_papers import measures
from airpath_papers.run_data import LinkData

COUNT = 100
TIME = np.arange(1, COUNT + 1) * INTERVAL_S


def test_utilisation_counts_the_intervals_of_the_span_only():
    departed = np.where(TIME <= 10.0 + 1e-9, 50.0, 100.0)
    run = run_data(link_data(departed_bytes=departed))
    assert measures.utilisation(run) == pytest.approx(0.75)
    assert measures.utilisation(run, (0, 10)) == pytest.approx(0.5)
    assert measures.utilisation(run, (10, 20)) == pytest.approx(1.0)
    assert np.isnan(measures.utilisation(run, (30, 40)))


def test_throughput_is_in_megabits_per_second():
    run = run_data(link_data(departed_bytes=25_000.0))
    assert measures.throughput_mbps(run) == pytest.approx(1.0)


def test_queues_are_shares_of_the_buffer():
    queue = np.where(TIME <= 10.0 + 1e-9, 0.0, BUFFER / 2)
    run = run_data(link_data(queue_mean_bytes=queue, queue_max_bytes=queue * 2))
    assert measures.mean_queue(run) == pytest.approx(0.25)
    assert measures.mean_queue(run, (10, 20)) == pytest.approx(0.5)
    assert measures.p95_queue(run) == pytest.approx(0.5)
    assert measures.longest_queue(run) == pytest.approx(1.0)
    assert measures.queue_deviation(run) == pytest.approx(0.25)


def test_time_to_a_share_of_the_capacity_begins_with_the_first_second_that_has_it():
    departed = np.where(TIME <= 12.0 + 1e-9, 10.0, 100.0)
    run = run_data(link_data(departed_bytes=departed))
    assert measures.time_to(run, 10.0, 0.9, 20.0) == pytest.approx(2.0)
    assert measures.time_to(run, 10.0, 0.2, 20.0) < 2.0


def test_the_time_to_an_event_that_never_occurs_is_the_whole_span():
    run = run_data(link_data(departed_bytes=10.0))
    assert measures.time_to(run, 10.0, 0.9, 18.0) == pytest.approx(8.0)


def test_fairness_over_a_span_counts_departures_within_it():
    early = TIME <= 10.0 + 1e-9
    run = run_data(
        window_time_s=TIME,
        departed_bytes=np.array([np.where(early, 30.0, 10.0), np.where(early, np.nan, 10.0)]),
    )
    assert measures.jain_over(run, (0, 10)) == pytest.approx(0.5)
    assert measures.jain_over(run, (10, 20)) == pytest.approx(1.0)
    assert measures.jain_over(run, (0, 20)) == pytest.approx(0.5 * 0.5 / (2 * (0.4**2 + 0.1**2)))


def test_band_of_windows_is_the_ratio_of_percentiles():
    windows = np.tile(np.array([[1.0], [2.0], [3.0]]), (1, COUNT))
    run = run_data(windows_packets=windows)
    assert measures.window_band(run) == pytest.approx(2.8 / 1.2)
    assert measures.window_variation(run) == pytest.approx(0.0)


def test_band_ignores_times_when_a_flow_is_inactive():
    windows = np.tile(np.array([[1.0], [2.0], [3.0]]), (1, COUNT))
    windows[2, :50] = np.nan
    assert measures.window_band(run_data(windows_packets=windows)) == pytest.approx(2.8 / 1.2)


def test_completion_time_needs_every_transfer_of_the_group():
    run = run_data()
    assert measures.completion_s(run, "file", 2) == pytest.approx(11.0)
    assert np.isnan(measures.completion_s(run, "file", 3))


def test_error_of_the_estimate_is_relative_to_the_capacity():
    plain = link_data()
    bps = 100.0 * 8 / INTERVAL_S
    estimate = np.stack([TIME, np.where(TIME <= 10.0 + 1e-9, bps, 1.5 * bps)])
    link = LinkData(plain.buffer_bytes, 0.0, plain.series, {"capacity_estimate_bps": estimate})
    run = run_data(link)
    assert measures.median_estimate_error(run, (0, 10)) == pytest.approx(0.0)
    assert measures.median_estimate_error(run, (10, 20)) == pytest.approx(0.5)


def test_without_estimate_there_is_no_error():
    assert np.isnan(measures.median_estimate_error(run_data()))

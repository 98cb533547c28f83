"""The stored data of ACK-rate estimators."""

import numpy as np
import pytest

from airpath_papers.estimate_data import in_order_samples
from airpath_papers.experiment import Experiment
from airpath_papers.run_data import from_bytes, to_bytes
from airpath_papers.store import RunStore
from airpath_papers.work import do_runs, missing_runs

SEGMENT = 1000.0
NEVER = np.empty(0)

WATCHED = """
name = "watched"
duration = "4s"

[record]
interval = "100ms"
estimate_samples = true

[topology]
kind = "dumbbell"

[topology.bottleneck]
rate = "5mbps"
delay = "10ms"
queue = { kind = "drop-tail", limit = "20kB" }

[[flows]]
name = "watched"
scheme = "newreno"
estimators = ["westwood", "westwood-aa"]

[[flows]]
name = "other"
scheme = "newreno"
count = 3
direction = "reverse"
"""


def records(arrivals, segments):
    """Return the records of an estimator that learns of an arrival only with the next one."""
    arrivals, bits = np.asarray(arrivals), np.asarray(segments) * SEGMENT
    return arrivals[2:], (bits[1:] / np.diff(arrivals))[:-1]


def test_acknowledgments_of_more_than_two_segments_do_not_count():
    time_s, bps = records([0.0, 1.0, 1.5, 2.5, 2.6, 4.0], [1, 2, 2, 40, 2, 2])
    good = in_order_samples(time_s, bps, SEGMENT, NEVER, np.empty(0, dtype=bool))
    # The spans of the first two are unknown.
    assert good.tolist() == [False, False, False, True]


def test_acknowledgments_within_a_recovery_do_not_count():
    arrivals = np.arange(12.0)
    time_s, bps = records(arrivals, np.full(12, 2))
    good = in_order_samples(time_s, bps, SEGMENT, np.array([4.5, 8.0]), np.array([True, False]))
    # Record k belongs to the arrival before it; the arrival at 8 ends the recovery and belongs to it.
    assert arrivals[1:-1][good].tolist() == [3.0, 4.0, 9.0, 10.0]


def test_too_few_samples_are_none():
    time_s, bps = records([0.0, 1.0, 2.0, 3.0], [1, 2, 2, 2])
    assert not in_order_samples(time_s, bps, SEGMENT, NEVER, np.empty(0, dtype=bool)).any()


@pytest.fixture(scope="module")
def watched(tmp_path_factory):
    folder = tmp_path_factory.mktemp("watched")
    file = folder / "watched.toml"
    file.write_text(WATCHED)
    experiment = Experiment(str(file), "newreno", repetitions=1)
    store = RunStore(folder / "runs")
    do_runs(missing_runs([experiment], store), store, 1, lambda _share: None)
    run = store.get(experiment.key(), 1)
    assert run is not None
    return run


def test_only_the_flow_of_the_estimators_is_stored(watched):
    assert watched.windows_packets.shape == (1, 40)
    assert watched.departed_bytes.shape == (1, 40)
    assert 0.02 < watched.min_rtt_s[0] < 0.03
    assert set(watched.estimates) == {"westwood", "westwood-aa"}


def test_estimates_are_close_to_the_line_rate(watched):
    used = watched.departed_bytes[0, 20:].mean() * 80
    anti_aliased = watched.estimates["westwood-aa"].last_bps[0, 20:].mean()
    # Estimators count payload, of which there are 1448 bytes in 1500.
    assert anti_aliased == pytest.approx(used * 1448 / 1500, rel=0.15)


def test_peaks_are_not_below_the_values_recorded_at_the_end_of_intervals(watched):
    for one in watched.estimates.values():
        both = ~np.isnan(one.largest_bps)
        assert both.any()
        assert (one.largest_bps[both] >= one.last_bps[both]).all()


def test_the_largest_sample_in_order_is_that_of_adjacent_acknowledgments(watched):
    """Acknowledgments of 52 bytes leave a link of 5 Mbit/s back to back, each for two segments."""
    westwood = watched.estimates["westwood"]
    peak = np.nanmax(westwood.in_order_sample_bps)
    assert peak == pytest.approx(2 * 1448 * 8 / (52 * 8 / 5e6), rel=0.01)
    assert peak <= np.nanmax(westwood.largest_sample_bps) * (1 + 1e-9)
    assert np.isnan(watched.estimates["westwood-aa"].in_order_sample_bps).all()


def test_a_stored_run_is_read_unchanged(watched):
    again = from_bytes(to_bytes(watched))
    for name, one in watched.estimates.items():
        np.testing.assert_array_equal(again.estimates[name].last_bps, one.last_bps)
        np.testing.assert_array_equal(again.estimates[name].in_order_sample_bps, one.in_order_sample_bps)
    np.testing.assert_array_equal(again.ssthresh_packets, watched.ssthresh_packets)
    np.testing.assert_array_equal(again.timeouts, watched.timeouts)

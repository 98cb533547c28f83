"""Each metric against a number that can be computed by hand."""

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from airpath.metrics import (
    METRICS,
    TimeBins,
    convergence_time,
    flow_metrics,
    jain_index,
    log_power,
    mean_interval,
    nearest_rank,
    power,
    settling_time,
)
from airpath.metrics.run import columns, link_under_test, rows_with, windowed_jain
from airpath.results import Results, RunResult
from airpath.results.columns import TABLES

from .synthetic import CUBIC, encode, flow, plan, small_record, small_tables

# Zero or a rate that keeps all its digits if the unit changes.
rates = st.one_of(st.just(0.0), st.floats(1e-3, 1e12))
shares = st.lists(rates, min_size=1, max_size=50).filter(lambda x: max(x) > 0)


@pytest.fixture(scope="module")
def metrics() -> dict[str, float]:
    return RunResult(small_record()).metrics


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # 2 MB of the two controlled flows in 3 s; the datagrams do not count.
        ("throughput_mbps", 16 / 3),
        ("pantheon_throughput_mbps", 16 / 3),
        ("goodput_mbps", 1.88e6 * 8e-6 / 3),
        ("capacity_mbps", 8.0),
        ("link_throughput_mbps", 6.0),
        ("utilisation", 0.75),
        # Bins after the warm-up: 0.5, 1, none, 0.5, 1, 1.
        ("utilisation_binned", 0.8),
        # Corrupted packets leave the link, but do not arrive.
        ("loss_rate", 0.12),
        ("congestion_loss_rate", 0.1),
        ("channel_loss_rate", 0.02),
        ("cwnd_mean_bytes", 14_600.0),
        # 300 packets of 20 ms, 100 of 40 ms.
        ("delay_mean_ms", 25.0),
        ("queueing_mean_ms", 15.0),
        # 400 packets: the 380th is the first of the 21 that took 60 ms.
        ("delay_p95_ms", 60.0),
        ("queueing_p95_ms", 30.0),
        ("queue_mean_bytes", 30_000.0),
        ("queue_p95_bytes", 6.0),
        # Shares 3:1.
        ("jain_index", 16 / 20),
        # Windows 1-2 s and 2-3 s: 3:1 (but for rounding to bytes); 3-4 s: equal.
        ("jain_index_windowed", (2 * (333_333**2) / (2 * (250_000**2 + 83_333**2)) + 1.0) / 3),
        # The transfer that started in the warm-up does not count: 0.5, 1, 0.25 s.
        ("completion_mean_s", 1.75 / 3),
        ("completion_p50_s", 0.5),
        ("completion_p95_s", 1.0),
        ("completion_p99_s", 1.0),
        ("completions", 3.0),
        ("retransmitted_packets", 10.0),
        ("timeouts", 1.0),
        ("power_mbps_per_ms", 16 / 3 / 25),
    ],
)
def test_a_metric_matches_its_definition(metrics: dict[str, float], name: str, expected: float) -> None:
    assert metrics[name] == pytest.approx(expected, rel=1e-12)


def test_every_defined_metric_is_computed_and_no_other(metrics: dict[str, float]) -> None:
    assert set(metrics) == set(METRICS)


def test_an_empty_run_has_no_values_and_does_not_fail() -> None:
    empty = {name: encode(name, {}) for name, table in TABLES.items() if not table.optional}
    metrics = RunResult(small_record(tables=empty)).metrics
    counts = {"completions", "retransmitted_packets", "timeouts"}
    assert all(metrics[name] == 0 for name in counts)
    assert all(math.isnan(value) for name, value in metrics.items() if name not in counts)


def test_an_unlimited_link_has_no_utilisation() -> None:
    tables = small_tables()
    tables["links"]["offered_bytes"] = np.array([math.nan])
    tables["link_series"]["offered_bytes"] = np.full(8, math.nan)
    metrics = RunResult(small_record(tables=tables)).metrics
    assert math.isnan(metrics["utilisation"])
    assert math.isnan(metrics["utilisation_binned"])
    assert metrics["link_throughput_mbps"] == 6.0


def test_flow_metrics_are_those_of_each_flow() -> None:
    run = RunResult(small_record())
    rows = flow_metrics(run.tables).to_pylist()
    assert [row["throughput_mbps"] for row in rows] == pytest.approx([4.0, 4 / 3, 2 / 3])
    assert [row["loss_rate"] for row in rows] == pytest.approx([1 / 16, 0.0, 0.0])
    assert [row["delay_mean_ms"] for row in rows] == pytest.approx([20.0, 40.0, 900.0])


def test_names_that_are_null_are_none() -> None:
    both = Results.from_records([small_record("a"), small_record("b")])
    assert columns(both.flows)["flow_scheme"].tolist() == ["a", "a", None, "b", "b", None]
    assert columns(both.flows.slice(0, 0))["flow_scheme"].tolist() == []


def test_the_link_under_test_is_where_most_controlled_sources_are_measured() -> None:
    sources = [flow("a", None), flow("b", None), flow("c", CUBIC, measured_at=1)]
    assert link_under_test(plan(sources)) == 1
    assert link_under_test(plan(sources[:2])) == 0


@given(shares)
def test_jain_lies_between_one_over_n_and_one(x: list[float]) -> None:
    assert 1 / len(x) - 1e-12 <= jain_index(x) <= 1 + 1e-12


@given(shares, st.floats(1e-6, 1e6))
def test_jain_does_not_depend_on_the_unit(x: list[float], unit: float) -> None:
    assert jain_index([unit * share for share in x]) == pytest.approx(jain_index(x), rel=1e-6)


@given(st.integers(1, 40), st.integers(1, 40))
def test_jain_of_k_equal_users_among_n_is_k_over_n(k: int, others: int) -> None:
    assert jain_index([5.0] * k + [0.0] * others) == pytest.approx(k / (k + others))


def test_jain_of_no_flows_has_no_value() -> None:
    assert math.isnan(jain_index([]))


def jain_with_a_third_flow(rows: int) -> float:
    """Return the Jain index of two flows with shares 3:1 and a third, with this number of rows, that received
    nothing.
    """
    tables = small_tables()
    tables["flows"]["source"][2] = 1  # no datagrams, but unlimited data
    for column in ("departed_bytes", "delivered_packets"):
        tables["flows"][column][2] = 0
    tables["flows"]["first_departure_s"][2] = tables["flows"]["last_departure_s"][2] = math.nan
    third = encode("flow_series", {"flow": [2] * rows, "time_s": np.arange(1, rows + 1) * 0.5})
    series = tables["flow_series"]
    tables["flow_series"] = {name: np.concatenate([series[name], third[name]]) for name in series}
    return RunResult(small_record(tables=tables)).metrics["jain_index"]


def test_jain_counts_a_starved_flow_but_none_that_ended_before_the_measured_span() -> None:
    assert jain_with_a_third_flow(rows=8) == pytest.approx(16 / 30)
    assert jain_with_a_third_flow(rows=2) == pytest.approx(16 / 20)  # up to the end of the warm-up
    assert jain_with_a_third_flow(rows=0) == pytest.approx(16 / 20)


def test_jain_of_windows_ignores_windows_without_deliveries() -> None:
    flow_series = {
        "flow": np.array([0, 1] * 3),
        "time_s": np.repeat([1.0, 2.0, 3.0], 2),
        "departed_bytes": np.array([3, 1, 0, 0, 0, 5]),
    }
    plan = {"duration_ns": 3_000_000_000, "record": {"interval_ns": 1_000_000_000}}
    windows = windowed_jain(flow_series, np.array([0, 1]), np.zeros(2), TimeBins(plan, 1.0, 0.0))
    np.testing.assert_allclose(windows, [16 / 20, math.nan, 0.5])


def test_jain_of_windows_ignores_a_flow_that_starts_within_the_window() -> None:
    flow_series = {
        "flow": np.array([0, 1, 0, 1]),
        "time_s": np.array([1.0, 1.0, 2.0, 2.0]),
        "departed_bytes": np.array([9, 1, 5, 5]),
    }
    plan = {"duration_ns": 2_000_000_000, "record": {"interval_ns": 1_000_000_000}}
    bins, flows = TimeBins(plan, 1.0, 0.0), np.array([0, 1])
    np.testing.assert_allclose(windowed_jain(flow_series, flows, np.array([0.0, 0.9]), bins), [math.nan, 1])
    np.testing.assert_allclose(windowed_jain(flow_series, flows, np.zeros(2), bins), [100 / 164, 1])


def test_jain_of_windows_ignores_a_flow_that_stops_within_the_window() -> None:
    flow_series = {
        "flow": np.array([0, 1, 0, 1, 0, 0]),
        "time_s": np.array([1.0, 1.0, 2.0, 2.0, 3.0, 4.0]),
        "departed_bytes": np.array([5, 5, 9, 1, 5, 5]),
    }
    plan = {"duration_ns": 4_000_000_000, "record": {"interval_ns": 1_000_000_000}}
    flows, starts = np.array([0, 1]), np.zeros(2)
    windows = windowed_jain(flow_series, flows, starts, TimeBins(plan, 1.0, 0.0))
    np.testing.assert_allclose(windows, [1, math.nan, math.nan, math.nan])
    plan["duration_ns"] = 2_000_000_000  # both continue to the end of the run
    early = {name: values[:4] for name, values in flow_series.items()}
    windows = windowed_jain(early, flows, starts, TimeBins(plan, 1.0, 0.0))
    np.testing.assert_allclose(windows, [1, 100 / 164])


def test_jain_counts_a_single_departure_over_the_lifetime_of_the_flow() -> None:
    tables = small_tables()
    tables["flows"]["source"][2] = 1  # no datagrams, but unlimited data
    tables["flows"]["departed_bytes"][2] = 1_000_000
    tables["flows"]["first_departure_s"][2] = tables["flows"]["last_departure_s"][2] = 2.0
    third = encode("flow_series", {"flow": [2] * 8, "time_s": np.arange(1, 9) * 0.5})
    series = tables["flow_series"]
    tables["flow_series"] = {name: np.concatenate([series[name], third[name]]) for name in series}
    index = RunResult(small_record(tables=tables)).metrics["jain_index"]
    # Shares 3:1 of 2 MB in 3 s, and 1 MB in the 3 s of the measured interval.
    assert index == pytest.approx(jain_index([1.5, 0.5, 1.0]))


def test_rows_with_a_name() -> None:
    first, second = (pa.array(names).dictionary_encode() for names in (["a", "b", None], ["b", "a"]))
    table = pa.table({"name": pa.chunked_array([first, second])})
    assert rows_with(table, "name", "b").tolist() == [False, True, False, True, False]
    assert not rows_with(table, "name", "c").any()
    assert len(rows_with(table.slice(0, 0), "name", "b")) == 0


@given(st.lists(st.integers(-5, 5), min_size=1), st.sampled_from([1, 25, 50, 95, 99, 99.9, 100]))
def test_nearest_rank_is_the_smallest_value_that_covers_the_percentage(
    values: list[int], percentile: float
) -> None:
    result = nearest_rank(values, percentile)
    needed = percentile * len(values)
    assert sum(value <= result for value in values) * 100 >= needed
    assert sum(value < result for value in values) * 100 < needed


@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(0, 4)), min_size=1))
def test_nearest_rank_with_counts_is_that_of_the_items_written_out(pairs: list[tuple[int, int]]) -> None:
    items = [value for value, count in pairs for _ in range(count)]
    weighted = nearest_rank([value for value, _ in pairs], 95, [count for _, count in pairs])
    assert weighted == nearest_rank(items, 95) or (math.isnan(weighted) and not items)


def test_power_and_its_logarithm() -> None:
    assert power(6.0, 3.0) == 2.0
    assert log_power(math.e**3, math.e) == pytest.approx(2.0)
    assert log_power(math.e**3, math.e, delta=0.5) == pytest.approx(2.5)
    assert math.isnan(power(1.0, 0.0))
    assert math.isnan(log_power(0.0, 1.0))


def test_convergence_is_the_start_of_the_first_stretch_that_holds() -> None:
    ends = np.arange(1, 11) * 0.5
    rate = np.array([0, 5, 9.5, 5, 9.1, 10.9, 10, 9.5, 9, 10])
    assert convergence_time(ends, rate, 10.0, event_s=0.0, tolerance=0.1, hold_s=1.0) == pytest.approx(2.0)
    assert convergence_time(ends, rate, 10.0, event_s=1.0, tolerance=0.1, hold_s=0.5) == pytest.approx(0.0)
    assert convergence_time(ends, rate, 10.0, event_s=0.0, tolerance=0.1, hold_s=3.0) == pytest.approx(2.0)
    assert math.isnan(convergence_time(ends, rate, 10.0, event_s=0.0, tolerance=0.1, hold_s=3.1))


def test_settling_is_at_the_first_sample_after_which_all_are_close() -> None:
    times = np.arange(51, 61) * 0.2
    values = np.array([0, 9.5, 0, 9.1, 10.9, 10, 9.5, 9, 10, 10])

    def settling(hold_s: float, event_s: float = 10.0) -> float:
        return settling_time(times, values, 10.0, event_s=event_s, tolerance=0.1, hold_s=hold_s)

    # Six samples, from 10.8 to 11.8 s, span one second; five would not.
    assert settling(1.0) == 0.8
    assert settling(1.2) == 0.8
    assert math.isnan(settling(1.3))
    assert settling(0.2, event_s=11.0) == 0.0
    assert math.isnan(settling_time([], [], 10.0, event_s=0.0))


def test_the_confidence_interval_is_students() -> None:
    # t(0.975, 4) = 2.776445, from printed tables.
    mean, sd, n, low, high = mean_interval([1.0, 2.0, 3.0, 4.0, 5.0, math.nan])
    assert (mean, n) == (3.0, 5)
    assert sd == pytest.approx(math.sqrt(2.5))
    assert high - mean == pytest.approx(2.776445 * math.sqrt(2.5 / 5), rel=1e-6)
    assert mean - low == pytest.approx(high - mean)


def test_one_sample_has_a_mean_but_no_interval() -> None:
    mean, sd, n, low, high = mean_interval([2.0])
    assert (mean, n) == (2.0, 1)
    assert all(math.isnan(value) for value in (sd, low, high))
    assert mean_interval([])[2] == 0


def test_bins_gather_whole_intervals_and_the_last_may_be_narrow() -> None:
    bins = TimeBins(plan([], duration_s=2.1, interval_s=0.2), width_s=0.5)
    assert bins.width_s == pytest.approx(0.4)
    assert bins.end_s[-1] == pytest.approx(2.1)
    ends = np.append(np.arange(1, 11) * 0.2, 2.1)
    assert bins.index(ends).tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5]
    assert bins.rate_mbps(ends, np.append(np.full(10, 25_000), 12_500)) == pytest.approx([1.0] * 6)


def test_bins_after_the_warm_up_leave_earlier_intervals_out() -> None:
    bins = TimeBins(plan([], duration_s=4.0, interval_s=0.5), width_s=1.0, from_s=1.0)
    assert bins.index(np.array([0.5, 1.0, 1.5, 2.0, 4.0, 4.5])).tolist() == [-1, -1, 0, 0, 2, -1]


def test_statistics_have_one_row_for_each_scheme_and_metric() -> None:
    records = [small_record(scheme, n, seed=n) for scheme in ("cubic", "reno") for n in range(3)]
    statistics = Results.from_records(records).statistics
    assert statistics.num_rows == 2 * len(METRICS)
    row = statistics.to_pylist()[0]
    assert (row["scheme"], row["metric"], row["n"]) == ("cubic", "throughput_mbps", 3)
    assert row["mean"] == pytest.approx(16 / 3)
    assert row["sd"] == pytest.approx(0.0, abs=1e-12)

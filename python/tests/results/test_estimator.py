"""The table of router reports, the metrics of their estimate, and settling, against hand computations."""

import math
from dataclasses import replace

import numpy as np
import pytest

from airpath.metrics import METRICS, estimator, settling
from airpath.metrics.run import columns
from airpath.results import OBSERVATIONS, RunResult, summary_table

from .router import CAPACITY_BPS, ENDS, ESTIMATE_BPS, quantities, router_record
from .synthetic import small_record

NAMES = [name for name in METRICS if name.startswith("capacity_estimate")]


def metrics(**changes):
    return RunResult(router_record(**changes)).metrics


def estimate(values):
    return {"reported": {"capacity_estimate_bps": np.broadcast_to(values, 40)}}


def test_quantities_have_their_names():
    run = RunResult(router_record())
    table = columns(run.link_observations)
    assert list(dict.fromkeys(table["quantity"])) == list(quantities())
    assert set(table["link_name"]) == {"down"}
    mine = table["quantity"] == "capacity_estimate_bps"
    assert table["time_s"][mine] == pytest.approx(ENDS)
    assert table["value"][mine] == pytest.approx(ESTIMATE_BPS)
    assert set(quantities()) <= set(OBSERVATIONS)


def test_a_quantity_without_a_name_is_rejected():
    with pytest.raises(ValueError, match="link_observations: an index or code is outside 0 to 0"):
        _ = RunResult(router_record(quantities=("capacity_estimate_bps",))).link_observations


def test_runs_without_routers_have_no_observations_and_no_metrics():
    run = RunResult(small_record())
    assert run.link_observations.num_rows == 0
    assert all(math.isnan(run.metrics[name]) for name in NAMES)
    shown = summary_table(run.table("summary"))
    assert not any("capacity estimate" in str(cell) for cell in shown.columns[0]._cells)


def test_runs_with_routers_show_the_error():
    shown = summary_table(RunResult(router_record()).table("summary"))
    assert "capacity estimate, mean error (%)" in [str(cell) for cell in shown.columns[0]._cells]


def test_bias_and_error():
    # From 1 s: 18 intervals 0.4 below, then 4 and 2 above, then equally often 0.2 above and below.
    assert metrics()["capacity_estimate_bias_mbps"] == pytest.approx((-18 * 0.4 + 4 + 2) / 38)
    assert metrics()["capacity_estimate_error_mean_percent"] == pytest.approx((36 * 5 + 100 + 50) / 38)
    # 95 % of 38 is 36.1: the 37th smallest.
    assert metrics()["capacity_estimate_error_p95_percent"] == pytest.approx(50)


def test_an_exact_estimate_has_no_error():
    exact = metrics(**estimate(CAPACITY_BPS))
    # Its first sample after the step is half a second later: no settling time is shorter than an interval.
    assert [exact[name] for name in NAMES] == [0, 0, 0, 0.5, 0]


def test_the_rounding_of_rates_is_no_bias_and_no_error():
    told = metrics(**estimate(CAPACITY_BPS * (1 + 1e-12)))
    assert told["capacity_estimate_bias_mbps"] == 0
    assert told["capacity_estimate_error_mean_percent"] == told["capacity_estimate_error_p95_percent"] == 0


def test_settling_is_from_the_step_until_the_estimate_stays_near():
    assert metrics()["capacity_estimate_settling_s"] == 1.5
    # 0.5 s near the capacity do not count as settled; the rest of the run does.
    passing = ESTIMATE_BPS.copy()
    passing[22], passing[23:26] = 4e6, 5e6
    assert metrics(**estimate(passing))["capacity_estimate_settling_s"] == 3.5


def test_settling_needs_readings_for_the_last_half_second():
    # Three samples near the capacity, at 11, 11.5 and 12 s, span one second; those at 11 and 11.5 s half of
    # one.
    for near, expected in ((3, 1.0), (2, 10.0)):
        readings = np.full(40, 8e6)
        readings[21 : 21 + near] = 4e6
        assert metrics(**estimate(readings))["capacity_estimate_settling_s"] == expected


def test_steps_faster_than_a_second_need_all_readings_between():
    record = router_record(**estimate(np.where(ENDS <= 10, 7.6e6, 4e6)))
    steps = [
        [0, 8_000_000],
        [10_000_000_000, 4_000_000],
        [10_500_000_000, 8_000_000],
        [11_000_000_000, 4_000_000],
    ]
    record.plan["links"][0]["rate"]["steps"] = steps
    # Settled at the first step, not in the half second at the old rate, and again at the last.
    offered = np.where((ENDS <= 10) | (ENDS == 11), 8e6, 4e6) / 16
    record = replace(
        record, tables=record.tables | {"link_series": router_record(offered=offered).tables["link_series"]}
    )
    assert RunResult(record).metrics["capacity_estimate_settling_s"] == pytest.approx((0.5 + 0.5 + 0.5) / 3)


def test_an_unsettled_estimate_counts_with_the_full_time():
    assert metrics(**estimate(8e6))["capacity_estimate_settling_s"] == pytest.approx(10.0)


def test_a_small_step_or_none_is_no_step():
    nearly = np.where(ENDS <= 10, 4.2e6, 4e6) / 16
    assert math.isnan(metrics(offered=nearly)["capacity_estimate_settling_s"])
    record = router_record()
    record.plan["links"][0]["rate"] = {"kind": "opportunities", "trace": 0, "once": False}
    trace = RunResult(record).metrics
    assert math.isnan(trace["capacity_estimate_settling_s"])
    assert math.isnan(trace["capacity_estimate_variation"])
    assert trace["capacity_estimate_error_mean_percent"] > 0


def test_variation_is_that_of_the_second_half_of_each_stretch():
    # Constant before 10 s; from 15 s on ten values alternate between 0.2 above and below 4.
    sd = 0.2 * math.sqrt(10 / 9)
    assert metrics()["capacity_estimate_variation"] == pytest.approx(sd / 4 / 2)


def test_an_outage_has_no_percentage():
    outage = np.where(ENDS <= 10, 8e6, 0) / 16
    after = metrics(offered=outage, **estimate(7.6e6))
    assert after["capacity_estimate_error_mean_percent"] == pytest.approx(5)
    assert after["capacity_estimate_bias_mbps"] == pytest.approx((-18 * 0.4 + 20 * 7.6) / 38)
    assert math.isnan(after["capacity_estimate_settling_s"])


def test_a_link_without_a_known_capacity_has_no_error():
    unknown = metrics(offered=np.full(40, math.nan))
    assert all(math.isnan(unknown[name]) for name in NAMES)


def test_rates_that_change_faster_than_intervals_are_cheap(monkeypatch):
    looks = []
    inside = settling.intervals_inside
    for module in (estimator, settling):
        monkeypatch.setattr(module, "intervals_inside", lambda *given: looks.append(given) or inside(*given))
    rate = {"kind": "uniform", "low_bps": 1, "high_bps": 2, "hold_ns": 1_000_000}
    plan = {"links": [{"rate": rate}], "duration_ns": 4 * 10**9, "record": {"interval_ns": 100_000_000}}
    ends = np.arange(1, 41) / 10
    series = {"link": np.zeros(40, int), "time_s": ends}
    series |= dict.fromkeys(("offered_bytes", "arrived_bytes"), np.full(40, 1e5))
    assert math.isnan(settling.arrivals_settling_s(plan, series, 0, 0.0))
    for name in ("capacity_estimate_bps", "another"):  # with an estimate and without one
        rows = {"link": series["link"], "quantity": np.full(40, name), "time_s": ends, "value": np.ones(40)}
        found = estimator.estimator_metrics(plan, rows, series, 0, 0.0)
        assert math.isnan(found["capacity_estimate_settling_s"])
        assert math.isnan(found["capacity_estimate_variation"])
    assert looks == []


def arrivals(rates, steps=((0, 8_000_000), (10, 4_000_000)), known=True):
    """Return the settling time of arrival rates that last half a second each, in bit/s.

    `steps` are the times in seconds and the capacities in bit/s; `known` is whether the table has them.
    """
    plan = {
        "links": [{"rate": {"kind": "steps", "steps": [[round(at * 1e9), rate] for at, rate in steps]}}],
        "duration_ns": 20 * 10**9,
        "record": {"interval_ns": 500_000_000},
    }
    times, capacities = np.array(steps).T
    capacity = capacities[np.searchsorted(times, ENDS) - 1]
    series = {
        "link": np.zeros(40, int),
        "time_s": ENDS,
        "offered_bytes": capacity / 16 if known else np.full(40, math.nan),
        "arrived_bytes": np.asarray(rates) / 16,
    }
    return settling.arrivals_settling_s(plan, series, 0, 1.0)


def test_arrivals_settle_when_their_rate_stays_within_a_quarter():
    # At 10 s: 6 Mbit/s for a second, then a fifth above the new capacity.
    rates = np.where(ENDS <= 10, 8e6, np.where(ENDS <= 11, 6e6, 4.8e6))
    assert arrivals(rates) == 1.5
    assert arrivals(np.full(40, 8e6)) == 10.0
    assert math.isnan(arrivals(rates, known=False))
    assert math.isnan(arrivals(rates, steps=((0, 8_000_000), (10, 6_500_000))))


def test_arrivals_need_a_second_of_constant_capacity():
    # The capacity falls for half a second only, and returns: the second step counts, the first one does not.
    assert arrivals(np.full(40, 8e6), steps=((0, 8_000_000), (10, 4_000_000), (10.5, 8_000_000))) == 0.5

"""The stress scenarios, shortened: estimates stay finite and positive and recover, tables contain no
nonsense.

The long versions are the shipped scenarios themselves (`airpath run stress-…`).
"""

from collections.abc import Callable, Mapping

import numpy as np
import pytest

import airpath
from airpath.metrics import end_to_end
from airpath.metrics.run import columns
from airpath.results import TABLES
from airpath.scenario import Scenario, scenario_names

STRESS = [name for name in scenario_names() if name.startswith("stress-")]
SCHEMES = ("xcp-ebe", "xcp-ebe:monitor=hold,upsilon=1.2", "vcp-ebe", "xcp", "xcp-b", "qfcp", "mpcp-ebe")

# What must be short to be run with every scheme, while keeping its purpose.
SHORTENED = {
    "stress-500-flows": {"duration": "12s"},
    "stress-long-rtt": {"duration": "30s"},
    "stress-slow-link": {"duration": "60s"},
    "stress-one-flow": {"duration": "40s"},
    "stress-short-rtt": {"duration": "20s"},
    "stress-unsaturated": {"duration": "20s"},
    "stress-five-packets": {"duration": "20s"},
}

Rows = Mapping[str, np.ndarray]


def nothing_delivered(rows: Rows) -> np.ndarray:
    return rows["delivered_packets"] == 0


def nothing_departed(rows: Rows) -> np.ndarray:
    return rows["departed_bytes"] == 0


def nothing_received(rows: Rows) -> np.ndarray:
    return rows["goodput_bytes"] == 0


def before_the_first(column: str) -> Callable[[Rows], np.ndarray]:
    """Return a function that selects the rows of a flow before the first number in this column."""

    def rows_before(rows: Rows) -> np.ndarray:
        first = dict.fromkeys(set(rows["flow"]), np.inf)
        there = ~np.isnan(rows[column])
        for flow, time in zip(rows["flow"][there], rows["time_s"][there], strict=True):
            first[flow] = min(first[flow], time)
        return rows["time_s"] < np.array([first[flow] for flow in rows["flow"]])

    return rows_before


def anywhere(rows: Rows) -> np.ndarray:
    return np.full(len(rows["flow"]), True)


# The only places where a table lacks a number because none exists; every other number of every table exists.
MAY_BE_MISSING: Mapping[tuple[str, str], Callable[[Rows], np.ndarray]] = {
    ("flows", "first_departure_s"): nothing_departed,
    ("flows", "last_departure_s"): nothing_departed,
    ("flows", "delay_mean_s"): nothing_delivered,
    ("flows", "queueing_mean_s"): nothing_delivered,
    ("flows", "delay_min_s"): nothing_delivered,
    ("flows", "srtt_s"): nothing_delivered,
    ("flows", "min_rtt_s"): nothing_delivered,
    ("flow_series", "delay_mean_s"): nothing_received,
    ("flow_series", "delay_max_s"): nothing_received,
    ("flow_series", "queueing_mean_s"): nothing_received,
    ("flow_series", "srtt_s"): before_the_first("srtt_s"),
    # These senders have no slow start; those of VCP pace small windows only.
    ("flow_series", "ssthresh_bytes"): anywhere,
    ("flow_series", "pacing_rate_bps"): anywhere,
}


def missing_numbers(tables: Mapping[str, Rows]) -> list[str]:
    """Return where a table contains an infinite number, or lacks one that should exist."""
    found = []
    for name, rows in tables.items():
        for column, values in rows.items():
            if values.dtype.kind != "f":
                continue
            may = MAY_BE_MISSING.get((name, column))
            allowed = np.full(len(values), False) if may is None else may(rows)
            wrong = np.isinf(values) | (np.isnan(values) & ~allowed)
            if wrong.any():
                found.append(f"{name}.{column}: {wrong.sum()} of {len(values)}")
    return found


def run(name: str, scheme: str):
    scenario = Scenario.load(name)
    flows = range(len(scenario.document.flows))
    changes = {f"flows.{number}.scheme": scheme for number in flows} | SHORTENED.get(name, {})
    results = airpath.run(scenario.override(changes), repetitions=1, jobs=1, progress=False)
    return results.runs[0]


def observed(result, quantity: str) -> np.ndarray:
    table = columns(result.table("link_observations"))
    values: np.ndarray = table["value"][table["quantity"] == quantity]
    return values


def test_the_family_covers_the_promised_cases():
    wanted = (
        "outage-5s outage-20s jump jump-100x slow-link five-packets one-flow 500-flows short-rtt long-rtt"
        " silence unsaturated two-bottlenecks"
    )
    assert {f"stress-{name}" for name in wanted.split()} <= set(STRESS)


def metrics_without_value(result, scheme: str) -> set[str]:
    """Return the metrics that may be missing for a run.

    These are the metrics of transfers and fairness, of an estimate that no component makes, and those that
    need records of packets.
    """
    names = set(result.metrics)
    # Settling has no value without a step of the capacity, or if the estimate never settles.
    allowed = {"capacity_estimate_settling_s", "arrival_rate_settling_s"}
    # None of the controllers here estimates the bandwidth.
    allowed |= {metric for metric in names if metric.startswith("bandwidth_estimate_")}
    if "packets" not in result.tables:
        allowed |= set(end_to_end.NAMES)
    if result.table("completions").num_rows == 0:
        allowed |= {metric for metric in names if metric.startswith("completion_")}
    if result.table("flows").num_rows == 1:
        allowed |= {metric for metric in names if metric.startswith("jain_")}
    if scheme == "xcp-b":
        allowed |= {metric for metric in names if metric.startswith("capacity_estimate_")}
    return allowed


def test_missing_numbers_are_detected():
    rows = {
        "flow": np.array([0, 0, 1]),
        "time_s": np.array([0.2, 0.4, 0.2]),
        "goodput_bytes": np.array([0, 9, 0]),
    }
    rows |= {"srtt_s": np.array([np.nan, 0.1, np.nan]), "delay_mean_s": np.array([np.nan, 0.1, np.nan])}
    assert not missing_numbers({"flow_series": rows})
    late = {"srtt_s": np.array([0.1, np.nan, np.nan]), "delay_mean_s": np.array([0.1, np.nan, np.inf])}
    assert missing_numbers({"flow_series": rows | late}) == [
        "flow_series.srtt_s: 1 of 3",
        "flow_series.delay_mean_s: 2 of 3",
    ]
    assert missing_numbers({"links": {"queue_mean_bytes": np.array([np.nan])}})


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", STRESS)
def test_estimates_and_tables_stay_sane(name, scheme):
    result = run(name, scheme)
    table = columns(result.table("link_observations"))
    assert table["value"].size
    assert np.isfinite(table["value"]).all()
    estimates = observed(result, "capacity_estimate_bps")
    assert (estimates > 0).all()
    if scheme != "xcp-b":  # which never knows a capacity
        assert estimates.size
    series = columns(result.link_series)
    for column in ("offered_bytes", "departed_bytes", "queue_mean_bytes", "queue_max_bytes", "queue_bytes"):
        assert np.isfinite(series[column]).all(), column
        assert (series[column] >= 0).all(), column
    tables = {name: columns(rows) for name, rows in result.tables.items()}
    assert {name for name, description in TABLES.items() if not description.optional} <= set(tables)
    assert not missing_numbers(tables)
    missing = {metric for metric, value in result.metrics.items() if not np.isfinite(value)}
    assert missing <= metrics_without_value(result, scheme)
    windows = columns(result.flow_series)["cwnd_bytes"]
    assert np.isfinite(windows).all()
    assert (windows > 0).all()


@pytest.mark.parametrize("scheme", ["xcp-ebe", "vcp-ebe"])
@pytest.mark.parametrize(
    ("name", "from_s", "least"),
    [
        # From this time on the link has been in its earlier state for at least ten seconds.
        ("stress-outage-5s", 45.0, 0.8),
        ("stress-outage-20s", 70.0, 0.8),
        ("stress-silence", 100.0, 0.8),
        ("stress-jump", 55.0, 0.8),
        ("stress-jump-100x", 55.0, 0.8),
    ],
)
def test_the_link_is_used_again_after_the_shock(name, scheme, from_s, least):
    result = run(name, scheme)
    series = columns(result.link_series)
    names = [link["name"] for link in result.record.plan["links"]]
    rows = (series["link"] == names.index("bottleneck")) & (series["time_s"] > from_s)
    assert series["departed_bytes"][rows].sum() >= least * series["offered_bytes"][rows].sum()

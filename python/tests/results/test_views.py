"""The view of results: pairs, findings, titles, facts, lines."""

import copy
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from airpath.metrics import METRICS
from airpath.results import Origin, Results, RunRecord
from airpath.results.provenance import provenance
from airpath.results.records import WrittenScenario
from airpath.views.facts import facts
from airpath.views.findings import findings
from airpath.views.grid import Grid, joined
from airpath.views.over_time import over_time
from airpath.views.run_lines import _percentile
from airpath.views.styles import style_for
from airpath.views.table import pairs
from airpath.views.title import facts_line, title

from .synthetic import encode, small_record


def faster(scheme: str, repetition: int, factor: float) -> RunRecord:
    """Return a run whose flows have this multiple of the throughput."""
    record = small_record(scheme, repetition, repetition)
    flows = record.tables["flows"]
    carried = (np.asarray(flows["departed_bytes"]) * factor).astype(np.int64)
    return replace(record, tables=record.tables | {"flows": flows | {"departed_bytes": carried}})


def slower(record: RunRecord, factor: float) -> RunRecord:
    """Return a run whose delays are longer by this factor, which differs a little for each seed."""
    histogram = record.tables["delay_histogram"]
    delays = np.asarray(histogram["delay_s"]) * factor * (1 + 0.01 * record.repetition)
    return replace(record, tables=record.tables | {"delay_histogram": histogram | {"delay_s": delays}})


def two_schemes(repetitions: int) -> Results:
    return Results.from_records(
        [
            faster(scheme, n, factor + 0.1 * n)
            for scheme, factor in (("cubic", 2.0), ("newreno", 1.0))
            for n in range(1, repetitions + 1)
        ]
    )


def test_schemes_are_compared_seed_by_seed() -> None:
    results = two_schemes(3)
    found = {one.metric: one for one in pairs(results)}
    (pair,) = found["throughput_mbps"].pairs
    ours, theirs = (
        [run.metrics["throughput_mbps"] for run in results.runs if run.record.scheme == scheme]
        for scheme in ("cubic", "newreno")
    )
    assert (pair.first, pair.second, pair.n) == (0, 1, 3)
    assert pair.difference == pytest.approx(np.mean(np.subtract(ours, theirs)))
    assert pair.low < pair.difference < pair.high
    assert pair.p < 0.001
    assert not found["throughput_mbps"].less_is_better


def test_a_lower_delay_is_better() -> None:
    assert METRICS["delay_p95_ms"].better == "lower"
    records = [
        slower(small_record(scheme, n, n), delay)
        for scheme, delay in (("cubic", 1.0), ("newreno", 2.0))
        for n in range(3)
    ]
    results = Results.from_records(records)
    found = {one.metric: one for one in pairs(results)}
    assert found["delay_p95_ms"].less_is_better
    assert "cubic has" in findings(results.summary, str)
    assert "less p95 delay" in findings(results.summary, str)


@pytest.mark.parametrize(
    "results",
    [two_schemes(1), Results([]), Results.from_records([small_record("cubic", n, n) for n in (1, 2)])],
)
def test_single_runs_and_single_schemes_are_not_compared(results: Results) -> None:
    assert pairs(results) == []


def test_findings_name_only_differences_whose_interval_excludes_zero() -> None:
    factors = {"cubic": (1.0, 2.0, 3.0), "newreno": (3.0, 2.0, 1.1)}
    records = [faster(scheme, n, factor) for scheme in factors for n, factor in enumerate(factors[scheme])]
    text = findings(Results.from_records(records).summary, str.upper)
    assert text.startswith("CUBIC and NEWRENO do not differ significantly in throughput")
    assert findings(two_schemes(3).summary, str).startswith("Cubic has")
    assert "--reps" in findings(two_schemes(1).summary, str)


def test_a_scheme_dominated_by_another_is_named() -> None:
    records = [
        slower(faster(scheme, n, factor + 0.01 * n), delay)
        for scheme, factor, delay in (("cubic", 2.0, 1.0), ("newreno", 1.0, 2.0), ("vegas", 1.5, 0.5))
        for n in range(3)
    ]
    text = findings(Results.from_records(records).summary, str)
    assert text.endswith("Significantly worse than another scheme in both: newreno.")


def test_the_title_counts_schemes_over_one_link() -> None:
    schemes = ("cubic", "newreno", "vegas", "bbr")
    titled = [
        replace(
            small_record(scheme),
            scenario=WrittenScenario(text=f'title = "{scheme} over lte.down"\n', folder="."),
        )
        for scheme in schemes
    ]
    assert title(Results.from_records(titled), "schemes") == "Four schemes over lte.down"
    assert title(Results.from_records(titled[:2]), "schemes") == "cubic and newreno over lte.down"
    assert title(Results.from_records(titled[:1]), "schemes") == "cubic over lte.down"
    assert title(Results.from_records([small_record(scenario_name="mine")]), "schemes") == "mine"


def test_the_facts_have_the_time_only_if_it_is_known() -> None:
    results = Results.from_records([small_record()])
    assert facts_line(results, {"created": "2026-11-20T12:00:59Z"}).endswith(" · 2026-11-20 12:00")
    assert "2026" not in facts_line(results, {})


def test_schemes_with_their_own_routers_have_their_own_facts() -> None:
    own = small_record("xcp")
    same = [small_record(scheme, n, n) for scheme in ("cubic", "newreno") for n in (1, 2)]
    plan = copy.deepcopy(own.plan)
    for link in plan["links"]:
        link["queue"] |= {"kind": "router", "protocol": {"kind": "xcp"}, "source": {"kind": "configured"}}
    results = Results.from_records([*same, replace(own, plan=plan)])
    found = [
        row for row in facts(results, style_for(results.schemes)) if row[0].startswith("link under test")
    ]
    assert [name for name, _ in found] == ["link under test, TCP CUBIC, TCP NewReno", "link under test, XCP"]
    assert "router" not in found[0][1]
    assert "queue router (xcp, capacity source configured)" in found[1][1]


def test_the_clock_of_a_chain_is_stated_with_the_results() -> None:
    record = small_record()
    record.plan["links"][0]["bursts"] = {
        "kind": "gilbert",
        "mean_loss": 0.02,
        "mean_burst": 5.0,
        "clock": "time",
        "step": 1_000_000,
    }
    record.plan["links"][0]["arq"] = {
        "kind": "selective-repeat",
        "retries": 1,
        "delay": 8_000_000,
        "in_order": False,
    }
    results = Results.from_records([record])
    stated = (
        "losses in bursts (gilbert), chain clocked by time of 1 ms,"
        " retransmitted at most once after 8 ms, delivered out of order"
    )
    origin = provenance(results, "text", Origin(created="now"))
    assert list(origin["runs"][0]["damage"].values()) == [stated]
    name = record.plan["links"][0]["name"]
    assert dict(facts(results, style_for(results.schemes)))[f"damage on {name}"] == stated


def test_intervals_are_joined_to_stay_within_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    results = Results.from_records(
        [small_record(scheme, n, n) for scheme in ("cubic", "newreno") for n in range(3)]
    )
    whole = over_time(results, [0, 1, 2], apart=False)
    monkeypatch.setattr(
        "airpath.views.over_time.MOST_NUMBERS", 2 * sum(len(panel.lines) for panel in whole.panels)
    )
    monkeypatch.setattr("airpath.views.over_time.FEWEST_INTERVALS", 1)
    fewer = over_time(results, [0, 1, 2], apart=False)
    assert len(fewer.time_s) < len(whole.time_s)
    assert fewer.time_s[-1] == whole.time_s[-1] == Grid.of_runs(results.runs).duration_s
    (wide, narrow) = (
        next(p for p in one.panels if p.key == "rate").lines[0].values for one in (whole, fewer)
    )
    assert np.nanmean(narrow) == pytest.approx(np.nanmean(joined(wide, -(-len(wide) // len(narrow)))))


def test_limits_of_senders_are_a_strip_of_shares_in_legend_order() -> None:
    rows = {
        "flow": [0, 0, 0, 1],
        "time_s": [0.5, 1.0, 1.5, 1.5],
        "recovery": [0.0, 0.25, 0.0, 0.0],
        "application": [0.0, 0.0, 0.0, 1.0],
        "receive_window": [0.0, 0.0, 0.0, 0.0],
        "congestion_window": [1.0, 0.75, 1.0, 0.0],
        "pacing": [0.0, 0.0, 0.0, 0.0],
    }
    tables = small_record().tables | {"flow_limits": encode("flow_limits", rows)}
    results = Results.from_records(
        [small_record("cubic", 0, 1, tables=tables), small_record("cubic", 1, 2, tables=tables)]
    )
    panel = over_time(results, [1, 2]).panels[-1]
    assert (panel.key, panel.certain) == ("limits", True)
    found = [(one.label, round(one.from_s, 6), round(one.to_s, 6)) for one in panel.stretches]
    assert found == [
        ("the congestion window", 0.0, 0.875),
        ("loss recovery", 0.875, 1.0),
        ("the congestion window", 1.0, 1.25),
        ("the application", 1.25, 1.5),
    ]
    assert set(panel.colours) >= {label for label, _, _ in found}
    without = over_time(Results.from_records([small_record()]), [1])
    assert "limits" not in [panel.key for panel in without.panels]


def test_of_many_seeds_the_first_have_lines_and_all_have_a_mean(monkeypatch: pytest.MonkeyPatch) -> None:
    results = Results.from_records([small_record("cubic", n, n) for n in range(10)])
    monkeypatch.setattr("airpath.views.over_time.MOST_NUMBERS", 2000)
    found = over_time(results, list(range(10)), apart=False)
    assert 1 <= found.seeds_shown < 10
    rate = next(panel for panel in found.panels if panel.key == "rate")
    seeds = [line.seed for line in rate.lines if line.role == "line"]
    assert sorted(seeds) == [-1, *range(found.seeds_shown)]


def test_unknown_values_do_not_count_in_joined_intervals() -> None:
    nan = float("nan")
    values: Any = np.array([1.0, nan, nan, nan, 3.0])
    assert joined(values, 2).tolist()[::2] == [1.0, 3.0]
    assert np.isnan(joined(values, 2)[1])


def test_percentiles_over_flows_are_those_of_numpy() -> None:
    values = np.random.default_rng(1).normal(size=(9, 40))
    values[np.random.default_rng(2).random((9, 40)) < 0.3] = np.nan
    values[:, 0] = np.nan
    found = _percentile(values, 10)
    assert np.isnan(found[0])
    known = np.isfinite(values).any(axis=0)
    np.testing.assert_allclose(found[known], np.nanpercentile(values[:, known], 10, axis=0))

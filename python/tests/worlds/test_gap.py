"""Differences between worlds: intervals and verdicts."""

import math
from collections.abc import Sequence

import pytest
from scipy import stats

import airpath
from airpath.gap import Gap, Verdict, differences
from airpath.gap import gap as compare_worlds
from airpath.gap.differences import TOLERANCES, difference_text, tolerance_text
from airpath.gap.report import gap_json, gap_section, gap_tables
from airpath.metrics import METRICS
from airpath.results import Results, RunRecord, RunResult


def results(**values: Sequence[dict[str, float]]) -> Results:
    """Runs of some labels with given metrics; everything else is NaN."""
    runs = []
    for label, metrics in values.items():
        for repetition, one in enumerate(metrics):
            record = RunRecord(label, "made", repetition, repetition, {"flows": [], "links": []}, {})
            run = RunResult(record, {})
            run.__dict__["metrics"] = {name: one.get(name, math.nan) for name in METRICS}
            runs.append(run)
    return Results(runs)


def one(metric: str, ours: Sequence[float], theirs: Sequence[float]):
    made = results(ours=[{metric: v} for v in ours], theirs=[{metric: v} for v in theirs])
    (difference,) = differences(made, "ours", "theirs")
    return difference


def test_the_interval_is_that_of_welch() -> None:
    ours, theirs = [9.0, 9.4, 9.1], [9.6, 9.9, 9.3, 9.5]
    found = one("goodput_mbps", ours, theirs)
    mean = sum(ours) / 3
    interval = stats.ttest_ind(theirs, ours, equal_var=False).confidence_interval(0.95)
    assert found.difference == pytest.approx((sum(theirs) / 4 - mean) / mean)
    assert (found.low, found.high) == pytest.approx((interval.low / mean, interval.high / mean))
    assert found.n == (3, 4)


@pytest.mark.parametrize(
    ("theirs", "verdict"),
    [
        ([9.9, 10.0, 10.1], Verdict.AGREE),
        ([14.9, 15.0, 15.1], Verdict.DIFFER),
        ([4.9, 5.0, 5.1], Verdict.DIFFER),
        ([8.0, 11.0, 14.0], Verdict.OPEN),
        ([10.5], Verdict.AGREE),
        ([11.5], Verdict.DIFFER),
    ],
)
def test_a_verdict_needs_the_whole_interval(theirs: Sequence[float], verdict: Verdict) -> None:
    assert one("goodput_mbps", [9.9, 10.0, 10.1], theirs).verdict is verdict


def test_shares_are_compared_in_points() -> None:
    found = one("loss_rate", [0.0, 0.0], [0.02, 0.02])
    assert found.verdict is Verdict.DIFFER
    assert difference_text(found) == "+2.0 points [+2.0, +2.0]"
    assert tolerance_text(found) == "±1 points"


def test_metrics_without_values_are_left_out() -> None:
    made = results(ours=[{"goodput_mbps": 1.0}], theirs=[{"utilisation": 1.0}])
    assert differences(made, "ours", "theirs") == []
    assert set(TOLERANCES) <= set(METRICS)


@pytest.fixture
def simulated(monkeypatch: pytest.MonkeyPatch) -> Gap:
    """The simulator alone: nothing else is there."""
    monkeypatch.setattr("airpath.gap.compared.datapath_missing", lambda: "the daemon is not built")
    scenario = airpath.Scenario.load("three-worlds").override({"duration": "6s", "repetitions": 2})
    return compare_worlds(scenario, ["vcp-ebe"])


def test_a_world_that_is_missing_is_named(simulated: Gap) -> None:
    (scheme,) = simulated.compared
    assert scheme.labels == {"sim": "vcp-ebe"}
    assert "runs in the simulator only" in scheme.missing["emulate"] or "Linux" in scheme.missing["emulate"]
    assert scheme.missing["datapath"] == "the daemon is not built"
    section = gap_section(simulated)
    assert not scheme.departures
    assert any("world datapath: the daemon is not built" in remark for remark in section.remarks)
    assert [figure.name for figure in section.figures] == ["gap-over-time"]
    assert gap_json(simulated)["schemes"][0]["differences"] == {}
    assert gap_tables(simulated) == []

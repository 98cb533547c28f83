"""Differences between backends: intervals and verdicts."""

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from scipy import stats

import airpath
from airpath._backends import KERNEL
from airpath.cli import main
from airpath.cli.work import tell_finished
from airpath.errors import ScenarioError, UsageError
from airpath.gap import Compared, Gap, GapFailed, Verdict, differences
from airpath.gap import gap as compare_worlds
from airpath.gap.differences import TOLERANCES, difference_text, tolerance_text, verdict_text
from airpath.gap.pictures import differences_figure, gap_figures
from airpath.gap.report import gap_json, gap_section, gap_tables
from airpath.metrics import METRICS
from airpath.results import Results, RunRecord, RunResult
from airpath.runner import RunsFailed


def results(**values: Sequence[dict[str, float]]) -> Results:
    """Return runs of some labels with given metrics; every other metric is NaN."""
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


def test_nearly_equal_runs_have_an_interval_and_no_warning() -> None:
    found = one("goodput_mbps", [9.654, 9.654 + 2e-15, 9.654], [9.6, 9.7, 9.65])
    assert found.low < found.difference < found.high
    assert one("goodput_mbps", [9.654] * 3, [9.5] * 2).low == pytest.approx(-0.154 / 9.654)


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


def test_a_difference_without_a_share_is_reported_and_not_plotted() -> None:
    found = one("queueing_p95_ms", [0.0, 0.0], [3.0, 5.0])
    assert (found.verdict, found.simulated, found.other) == (Verdict.NO_SHARE, 0.0, 4.0)
    assert (difference_text(found), verdict_text(found)) == ("—", "no share of zero")
    assert one("queueing_p95_ms", [0.0, 0.0], [0.0, 0.0]).verdict is Verdict.AGREE
    drawn = one("goodput_mbps", [1.0], [1.05])
    (axes,) = differences_figure(Compared("cubic", {}, {}, {"emulate": [found, drawn]})).axes
    assert [label.get_text() for label in axes.get_yticklabels()] == [METRICS["goodput_mbps"].title]


def test_metrics_without_values_are_omitted() -> None:
    made = results(ours=[{"goodput_mbps": 1.0}], theirs=[{"utilisation": 1.0}])
    assert differences(made, "ours", "theirs") == []
    assert set(TOLERANCES) <= set(METRICS)


def test_values_beyond_the_plot_are_shown_as_numbers() -> None:
    ours = {"goodput_mbps": 1.0, "queue_mean_bytes": 10.0, "delay_mean_ms": 50.0}
    theirs = {"goodput_mbps": 1.05, "queue_mean_bytes": 40.0, "delay_mean_ms": 0.0}
    theirs["loss_rate"], ours["loss_rate"] = 0.0, 0.25
    made = results(ours=[ours], theirs=[theirs])
    found = differences(made, "ours", "theirs")
    (axes,) = differences_figure(Compared("cubic", {}, {}, {"emulate": found})).axes
    left, right = axes.get_xlim()
    markers = [line for line in axes.lines if line.get_marker() == KERNEL.marker]
    places = [float(line.get_xdata()[0]) for line in markers]
    assert places == pytest.approx([0.5, 10.0, -5.0, -10.0])
    assert all(left < place < right for place in places)
    assert [line.get_markerfacecolor() == "white" for line in markers] == [False, True, False, True]
    assert [text.get_text() for text in axes.texts] == ["+15", "-25"]


@pytest.fixture
def simulated(monkeypatch: pytest.MonkeyPatch) -> Gap:
    """Have no backend but the simulator."""
    monkeypatch.setattr("airpath._backends.daemon.datapath_missing", lambda: "the daemon is not built")
    scenario = airpath.Scenario.load("three-worlds").override({"duration": "6s", "repetitions": 2})
    return compare_worlds(scenario, ["vcp-ebe"])


def test_a_missing_backend_is_named(simulated: Gap) -> None:
    (scheme,) = simulated.compared
    assert scheme.labels == {"sim": "vcp-ebe"}
    assert "runs in the simulator and in" in scheme.missing["emulate"] or "Linux" in scheme.missing["emulate"]
    assert scheme.missing["datapath"] == "the daemon is not built"
    section = gap_section(simulated)
    assert not scheme.departures
    assert any("backend datapath: the daemon is not built" in remark for remark in section.remarks)
    assert section.pictures == []
    assert gap_json(simulated)["schemes"][0]["differences"] == {}
    assert gap_tables(simulated) == []


def emulated(*problems: str) -> Gap:
    """Return two artificial simulated runs and two artificial runs in the emulator, the second with these
    problems.
    """
    goodput = [{"goodput_mbps": 10.0}, {"goodput_mbps": 10.2}]
    made = results(**{"cubic": goodput, "kernel:cubic": goodput})
    link = {
        "name": "bottleneck",
        "configured_bps": None,
        "carried_bps": 1e7,
        "configured_delay_s": 0.02,
        "achieved_delay_s": 0.02004,
        "configured_loss": 0.0,
        "achieved_loss": None,
    }
    for run in made.runs[2:]:
        found = list(problems) if run.record.repetition else []
        validity = {"valid": not found, "problems": found, "links": [link]}
        run.record = replace(run.record, world="emulate", validity=validity)
    labels: dict = {"sim": "cubic", "emulate": "kernel:cubic"}
    found = {"emulate": differences(made, "cubic", "kernel:cubic")}
    return Gap(made, (Compared("cubic", labels, {}, found),), 30.4, {})


def test_a_verdict_contains_the_number_of_invalid_runs() -> None:
    gap = emulated("half of the packets came late")
    told = gap_json(gap)
    assert [(run["repetition"], run["valid"], run["problems"]) for run in told["validity"]] == [
        (0, True, []),
        (1, False, ["half of the packets came late"]),
    ]
    assert told["validity"][0]["links"][0]["achieved_delay_s"] == 0.02004
    (difference,) = told["schemes"][0]["differences"]["emulate"]
    assert (difference["verdict"], difference["not_valid"]) == ("agree", 1)
    (one,) = gap.compared[0].differences["emulate"]
    assert verdict_text(one) == "agree (1 of 2 runs not valid)"
    assert gap_section(gap).tables[0]["rows"][0][-1] == verdict_text(one)
    printed = StringIO()
    Console(file=printed, width=160).print(*gap_tables(gap))
    assert verdict_text(one) in printed.getvalue()


def test_a_verdict_on_valid_runs_is_the_verdict_alone() -> None:
    gap = emulated()
    (one,) = gap.compared[0].differences["emulate"]
    assert (one.not_valid, verdict_text(one)) == (0, "agree")
    assert all(run["valid"] for run in gap_json(gap)["validity"])


def test_the_simulator_has_no_record_of_validity() -> None:
    made = results(ours=[{"goodput_mbps": 1.0}])
    assert made.runs[0].record.valid
    assert gap_json(Gap(made, (), 0.5, {})) == {"schemes": [], "failures": [], "elapsed_s": 0.5}


def test_a_scenario_without_routers_omits_schemes_not_requested() -> None:
    flows = [{"name": "long", "scheme": "cubic"}]
    plain = airpath.Scenario.from_dict({**datagrams().to_dict(), "flows": flows})
    (one,) = compare_worlds(plain, worlds=["sim", "routers"]).compared
    assert one.labels == {"sim": "cubic"}
    assert set(one.missing) == {"routers"}
    with pytest.raises(ScenarioError, match="needs a router of vcp on its path"):
        compare_worlds(plain, ["vcp-ebe"], worlds=["sim"])


def datagrams() -> airpath.Scenario:
    """Return a scenario without any scheme."""
    link = {"rate": "5mbps", "delay": "5ms", "queue": {"kind": "drop-tail", "limit": "50kB"}}
    sent = {"kind": "constant-bit-rate", "rate": "1mbps", "packet": "500B"}
    return airpath.Scenario.from_dict(
        {
            "name": "voice",
            "duration": "1s",
            "topology": {"kind": "dumbbell", "bottleneck": link},
            "flows": [{"name": "voice", "traffic": sent}],
        }
    )


@pytest.mark.usefixtures("emulated_hosts")
def test_datagrams_are_compared_and_a_backend_requested_twice_runs_once() -> None:
    found = compare_worlds(datagrams(), worlds=["emulate", "datapath", "emulate"])
    (one,) = found.compared
    assert one.labels == {"sim": "datagrams", "emulate": "datagrams in emulate"}
    assert set(one.missing) == {"datapath"}
    assert [run.record.world for run in found.results.runs] == ["sim", "emulate"]
    (goodput,) = [d for d in one.differences["emulate"] if d.metric == "goodput_mbps"]
    assert (goodput.n, goodput.verdict) == ((1, 1), Verdict.AGREE)


def test_invalid_comparisons_are_rejected_before_any_run() -> None:
    with pytest.raises(
        ScenarioError, match='flows: none has a scheme that "cubic" could stand in for; accepted'
    ):
        compare_worlds(datagrams(), ["cubic"], worlds=["sim"])
    with pytest.raises(UsageError, match="worlds: found 'mars'; accepted: sim, quic, emulate"):
        compare_worlds(datagrams(), worlds=["mars"])  # type: ignore[list-item]


FAILURE = "own.py:7: ValueError: oops\nin two lines (newreno, seed 2, at 1 s)"


def fail_second_run(monkeypatch: pytest.MonkeyPatch, scheme: str, world: str) -> None:
    """Let the second of two runs of a scheme fail on a backend."""
    run_all = airpath.gap.compared.run_all

    def failed(wanted: dict, **named: object) -> Results:
        results = run_all(wanted, **named)
        if (scheme not in wanted) or named["world"] != world:
            return results
        raise RunsFailed(Results(results.runs[:1]), len(results.runs), [FAILURE])

    monkeypatch.setattr("airpath.gap.compared.run_all", failed)


def short() -> airpath.Scenario:
    """Return a scenario of one flow and two repetitions."""
    flows = [{"name": "long", "scheme": "cubic"}]
    changes = {"duration": "2s", "flows": flows, "repetitions": 2}
    return airpath.Scenario.from_dict({**datagrams().to_dict(), **changes})


@pytest.mark.parametrize(
    ("world", "labels", "missing", "finished"),
    [
        (
            "quic",
            {"sim": "newreno"},
            {"quic": "1 of 2 runs failed"},
            [("newreno", "sim"), ("newreno", "sim"), ("newreno over quinn", "quic")],
        ),
        (
            "sim",
            {},
            {"sim": "1 of 2 runs failed", "quic": "it did not run, because simulated runs failed"},
            [("newreno", "sim")],
        ),
    ],
)
def test_a_backend_with_a_failed_run_is_not_compared(
    monkeypatch: pytest.MonkeyPatch,
    world: str,
    labels: dict[str, str],
    missing: dict[str, str],
    finished: list[tuple[str, str]],
) -> None:
    fail_second_run(monkeypatch, "newreno", world)
    with pytest.raises(GapFailed) as failed:
        compare_worlds(short(), ["newreno", "cubic"], worlds=["quic"])
    found = failed.value.gap
    assert str(failed.value) == FAILURE
    assert (failed.value.failures, failed.value.asked) == ((FAILURE,), 8)
    assert failed.value.results is found.results
    newreno, cubic = found.compared
    assert (newreno.scheme, newreno.labels, newreno.missing) == ("newreno", labels, missing)
    assert newreno.differences == {}
    assert set(cubic.labels) == {"sim", "quic"}
    assert cubic.differences["quic"]
    kept = [(run.record.scheme, run.record.world) for run in found.results.runs]
    assert kept[:-4] == finished
    assert gap_json(found)["failures"] == [FAILURE]
    assert FAILURE in gap_section(found).remarks
    assert f"newreno is not compared on backend {world}: 1 of 2 runs failed" in gap_section(found).remarks
    figures = [figure.name for figure in gap_figures(found)]
    assert figures == [*(["gap-over-time-1"] if labels else []), "gap-2", "gap-over-time-2"]


def interrupt_second_scheme(monkeypatch: pytest.MonkeyPatch) -> None:
    """Press Ctrl-C when one of two runs of the second scheme is finished."""
    run_all = airpath.gap.compared.run_all

    def interrupted(wanted: dict, **named: object) -> Results:
        results = run_all(wanted, **named)
        if "vcp-ebe" not in wanted:
            return results
        raise airpath.Interrupted(Results(results.runs[:1]), len(results.runs))

    monkeypatch.setattr("airpath.gap.compared.run_all", interrupted)


def test_an_interrupt_returns_all_finished_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    interrupt_second_scheme(monkeypatch)
    scenario = airpath.Scenario.load("three-worlds").override({"duration": "4s", "record.warm_up": "1s"})
    with pytest.raises(airpath.Interrupted) as stopped:
        compare_worlds(scenario, ["cubic", "vcp-ebe"], worlds=["sim"], repetitions=2)
    runs = [(run.record.scheme, run.record.repetition) for run in stopped.value.results.runs]
    assert runs == [("cubic", 0), ("cubic", 1), ("vcp-ebe", 0)]
    assert stopped.value.asked == 4


def test_an_interrupt_after_a_failure_counts_all_runs_and_returns_the_failure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fail_second_run(monkeypatch, "newreno", "sim")
    run_all = airpath.gap.compared.run_all

    def interrupted(wanted: dict, **named: object) -> Results:
        results = run_all(wanted, **named)
        if named["world"] == "sim":
            return results
        raise airpath.Interrupted(results, len(results.runs))

    monkeypatch.setattr("airpath.gap.compared.run_all", interrupted)
    with pytest.raises(airpath.Interrupted) as stopped:
        compare_worlds(short(), ["newreno", "cubic"], worlds=["quic"])
    kept = [(run.record.scheme, run.record.world) for run in stopped.value.results.runs]
    assert kept == [("newreno", "sim"), *[("cubic", "sim")] * 2, *[("cubic over quinn", "quic")] * 2]
    assert (stopped.value.asked, stopped.value.failures) == (8, (FAILURE,))
    tell_finished(stopped.value)
    assert capsys.readouterr().err.splitlines() == [
        *(f"airpath: {line}" for line in FAILURE.splitlines()),
        "airpath: stopped: keeping the 5 of 8 runs that were finished",
    ]


def test_the_command_keeps_finished_results(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    interrupt_second_scheme(monkeypatch)
    short = ["--set", "duration=4s", "--set", "record.warm_up=1s", "--reps", "2", "--world", "sim"]
    with pytest.raises(SystemExit) as left:
        main(["gap", "three-worlds", "cubic", "vcp-ebe", *short, "--json", "--out", str(tmp_path / "found")])
    assert left.value.code == 130
    said = capsys.readouterr()
    assert "stopped: keeping the 3 of 4 runs that were finished" in said.err
    assert json.loads(said.out)["interrupted"] is True
    kept = json.loads((tmp_path / "found" / "provenance.json").read_text())["runs"]
    assert [run["scheme"] for run in kept] == ["cubic", "cubic", "vcp-ebe"]
    assert not (tmp_path / "found" / "gap.json").exists()

"""VCP-W's testbed: the scenario, its measures, and the statements that a few short runs can show."""

import math

import numpy as np
import pytest
from fabricated import link_data, run_data

from airpath.schemes import parse_scheme
from airpath_papers.claim import judge
from airpath_papers.figure import FigureRuns
from airpath_papers.store import RunStore
from airpath_papers.vcp_w import fig11, fig14, heuristic, hurts, repairs, testbed_measures
from airpath_papers.vcp_w.testbed_settings import (
    BARE_VCP,
    BIT,
    DROP_TAIL,
    GUARDED,
    RED,
    RULES,
    VCP,
    VCP_EBE,
    XCP,
    of_rule,
    on_testbed,
    over_air,
)
from airpath_papers.work import do_runs, missing_runs, read_runs


def runs_of(tmp_path, experiments):
    store = RunStore(tmp_path / "runs")
    do_runs(missing_runs(experiments.values(), store), store, 2, lambda _share: None)
    return {label: read_runs(experiment, store) for label, experiment in experiments.items()}


def test_the_first_and_last_marks_of_the_codes_are_not_cut_off(monkeypatch):
    monkeypatch.setattr(fig11, "drawn", lambda _run: 100.0)
    runs = {label: [run_data()] for label in next(iter(fig11.FIG11D.experiments.values()))}
    for panel in fig11._draw_codes(FigureRuns(dict.fromkeys(fig11.FIG11D.experiments, runs))).axes:
        low, high = panel.get_xlim()
        marked = panel.lines[0].get_xdata()
        assert low < min(marked) < max(marked) < high


def test_the_testbed_is_the_papers():
    plan = on_testbed(VCP).resolve().plan()
    files = [flow for flow in plan["flows"] if flow["traffic"]["kind"] == "file"]
    assert len(files) == 2 * 15
    assert {flow["traffic"]["size"] for flow in files} == {5_000_000}
    links = {link["name"]: link for link in plan["links"]}
    there, back = links["bottleneck"], links["bottleneck-reverse"]
    assert there["rate"] == back["rate"] == {"kind": "constant", "bps": 10_000_000}
    assert there["delay_ns"]["value"] + back["delay_ns"]["value"] == 400e6
    assert there["queue"]["limit_bytes"] == 1000 * 1500
    schemes = {flow["controller"]["kind"] for flow in files}
    background = {flow["controller"]["kind"] for flow in plan["flows"] if flow["controller"]} - schemes
    assert (schemes, background) == ({"loss-differentiation"}, {"bic"})


def test_red_and_drop_tail_have_no_router():
    queues = {
        protocol: on_testbed(protocol).resolve().plan()["links"][0]["queue"]
        for protocol in (RED, DROP_TAIL, XCP)
    }
    assert [queue["kind"] for queue in queues.values()] == ["managed", "drop-tail", "router"]


def test_every_rule_is_a_rule_of_vcp():
    for rule in RULES:
        known, options = parse_scheme(of_rule(rule))
        found = known.parameters.read(options)
        assert found["rtt_scaling"] == "smoothed"
    assert parse_scheme(of_rule(GUARDED))[1]["after_freeze"] == "guarded"


def test_coded_air_links_have_coded_acknowledgments():
    plain = over_air(BIT, 30, "1x1")["topology.bottleneck.loss"]
    coded = over_air(BIT, 30, "1x1", 0.9)["topology.bottleneck.loss"]
    assert "ack_code_rate" not in plain
    assert (coded["code_rate"], coded["ack_code_rate"], coded["clock"]) == (0.9, 0.5, "bit")


def test_transfers_that_do_not_end_count_as_long_as_the_run():
    run = run_data(completion_group=("near", "far", "near-back"))
    times = testbed_measures.transfer_times_s(run)
    assert sorted(times) == [10.0, 12.0] + 13 * [20.0]
    assert testbed_measures.last_end_s(run) == 20.0
    assert math.isnan(testbed_measures.first_group_ends_s(run))


def test_convergence_is_where_the_first_full_stretch_begins():
    # Of 0.2 s each: empty, full from 10 s on.
    departed = np.where(np.arange(1, 101) * 0.2 > 10.0, 100.0, 0.0)
    assert testbed_measures.converged_s(run_data(link_data(departed_bytes=departed))) == pytest.approx(9.6)
    never = run_data(link_data(departed_bytes=80.0))
    assert math.isnan(testbed_measures.converged_s(never))
    assert testbed_measures.gets_there(never) == 0.0


def test_groups_and_classified_losses_are_read_from_stored_runs():
    rates = np.array([np.full(100, 25_000.0), np.full(100, 12_500.0), np.full(100, 5000.0)])
    run = run_data(
        groups=("near", "middle", "far"),
        group_departed_bytes=rates,
        flow_reports={
            "losses_dismissed": np.array([3.0, np.nan, 3.0]),
            "losses_answered": np.array([2.0, 0, 0]),
        },
    )
    assert testbed_measures.group_mbps(run, "near") == pytest.approx(1.0)
    assert testbed_measures.near_over_far(run, (5.0, 10.0)) == pytest.approx(5.0)
    assert testbed_measures.unfairness(run) == pytest.approx(5.0)
    assert testbed_measures.dismissed_share(run) == 0.75
    assert math.isnan(testbed_measures.dismissed_share(run_data()))


def test_an_improvement_is_a_share_of_the_distance_to_the_ideal():
    trouble = repairs.Trouble("queue", lambda run: run.duration_s, 10.0)
    runs = {
        repairs.NONE: [run_data(link_data(30.0))],
        "half": [run_data(link_data(20.0))],
        "harm": [run_data(link_data(40.0))],
    }
    of = FigureRuns({"trial": runs}).of("trial")
    parts = [repairs.cure(of, name, trouble).mean for name in runs]
    assert parts == pytest.approx([0.0, 0.5, -0.5])


def test_the_heuristic_rescues_vcp_over_losses(tmp_path):
    one = heuristic.HEURISTIC.experiments[heuristic.HALVED]
    labels = [heuristic.at(sender, 0.05) for sender in (VCP, BARE_VCP)]
    runs = runs_of(tmp_path, {label: one[label].repeated(1) for label in labels})
    with_it, without = (runs[label][0].metrics["utilisation"] for label in labels)
    assert with_it > 0.6
    assert without < 0.1


def test_if_the_capacity_halves_vcp_ebe_converges_and_vcp_does_not(tmp_path):
    figure = fig14.FIG14
    author = next(iter(figure.experiments))
    runs = runs_of(
        tmp_path, {label: figure.experiments[author][label].repeated(1) for label in (VCP, VCP_EBE)}
    )
    swings = {
        label: testbed_measures.queue_deviation_share(run[0], fig14.AFTER) for label, run in runs.items()
    }
    assert swings[VCP] > 0.25
    assert swings[VCP_EBE] < 0.15


def test_with_a_short_queue_congestion_is_mistaken_for_errors(tmp_path):
    label = hurts.at(hurts.RENO, True, hurts.RENO)
    experiments = {choice: hurts.HURTS.experiments[choice][label].repeated(1) for choice in hurts.BUFFERS}
    runs = runs_of(tmp_path, experiments)
    small, large = (
        testbed_measures.dismissed_share(runs[choice][0]) for choice in (hurts.SMALL, hurts.LARGE)
    )
    assert small > 0.5
    assert large < 0.1
    misjudged = next(claim for claim in hurts.HURTS.claims if claim.name == "misjudged")
    judgement = judge(misjudged, {hurts.SMALL: lambda _label: runs[hurts.SMALL]})
    assert judgement.headline.mean == small

"""VCP-W's simulations: the scenarios are those of the paper; a few short runs can show the statements."""

import numpy as np
import pytest
from fabricated import run_data

from airpath.schemes import parse_scheme
from airpath_papers.drawing import panels
from airpath_papers.experiment import Experiment
from airpath_papers.measures import mean_queue, utilisation
from airpath_papers.store import RunStore
from airpath_papers.vcp_w import FIGURES, fig2a, over_snr, parking_lot, testbed_drawing, testbed_settings
from airpath_papers.vcp_w.channel import ACK_BYTES, ANTENNAS, BIT, DATA_BYTES, SYMBOL, Fading
from airpath_papers.vcp_w.paper import (
    AFTER_FREEZE,
    AUTHOR,
    CHANNEL_STEPS,
    GUARDED,
    LOOKS,
    OBEYING,
    REM,
    RULES,
    VCP,
    XCP,
    one_bottleneck,
    readings,
)
from airpath_papers.work import do_runs, missing_runs, read_runs


def run_of(tmp_path, experiment: Experiment):
    store = RunStore(tmp_path / "runs")
    do_runs(missing_runs([experiment], store), store, 2, lambda _share: None)
    return read_runs(experiment, store)[0]


def way(plan, names):
    """Return the links by name on the path of a flow, and its base RTT in ms without transmission times."""
    links = {link["name"]: link for link in plan["links"]}
    assert set(names) <= set(links)
    return sum(links[name]["delay_ns"]["value"] for name in names) / 1e6


@pytest.mark.parametrize(
    ("antennas", "rate", "half", "hundredth"),
    [
        # Computed independently for 1040 bytes, bursts of 8 bits, codewords of at most 255 symbols.
        ("1x1", None, 35.1, 53.5),
        ("2x1", None, 20.9, 30.4),
        ("1x2", None, 17.9, 27.4),
        ("2x2", None, 13.6, 19.9),
        ("1x1", 0.93, 19.1, 22.5),
        ("2x1", 0.93, 11.9, 14.1),
        ("1x2", 0.9, 7.7, 9.5),
        ("2x2", 0.9, 4.9, 6.5),
    ],
)
def test_exact_losses_match_independent_computations(antennas, rate, half, hundredth):
    fading = Fading(antennas, rate)
    assert fading.snr_at(0.5) == pytest.approx(half, abs=0.06)
    assert fading.snr_at(0.01) == pytest.approx(hundredth, abs=0.06)


def test_acknowledgments_have_their_own_code():
    assert Fading("1x1", 0.93, 0.5).snr_at(0.01, ACK_BYTES) == pytest.approx(10.7, abs=0.06)
    assert Fading("1x1", 0.93, None).snr_at(0.01, ACK_BYTES) > 35


def test_parity_that_takes_time_reduces_the_packet_rate():
    # 1040 bytes at 0.93 and 40 at 0.5 are 1118.3 and 80; even codewords make the first 1120.
    assert Fading("1x1", 0.93, 0.5, parity_takes_time=True).packet_share == pytest.approx(
        1080 / 1198.3, abs=1e-4
    )
    assert Fading("1x1", 0.93, 0.5).packet_share == 1.0
    assert "parity_takes_time" not in Fading("1x1").loss(10.0)
    assert Fading("1x1", parity_takes_time=True).loss(10.0)["parity_takes_time"] is True


def test_a_step_per_symbol_moves_knees_left():
    shifts = [
        Fading(one, None, clock=BIT).snr_at(0.5) - Fading(one, None, clock=SYMBOL).snr_at(0.5)
        for one in ANTENNAS
    ]
    assert shifts == pytest.approx([9.0, 5.0, 5.0, 4.7], abs=0.15)


def test_crossings_lie_between_points():
    values = np.array([[0.0, 5.0, 0.0], [4.0, 6.0, 1.0], [8.0, 7.0, 1.5]])
    found = over_snr.crossings((0.0, 2.0, 4.0), values, np.array([6.0, 3.0, 9.0]))
    assert found[:2] == pytest.approx([3.0, 0.0])
    assert np.isnan(found[2])


def test_the_parking_lot_has_the_base_rtts_and_buffers_of_its_paper():
    plan = Experiment(parking_lot.PARKING_LOT, RULES[AUTHOR]).resolve().plan()
    long_way = ("f1-source-A", "AB", "BC", "CD", "DE", "E-f1-sink")
    assert 2 * way(plan, long_way) == 2020
    assert 2 * way(plan, ("r2-source-B", "BC", "C-r2-sink")) == 520
    links = {link["name"]: link for link in plan["links"]}
    assert [links[name]["rate"]["bps"] / 1e6 for name in parking_lot.LINKS] == [4, 4, 2, 4]
    assert [links[name]["queue"]["limit_bytes"] for name in parking_lot.LINKS] == [260e3, 260e3, 130e3, 260e3]
    groups = [flow["name"].partition("-")[0] for flow in plan["flows"]]
    assert [groups.count(name) for name in ("F1", "R1", "R2", "R3", "R4")] == [30, 60, 60, 60, 60]
    assert groups[:30] == ["F1"] * 30
    starts = [flow["start_ns"] for flow in plan["flows"] if flow["name"].startswith("R3-")]
    assert {start["low"] for start in starts} == {1000e9}


def test_with_one_link_long_flows_keep_their_rtt(tmp_path):
    run = run_of(
        tmp_path, parking_lot.on(parking_lot.ONE_HOP, XCP, 1, {"duration": "30s", "record.warm_up": "10s"})
    )
    # Propagation, and 3 ms to send a packet and its acknowledgment; some flows find a short queue.
    for group, base_s in ((run.min_rtt_s[:30], 2.02), (run.min_rtt_s[30:], 0.52)):
        assert group.min() == pytest.approx(base_s + 0.003, abs=0.0005)
        assert group.max() < base_s + 0.05


def test_xcp_shares_and_vcp_does_not(tmp_path):
    changes = {"duration": "300s"}
    span = (150.0, 300.0)
    xcp, vcp = (
        run_of(tmp_path, parking_lot.on(parking_lot.PARKING_LOT, label, 1, changes))
        for label in (XCP, GUARDED)
    )
    assert parking_lot.local_to_long(xcp, "AB", span) == pytest.approx(2.0, rel=0.25)
    assert parking_lot.local_to_long(vcp, "AB", span) > 8


def test_only_obeying_overload_lets_many_flows_empty_the_queue(tmp_path):
    queues = [
        mean_queue(
            run_of(tmp_path, parking_lot.on(parking_lot.ONE_HOP, rule, 1, {"duration": "300s"})), (100, 300)
        )
        for rule in (AUTHOR, GUARDED, OBEYING)
    ]
    assert queues[0] > 0.7
    assert queues[2] < queues[1] < 0.2


def test_vcp_is_steady_over_the_satellite(tmp_path):
    run = run_of(tmp_path, one_bottleneck("vcpw-satellite", VCP, 1, {"duration": "300s"}))
    assert utilisation(run, (100, 300)) > 0.93
    assert mean_queue(run, (100, 300)) < 0.03


def test_rem_marks_and_drops_nothing_after_slow_start(tmp_path):
    run = run_of(tmp_path, one_bottleneck("vcpw-satellite", REM, 1, {"duration": "200s"}))
    series = run.links["bottleneck"].series
    # Slow start, up to 15 s, is faster than the price that sets marks.
    assert series["dropped_packets"][series["time_s"] > 15].sum() == 0
    assert run.links["bottleneck"].drops < 0.01 * series["departed_bytes"].sum() / DATA_BYTES
    assert 0.5 < utilisation(run, (50, 200)) < 1


def test_rules_match_their_names():
    for rule in RULES.values():
        known, options = parse_scheme(rule)
        assert known.id == "vcp"
        known.parameters.read(options)
    assert len(set(RULES.values())) == len(RULES)


def test_every_figure_has_the_same_headline_readings():
    for figure in FIGURES:
        names = tuple(figure.readings)
        if names:
            question = AFTER_FREEZE if names[0] in AFTER_FREEZE else CHANNEL_STEPS
            assert names == tuple(name for name in question if name in names), figure.id
            assert (names[0], next(iter(figure.experiments))) == (question[0], figure.readings[names[0]][0])
        else:
            others = (*AFTER_FREEZE[1:], *CHANNEL_STEPS[1:])
            assert not any(name in choice for choice in figure.experiments for name in others), figure.id


def test_readings_of_the_sender_match_its_rule_after_a_freeze():
    testbed = {rule: testbed_settings.of_rule(rule) for rule in testbed_settings.RULES}
    for rules in (RULES, testbed):
        for reading, choices in readings(rules, AFTER_FREEZE).items():
            rows = [parse_scheme(rules[choice]) for choice in choices]
            assert {known.parameters.read(options)["after_freeze"] for known, options in rows} == {reading}


def test_equal_repetitions_with_rounding_errors_are_plotted():
    values = np.array([[0.1] * 3, [0.7] * 3])
    assert (values.mean(axis=1) != values[:, 0]).all(), "the means of these equal values are off by a bit"
    picture, axes = panels(1)
    over_snr.lines(axes[0], (0.0, 2.0), values)
    picture.canvas.draw()


def test_overlapping_schemes_are_all_visible():
    _, (panel,) = panels(1)
    fig2a._curves(panel, lambda _label: [run_data()], lambda _run: 0.0)
    shown = {
        text: entry[0]
        for entry, text in zip(*panel.get_legend_handles_labels(), strict=True)
        if text not in ANTENNAS
    }
    assert len(shown) == 3
    sizes = [line.get_markersize() for line in shown.values()]
    assert sizes == sorted(set(sizes), reverse=True)  # plotted first, and widest
    assert {line.get_markerfacecolor() for line in shown.values()} == {"none"}
    assert not any(line.get_clip_on() for line in shown.values())


def test_the_axes_do_not_cut_markers_at_the_ends():
    _, (panel,) = panels(1)
    testbed_drawing.over(panel, (0.0, 20.0), {"VCP": (LOOKS[VCP], lambda _place: [0.5, 0.6])}, "x", "y")
    low, high = panel.get_xlim()
    assert low < 0.0
    assert high > 20.0

"""SARBE's experiments: the calibrated paths, and the statements that a few short runs can show."""

import numpy as np
import pytest
from fabricated import link_data, run_data

from airpath_papers.experiment import Experiment
from airpath_papers.figure import FigureRuns
from airpath_papers.sarbe import compression, drawing, goodput, settings, steps, wireless
from airpath_papers.sarbe.paper import RENO, SARBE, SCHEMES, WESTWOOD
from airpath_papers.store import RunStore
from airpath_papers.work import do_runs, missing_runs, read_runs


def runs_of(tmp_path, experiments: dict[str, Experiment]):
    store = RunStore(tmp_path / "runs")
    do_runs(missing_runs(experiments.values(), store), store, 2, lambda _share: None)
    return lambda label: read_runs(experiments[label], store)


def test_the_wireless_path_matches_its_calibration():
    plan = Experiment("sarbe-wireless", SARBE).resolve().plan()
    links = {link["name"]: link for link in plan["links"]}
    hop, back = links["wireless"], links["wireless-reverse"]
    assert (hop["loss"], back["loss"]) == (0.01, 0.0)
    # 2 Mbit/s for twice (27 ms + 10 µs), 13 packets of 1040 bytes.
    assert hop["queue"]["limit_bytes"] == 13_505
    assert {flow["measured_at"] for flow in plan["flows"]} == {list(links).index("wireless")}
    assert plan["flows"][0]["transport"]["delayed_ack_segments"] == 1


def test_the_load_follows_from_the_available_bandwidth():
    plan = Experiment("sarbe-steps", SARBE).resolve().plan()
    loads = [flow for flow in plan["flows"] if flow["traffic"]["kind"] == "constant-bit-rate"]
    for (start, end), load in zip(settings.STRETCHES, settings.LOAD_MBPS, strict=True):
        on = [
            flow["traffic"]["rate"] / 1e6
            for flow in loads
            if flow["start_ns"]["value"] <= start * 1e9 and flow["stop_ns"]["value"] >= end * 1e9
        ]
        assert sum(on) == load
        middle = settings.available_mbps(np.array([(start + end) / 2]))
        assert middle == pytest.approx((5 - load) * 1000 / 1040)


@pytest.mark.parametrize(("estimated_mbps", "scale"), [(3.0, "linear"), (120.0, "log")])
def test_estimates_far_above_the_available_bandwidth_keep_the_plot_readable(
    monkeypatch, estimated_mbps, scale
):
    time_s = np.arange(1.0, 150.0)
    monkeypatch.setattr(drawing, "estimate", lambda _run, _label: (time_s, np.full(149, estimated_mbps)))
    runs = FigureRuns({"choice": {SARBE: [run_data(link_data(150.0))]}})
    (panel,) = drawing.estimates_over_time(runs, (SARBE,)).axes
    low, high = panel.get_ylim()
    assert panel.get_yscale() == scale
    assert low < settings.available_mbps(time_s).min() < estimated_mbps < high


def test_the_available_bandwidth_changes_after_the_end_of_an_interval():
    assert settings.available_mbps(np.array([24.9, 25.0, 25.1])) * 1.04 == pytest.approx([5, 5, 4])


def test_sarbe_is_ahead_of_reno_as_far_as_stated(tmp_path):
    losses = {"topology.links.0.delay": "27ms", "duration": "60s"}
    few = wireless.at_losses("sarbe-wireless", (RENO, SARBE), 4, losses, (wireless.ONE_PERCENT,))
    gains = goodput._gains(runs_of(tmp_path, few), RENO)
    assert 20 < np.mean(gains) < 50


def test_only_westwood_is_misled_by_compression(tmp_path):
    figure = compression.FIG2A
    few = {label: figure.experiments[settings.COARSE][label].repeated(1) for label in (WESTWOOD, SARBE)}
    of = runs_of(tmp_path, few)
    (westwood,), (sarbe,) = (compression._values(of, label) for label in (WESTWOOD, SARBE))
    available = compression._available(of(SARBE)[0])
    assert available == pytest.approx(np.mean([4] * 15 + [3] * 25 + [1.5] * 25 + [3.5] * 20) / 1.04, abs=0.01)
    assert westwood > sarbe + 2
    assert abs(sarbe - available) < 1


def test_passive_estimators_of_one_sender_are_all_found(tmp_path):
    watched = steps.FIG1.experiments[settings.BESIDE]
    assert len({one.key() for one in watched.values()}) == 1
    of = runs_of(tmp_path, {SARBE: watched[SARBE].repeated(1)})
    (run,) = of(SARBE)
    for label in settings.ESTIMATORS:
        time_s, mbps = settings.estimate(run, label)
        alone = mbps[(time_s > 10) & (time_s < 25)]
        assert alone == pytest.approx(np.full(len(alone), 5 / 1.04), rel=0.05), label


def test_every_scheme_is_run_at_every_loss_rate():
    for choice in wireless.LINKS:
        labels = set(goodput.FIG4.experiments[choice])
        assert labels == {wireless.label(one, loss) for one in SCHEMES for loss in wireless.LOSSES}

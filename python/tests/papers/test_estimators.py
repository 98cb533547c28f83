"""Estimators against the truth: which links are evaluated, and the effect of bursts on per-ACK samples."""

import math

import pytest
from outside import recorded_trace, recorded_traces

from airpath.schemes import ESTIMATORS as REGISTERED
from airpath_papers.estimators import LINKS_FIGURE
from airpath_papers.estimators.figure import ESTIMATORS, ONE_WAY, PAYLOAD_SHARE, experiment
from airpath_papers.estimators.links import Kind, judged_links
from airpath_papers.estimators.measures import errors
from airpath_papers.store import RunStore
from airpath_papers.work import do_runs, missing_runs, read_runs

SYNTHETIC = "lte.up (synthetic)"


def test_without_recorded_traces_the_shipped_links_are_evaluated(tmp_path):
    assert [link.label for link in judged_links(None)] == ["lte.down (synthetic)", SYNTHETIC]
    assert judged_links(str(tmp_path)) == judged_links(None)


def test_recorded_traces_are_added_if_present(tmp_path):
    (tmp_path / "Verizon-LTE-short.down").write_text("1\n")
    (tmp_path / "something-else").write_text("1\n")
    (recording,) = judged_links(str(tmp_path))[2:]
    assert (recording.label, recording.kind) == ("Verizon LTE", Kind.BURSTS)
    assert recording.reverse == recording.rate  # its opposite direction is missing
    (tmp_path / "Verizon-LTE-short.up").write_text("1\n")
    down, up = judged_links(str(tmp_path))[2:]
    assert (up.label, up.reverse) == ("Verizon LTE, up", down.rate)
    assert down.reverse == up.rate


def test_every_recorded_rate_trace_is_evaluated():
    folder = recorded_traces()
    recorded = {str(path) for path in folder.iterdir() if not path.name.startswith(("README", "leo-delay"))}
    assert {link.rate["file"] for link in judged_links(str(folder))[2:]} == recorded


def test_every_estimator_is_evaluated():
    judged = {estimator.partition(":")[0] for estimator in ESTIMATORS}
    assert judged == {one.id for one in REGISTERED}


def test_an_estimator_without_an_estimate_has_no_errors(tmp_path):
    one = experiment(
        "estimators-link", judged_links(None)[0], {"duration": "40ms", "record.interval": "10ms"}
    )
    found = errors_on(one, tmp_path)("hoe")
    assert math.isnan(found.bias)
    assert math.isnan(found.lag_s)


def errors_on(one, folder):
    """Return the function that returns the errors of an estimator in one run of an experiment."""
    store = RunStore(folder / "runs")
    do_runs(missing_runs([one], store), store, 1, lambda _share: None)
    (run,) = read_runs(one, store)
    return lambda estimator, against_capacity=True: errors(
        run, estimator, against_capacity=against_capacity, payload_share=PAYLOAD_SHARE
    )


def test_bursts_mislead_single_acknowledgments_and_ten_millisecond_samples_do_not(tmp_path):
    found = errors_on(LINKS_FIGURE.experiments[ONE_WAY][SYNTHETIC], tmp_path)
    per_ack = found("westwood-ti")
    cured = found("westwood-ti:samples=interval,interval=10ms")
    assert per_ack.bias > 0.10
    assert abs(cured.bias) < per_ack.bias / 2
    assert cured.mean_absolute < per_ack.mean_absolute
    assert abs(found("westwood-zoh").bias) < 0.05
    assert found("westwood-aa").lag_s > cured.lag_s
    # The link carries only this flow, so both truths are nearly the same.
    used = found("westwood-zoh", against_capacity=False)
    assert used.bias == pytest.approx(found("westwood-zoh").bias, abs=0.03)


def test_a_recorded_link_shows_the_same_more_clearly(tmp_path):
    folder = recorded_trace("Verizon-LTE-short.down").parent
    (recorded,) = (link for link in judged_links(str(folder)) if link.label == "Verizon LTE")
    found = errors_on(experiment("estimators-link", recorded), tmp_path)
    assert found("westwood-ti").bias > 0.25
    assert found("sarbe:resolution=1ms").bias > 0.25
    assert abs(found("westwood-10ms").bias) < 0.10
    assert abs(found("westwood-aa").bias) < 0.10

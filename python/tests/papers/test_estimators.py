"""Estimators against the truth: which links are judged, and what bursts do to per-ACK samples."""

import pytest

from airpath.papers.estimators import LINKS_FIGURE
from airpath.papers.estimators.figure import ESTIMATORS, ONE_WAY, PAYLOAD_SHARE
from airpath.papers.estimators.links import Kind, judged_links
from airpath.papers.estimators.measures import errors
from airpath.papers.store import RunStore
from airpath.papers.work import do_runs, missing_runs, read_runs
from airpath.schemes import ESTIMATORS as REGISTERED

SYNTHETIC = "lte.up (synthetic)"


def test_without_recordings_the_shipped_links_are_judged(tmp_path):
    assert [link.label for link in judged_links(None)] == ["lte.down (synthetic)", SYNTHETIC]
    assert judged_links(str(tmp_path)) == judged_links(None)


def test_recordings_are_added_where_they_are(tmp_path):
    (tmp_path / "Verizon-LTE-short.down").write_text("1\n")
    (tmp_path / "something-else").write_text("1\n")
    (recording,) = judged_links(str(tmp_path))[2:]
    assert (recording.label, recording.kind) == ("Verizon LTE", Kind.BURSTS)
    assert recording.reverse == recording.path  # its opposite direction is absent
    (tmp_path / "Verizon-LTE-short.up").write_text("1\n")
    (recording,) = judged_links(str(tmp_path))[2:]
    assert recording.reverse == tmp_path / "Verizon-LTE-short.up"


def test_every_estimator_is_judged_but_those_that_answer_once_or_not_at_all():
    judged = {estimator.partition(":")[0] for estimator in ESTIMATORS}
    assert judged == {one.id for one in REGISTERED} - {"hoe", "samples"}


def test_bursts_mislead_single_acknowledgments_and_ten_milliseconds_cure_it(tmp_path):
    store = RunStore(tmp_path / "runs")
    experiment = LINKS_FIGURE.experiments[ONE_WAY][SYNTHETIC].repeated(1)
    do_runs(missing_runs([experiment], store), store, 1, lambda _share: None)
    (run,) = read_runs(experiment, store)

    def found(estimator: str):
        return errors(run, estimator, against_capacity=True, payload_share=PAYLOAD_SHARE)

    per_ack = found("westwood-ti")
    cured = found("westwood-ti:samples=interval,interval=10ms")
    assert per_ack.bias > 0.10
    assert abs(cured.bias) < per_ack.bias / 2
    assert cured.mean_absolute < per_ack.mean_absolute
    assert abs(found("westwood-zoh").bias) < 0.05
    assert found("westwood-aa").lag_s > cured.lag_s
    # The flow is all that the link carries, so that both truths are nearly the same.
    used = errors(run, "westwood-zoh", against_capacity=False, payload_share=PAYLOAD_SHARE)
    assert used.bias == pytest.approx(found("westwood-zoh").bias, abs=0.03)

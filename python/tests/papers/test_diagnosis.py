"""The diagnosis against the truth: the stored data of a run, and the scores of windows and bins."""

import numpy as np
import pytest

from airpath._run.workers import run_job
from airpath.results import RunResult
from airpath_papers.diagnosis.scenes import SCENES
from airpath_papers.diagnosis.scores import is_main_label_right, pooled, right, right_of_sure
from airpath_papers.diagnosis.truth import Window, bins, windows
from airpath_papers.kept_run import job_of
from airpath_papers.run_data import extract, from_bytes, to_bytes


@pytest.fixture(scope="module")
def bulk():
    """Return a scene of a bulk flow, and the data of its run."""
    scene = next(scene for scene in SCENES if scene.name == "a/bulk-1")
    return scene, extract(RunResult(run_job(job_of(scene.experiment, 0))))


def test_a_bulk_flow_fills_its_link_and_the_bandwidth_is_the_capacity(bulk):
    scene, run = bulk
    found = windows(scene, run)
    assert {one.truth for one in found} == {"bottleneck"}
    assert np.mean(right(found)) > 0.95
    capacity_bps = 5e6 * run.diagnosis.payload_share
    full = [one for one in bins(run, scene.from_s) if one.full]
    assert len(full) >= 30
    assert np.allclose([one.capacity_bps for one in full], capacity_bps, rtol=0.01)
    assert run.diagnosis.headline["rate_bps"] == pytest.approx(capacity_bps, rel=0.02)


def test_a_flow_that_writes_is_limited_by_what_its_sender_counts():
    scene = next(scene for scene in SCENES if scene.name == "e/writes-shared")
    run = extract(RunResult(run_job(job_of(scene.experiment, 0))))
    # From the twelfth second on, CUBIC fills the queue, and Vegas keeps eight segments in flight.
    shares = dict(
        zip(run.diagnosis.windows["from_s"].round(), run.diagnosis.windows["application"], strict=True)
    )
    truths = [one.truth for one in windows(scene, run)]
    assert shares[5] == 1
    assert shares[20] == 0
    assert truths[:6] == ["application"] * 6
    assert set(truths[12:]) == {"bottleneck"}


def test_stored_diagnoses_are_preserved(bulk):
    _, run = bulk
    again = from_bytes(to_bytes(run)).diagnosis
    for name in ("labels", "headline", "policers", "payload_share"):
        assert getattr(again, name) == getattr(run.diagnosis, name)
    for name in ("windows", "bins"):
        stored, columns = getattr(again, name), getattr(run.diagnosis, name)
        assert stored.keys() == columns.keys()
        assert all(np.array_equal(stored[column], columns[column]) for column in columns)


def test_scores_of_labels():
    found = [Window("a", "a", 0.95), Window("a", "b", 0.95), Window("b", "b", 0.5), Window("a", "a", 0.5)]
    assert right(found) == [True, False, True, True]
    assert right_of_sure(found) == [True, False]
    # Both labels hold for half of the windows; "b" is the truth of a quarter only.
    assert is_main_label_right(found) == 1.0
    assert is_main_label_right([Window("a", "b", 1.0), Window("a", "b", 1.0), Window("b", "b", 1.0)]) == 0.0


def test_flows_count_by_their_length():
    # The third flow has no window with a flag.
    shares = pooled([[True], [True, False, True], [], [False] * 4])
    assert (shares.n, shares.mean) == (3, pytest.approx(3 / 8, abs=0.1))


def test_names_of_scenes_are_different():
    assert len({scene.name for scene in SCENES}) == len(SCENES)

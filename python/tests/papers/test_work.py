"""Runs are computed once, kept, and found again."""

import os
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from airpath._os.processes import WorkerPool
from airpath._run.workers import run_job
from airpath.errors import AirpathError, OutputError
from airpath.results import RunResult
from airpath_papers import work
from airpath_papers.experiment import Experiment
from airpath_papers.kept_run import job_of
from airpath_papers.run_data import extract, from_bytes, to_bytes
from airpath_papers.store import RunStore
from airpath_papers.work import Interrupted, _parts, do_runs, missing_runs


@pytest.fixture
def store(tmp_path):
    return RunStore(tmp_path / "runs")


def quiet(_share: float) -> None:
    return None


def the_run(store, experiment, seed=1):
    run = store.get(experiment.key(), seed)
    assert run is not None
    return run


def test_each_run_is_done_once_however_many_experiments_share_it(tiny, store):
    same = [Experiment(tiny, "newreno", repetitions=2), Experiment(tiny, "newreno", repetitions=3)]
    jobs = missing_runs([*same, Experiment(tiny, "cubic", repetitions=1)], store)
    assert sorted((run.experiment.scheme, run.seed) for run in jobs) == [
        ("cubic", 1),
        ("newreno", 1),
        ("newreno", 2),
        ("newreno", 3),
    ]


def test_finished_runs_are_not_done_again(tiny, store):
    experiment = Experiment(tiny, "newreno", repetitions=2)
    do_runs(missing_runs([experiment], store), store, 2, quiet)
    assert missing_runs([experiment], store) == []
    more = missing_runs([experiment.repeated(3)], store)
    assert [run.seed for run in more] == [3]


def test_the_stored_run_does_not_depend_on_rows_of_lost_packets(tiny, store):
    experiment = Experiment(tiny, "newreno", {"topology.bottleneck.queue.limit": "3 packets"}, repetitions=1)
    do_runs(missing_runs([experiment], store), store, 1, quiet)
    full = RunResult(run_job(job_of(experiment, 0)))
    assert full.drops.num_rows > 0
    kept = the_run(store, experiment)
    assert to_bytes(kept) == to_bytes(replace(extract(full), cpu_s=kept.cpu_s))
    assert RunResult(run_job(replace(job_of(experiment, 0), drops=False))).drops.num_rows == 0


@pytest.mark.parametrize("changes", [{"duration": "2s"}, {"flows.0.count": 3}])
def test_another_setting_is_another_run(tiny, store, changes):
    do_runs(missing_runs([Experiment(tiny, "newreno", repetitions=1)], store), store, 1, quiet)
    assert len(missing_runs([Experiment(tiny, "newreno", changes, 1)], store)) == 1


def test_runs_over_different_traces_are_distinguished_despite_equal_plans(tiny, store, tmp_path):
    rates = {"slow": 1, "fast": 2}
    for name, mbps in rates.items():
        (tmp_path / name).write_text("".join(f"{second} {mbps}\n" for second in range(5)))
    text = (
        Path(tiny)
        .read_text()
        .replace('"2mbps"', '{ kind = "trace", file = "slow", format = "seconds-mbps" }')
    )
    Path(tiny).write_text(text)
    over = {
        name: Experiment(tiny, "newreno", {"topology.bottleneck.rate.file": name}, repetitions=1)
        for name in rates
    }
    do_runs(missing_runs(over.values(), store), store, 1, quiet)
    offered = {
        name: the_run(store, one).links["bottleneck"].series["offered_bytes"].sum()
        for name, one in over.items()
    }
    assert offered["fast"] == pytest.approx(2 * offered["slow"], rel=0.01)


def test_another_engine_has_other_runs(tiny, monkeypatch):
    from airpath_papers import experiment
    from airpath_papers import store as kept

    before = Experiment(tiny, "newreno").key()
    monkeypatch.setattr(kept, "fingerprint", lambda *_: "another engine")
    monkeypatch.setattr(experiment, "_KEYS", {})
    assert Experiment(tiny, "newreno").key() != before


def test_known_keys_are_not_computed_again(tiny, monkeypatch):
    from airpath_papers import experiment

    one = Experiment(tiny, "newreno")
    found = experiment.keys_of([one, replace(one, world="emulate")])
    monkeypatch.setattr(experiment, "_KEYS", {})
    monkeypatch.setattr(experiment, "run_key", lambda *_: pytest.fail("looked for again"))
    experiment.learn_keys(found)
    assert [*found.values()] == [one.key()]


def test_repetitions_are_done_together_up_to_a_size(tiny, store):
    runs = missing_runs([Experiment(tiny, scheme, repetitions=5) for scheme in ("newreno", "cubic")], store)
    parts = [
        [(run.experiment.scheme, run.repetition) for run in part] for part in _parts(runs, 2.5 * runs[0].size)
    ]
    assert parts == [
        [(scheme, repetition) for repetition in repetitions]
        for scheme in ("newreno", "cubic")
        for repetitions in ((0, 1), (2, 3), (4,))
    ]
    assert [len(part) for part in _parts(runs, 0.0)] == [1] * 10


def test_repetitions_are_seeds_and_therefore_paired(tiny, store):
    experiments = [Experiment(tiny, scheme, repetitions=2) for scheme in ("newreno", "cubic")]
    do_runs(missing_runs(experiments, store), store, 2, quiet)
    starts = [
        [float(the_run(store, one, seed).links["bottleneck"].series["arrived_bytes"][0]) for seed in (1, 2)]
        for one in experiments
    ]
    assert starts[0] == starts[1]


def test_stored_runs_survive_writing(tiny, store):
    experiment = Experiment(tiny, "newreno", repetitions=1)
    do_runs(missing_runs([experiment], store), store, 1, quiet)
    run = the_run(store, experiment)
    again = from_bytes(to_bytes(run))
    assert again.metrics == pytest.approx(dict(run.metrics), nan_ok=True)
    np.testing.assert_array_equal(again.windows_packets, run.windows_packets)
    assert run.windows_packets.shape[0] == 2
    assert np.nanmin(run.windows_packets) >= 1
    link = run.links["bottleneck"]
    assert link.buffer_bytes == 20_000
    assert link.series["offered_bytes"].sum() == pytest.approx(2e6 / 8)
    assert set(run.flow_group) == {"long"}
    assert list(again.links) == list(run.links)


def test_a_corrupted_file_counts_as_no_run(tiny, store):
    experiment = Experiment(tiny, "newreno", repetitions=1)
    do_runs(missing_runs([experiment], store), store, 1, quiet)
    (file,) = store.folder.rglob("*.arrow")
    whole = file.read_bytes()
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 1
    for damaged in (whole[:100], b"", bytes(flipped)):
        file.write_bytes(damaged)
        assert store.get(experiment.key(), 1) is None
    with pytest.raises(OutputError, match="run the same command to repeat it"):
        work.read_runs(experiment, store)
    assert [run.seed for run in missing_runs([experiment], store)] == [1]


@pytest.mark.parametrize("facts", ["[]", '{"shapes": {}, "links": 7}', '{"shapes": 7}', "[" * 100_000])
def test_invalid_content_with_a_valid_checksum_counts_as_no_run(store, facts):
    schema = pa.schema([("x", pa.list_(pa.float64()))], {b"facts": facts})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, schema) as file:
        file.write_batch(pa.record_batch([pa.array([[1.0]])], schema=schema))
    content = sink.getvalue().to_pybytes()
    # The length of the first column, in the record of the batch: more than the memory of any machine.
    for changed in (content, content.replace((8).to_bytes(8, "little"), (1 << 58).to_bytes(8, "little"))):
        (store.folder / "key").mkdir(parents=True, exist_ok=True)
        (store.folder / "key" / "1.arrow").write_bytes(zlib.crc32(changed).to_bytes(4, "little") + changed)
        assert store.get("key", 1) is None


def test_experiments_that_differ_in_their_first_seed_only_are_both_done(tiny, store):
    long = Experiment(tiny, "newreno", {"duration": "20s"}, repetitions=1)  # so that parts have several runs
    same = [Experiment(tiny, "cubic", repetitions=2, seed=seed) for seed in (1, 10)]
    do_runs(missing_runs([long, *same], store), store, 2, quiet)
    assert all(store.holds(same[0].key(), seed) for seed in (1, 2, 10, 11))


def test_the_key_of_a_scenario_with_a_trace_follows_the_trace(tiny, tmp_path):
    (tmp_path / "slow").write_text("".join(f"{second} 1\n" for second in range(5)))
    rate = '{ kind = "trace", file = "slow", format = "seconds-mbps" }'
    Path(tiny).write_text(Path(tiny).read_text().replace('"2mbps"', rate))
    before = Experiment(tiny, "newreno").key()
    (tmp_path / "slow").write_text("".join(f"{second} 2\n" for second in range(5)))
    assert Experiment(tiny, "newreno").key() != before


@pytest.mark.processes
def test_an_interrupt_keeps_finished_runs_and_a_second_call_does_the_rest(tiny, store):
    experiment = Experiment(tiny, "newreno", repetitions=6)
    shares = []

    def interrupted_after_two(share):
        shares.append(share)
        if len(shares) == 2:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted) as stopped:
        do_runs(missing_runs([experiment], store), store, 1, interrupted_after_two)
    assert (stopped.value.finished, stopped.value.asked) == (2, 6)
    left = missing_runs([experiment], store)
    # A worker may have kept a run that it did not report any more.
    assert 3 <= len(left) <= 4
    do_runs(left, store, 1, quiet)
    assert missing_runs([experiment], store) == []


def test_the_longest_runs_come_first(tiny, store):
    short, long = (Experiment(tiny, "newreno", {"duration": length}, 1) for length in ("2s", "8s"))
    shares = []
    do_runs(missing_runs([short, long], store), store, 1, shares.append)
    assert shares == pytest.approx([0.8, 1.0])


@pytest.mark.processes
def test_a_failing_run_stops_the_work_and_finished_runs_are_kept(tiny, store):
    good = Experiment(tiny, "newreno", {"duration": "8s"}, repetitions=1)
    wrong = Experiment(tiny, "newreno", {"duration": "2s"}, repetitions=1)
    runs = missing_runs([good, wrong], store)
    unknown = replace(wrong, changes={"duration": "two"})
    runs[1] = replace(runs[1], experiment=unknown)
    with pytest.raises(AirpathError, match="duration"):
        do_runs(runs, store, 1, quiet)
    assert missing_runs([good], store) == []


@pytest.mark.processes
def test_killed_workers_are_reported(tiny, store, monkeypatch):
    submit = WorkerPool.submit
    monkeypatch.setattr(WorkerPool, "submit", lambda pool, *_: submit(pool, os._exit, 1))
    with pytest.raises(AirpathError, match="a worker process died"):
        do_runs(missing_runs([Experiment(tiny, "newreno")], store), store, 1, quiet)


def test_the_cost_of_a_run_is_stored(tiny, store):
    experiment = Experiment(tiny, "newreno", repetitions=1)
    do_runs(missing_runs([experiment], store), store, 1, quiet)
    assert 0.0 < the_run(store, experiment).cpu_s < 60.0


def test_progress_rises_to_one(tiny, store):
    shares = []
    do_runs(missing_runs([Experiment(tiny, "newreno", repetitions=6)], store), store, 1, shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1.0)

"""The directory of a sweep: its parts, files of others in it, unfinished sweeps."""

import errno
import hashlib
import json
import os

import pyarrow as pa
import pytest
from sweep_engines import InlineEngine, inline

import airpath
from airpath.errors import OutputError, UsageError
from airpath.sweeps import SweepPlan
from airpath.sweeps.part import Part, PartStore
from airpath.sweeps.task import do_task, version
from airpath.sweeps.work import Progress, do_runs, missing_runs


def test_a_corrupted_or_outdated_part_is_run_again(small, tmp_path):
    plan = SweepPlan.load(small)
    store, engine, progress = PartStore(tmp_path / "parts"), InlineEngine(), Progress(len(plan))
    do_runs(missing_runs(plan, store, progress), engine, store, progress, lambda _share: None)
    files = sorted((tmp_path / "parts").glob("*/*.arrow"))
    assert len(files) == 16
    whole = files[0].read_bytes()
    files[0].write_bytes(whole[: len(whole) // 2])
    files[1].write_bytes(files[2].read_bytes())
    part = Part.from_bytes(files[3].read_bytes())
    store.put(part.key, Part(part.key, {str(tmp_path / "gone.trace"): "0"}, part.tables).to_bytes())
    missing = {run.task.key for run in missing_runs(plan, store, Progress(len(plan)))}
    assert missing == {file.stem for file in (files[0], files[1], files[3])}


def test_a_part_of_which_one_bit_has_changed_is_no_part(small, tmp_path):
    run = next(SweepPlan.load(small).runs())
    whole = do_task(run.task, version())
    assert Part.from_bytes(whole).key == run.task.key
    for place in [*range(0, len(whole), 101), *range(64), len(whole) - 1]:
        flipped = bytearray(whole)
        flipped[place] ^= 1 << place % 8
        with pytest.raises(ValueError, match="digest"):
            Part.from_bytes(bytes(flipped))
    store = PartStore(tmp_path / "parts")
    store.put(run.task.key, bytes(flipped))
    assert store.get(run.task.key) is None


def test_invalid_content_with_a_valid_digest_is_no_part(tmp_path):
    content = pa.array([b"a" * 333, b"b" * 444], pa.large_binary())
    metadata = {b"airpath.key": b"ab", b"airpath.inputs": b"{}"}
    outer = pa.table({"table": ["runs", "flows"], "content": content}).replace_schema_metadata(metadata)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, outer.schema) as writer:
        writer.write_table(outer)
    whole = sink.getvalue().to_pybytes()
    # The first text ends before it begins, which Arrow does not detect while it reads.
    changed = whole.replace((333).to_bytes(8, "little"), (-7).to_bytes(8, "little", signed=True))
    assert changed != whole
    store = PartStore(tmp_path)
    store.put("ab", hashlib.sha256(changed).digest() + changed)
    assert store.get("ab") is None


def test_existing_files_are_unchanged(small, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("")
    with pytest.raises(OutputError, match="contains no sweep"):
        airpath.sweep(small, tmp_path / "mine")
    with pytest.raises(OutputError, match="is not a directory"):
        airpath.sweep(small, small)
    with pytest.raises(UsageError, match='found "slurm"; accepted: local, dask'):
        airpath.sweep(small, tmp_path / "out", engine="slurm")
    for jobs in (0, -1, "2", 1.5, True):
        with pytest.raises(UsageError, match=f"jobs: found {jobs!r}; accepted: 1 or more"):
            airpath.sweep(small, tmp_path / "out", jobs=jobs)
    with pytest.raises(UsageError, match="engine: found None; accepted: local, dask"):
        airpath.sweep(small, tmp_path / "out", engine=None)


UNFINISHED = ("sweep.json.77", "scenario.toml.77", ".runs.parquet.77", ".link_series.parquet.77")


@pytest.mark.parametrize("earlier", [False, True])
def test_unfinished_files_of_a_killed_process_are_removed(small, tmp_path, monkeypatch, earlier):
    out = tmp_path / "out"
    (out / "parts" / "ab").mkdir(parents=True) if earlier else out.mkdir()
    if earlier:
        (out / "sweep.json").write_text(json.dumps({"format": "airpath sweep 1", "complete": False}))
        (out / "parts" / "ab" / "abc.arrow.77").write_text("")
    for name in UNFINISHED if earlier else UNFINISHED[:1]:
        (out / name).write_text("{")
    deadly = next(SweepPlan.load(small).runs()).task.key
    inline(monkeypatch, InlineEngine(deadly=lambda task: task.key == deadly))
    assert len(airpath.sweep(small, out).failures) == 1
    assert not list(out.rglob("*.77"))


def test_a_full_disk_leaves_no_unfinished_file(small, tmp_path, monkeypatch):
    def full(_descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    inline(monkeypatch, InlineEngine())
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(OutputError, match="No space left"):
            airpath.sweep(small, tmp_path / "out")
    assert [file.name for file in (tmp_path / "out").iterdir()] == [".lock"]
    assert airpath.sweep(small, tmp_path / "out").complete


def test_two_processes_do_not_work_in_one_directory(small, tmp_path, monkeypatch):
    class Busy(InlineEngine):
        def submit(self, task):
            with pytest.raises(OutputError, match="another process works"):
                airpath.sweep(small, tmp_path / "out")
            return super().submit(task)

    engine = inline(monkeypatch, Busy())
    airpath.sweep(small, tmp_path / "out")
    assert len(engine.tasks) == 16

"""`airpath rerun`: the same tables again, and its messages if they differ."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from airpath.rerun import kept as kept_runs
from airpath.runner import Interrupted

SHORT = ("--link", "2mbps", "--duration", "2s", "--reps", "2")
OWN = """
name = "own"
duration = "3s"
repetitions = 2
topology.kind = "dumbbell"
topology.bottleneck = { rate = { kind = "trace", file = "my.trace" }, delay = "10ms" }
flows = [{ name = "download", scheme = "cubic", start = { uniform = ["0s", "1s"] } }]
"""


def trace(milliseconds: int) -> str:
    return "".join(f"{time}\n" for time in range(milliseconds, 1000, milliseconds))


@pytest.fixture
def kept(airpath, folder) -> Path:
    (folder / "scenarios").mkdir()
    (folder / "scenarios" / "own.toml").write_text(OWN)
    (folder / "scenarios" / "my.trace").write_text(trace(5))
    changed = ("--set", "flows.0.scheme=newreno", "--seed", "7", "--capture", "bottleneck")
    assert airpath("run", "scenarios/own.toml", *changed, "--out", "kept").code == 0
    return folder / "kept"


def test_a_rerun_of_a_comparison_has_the_same_results(airpath, folder):
    assert airpath("compare", "newreno", "cubic:beta=0.6", *SHORT, "--out", "kept").code == 0
    done = airpath("rerun", "kept", "--jobs", "1")
    assert (done.code, done.err) == (0, "")
    assert "tables are byte-equal" in done.out
    for table in (folder / "kept").glob("*.parquet"):
        assert (folder / "kept-rerun" / table.name).read_bytes() == table.read_bytes()


def test_settings_seeds_and_traces_are_those_of_the_first_run(airpath, kept, folder):
    before = (kept / "summary.csv").read_bytes()
    done = airpath("rerun", "kept", "--out", "again", "--json")
    assert done.code == 0
    told = json.loads(done.out)
    assert told["same_values"] is True
    assert told["changed"] == []
    assert told["tables"]["captures/run-0001.pcapng"] == "equal"
    assert set(told["tables"].values()) == {"equal"}
    assert [run["seed"] for run in told["runs"]] == [7, 8]
    assert (folder / "again" / "summary.csv").read_bytes() == before
    # The same applies to results of a rerun.
    assert airpath("rerun", "again").code == 0


def test_runs_over_quic_are_rerun_over_quic(airpath):
    arguments = ("cubic", "newreno", *SHORT, "--world", "quic", "--out", "kept")
    assert airpath("compare", *arguments).code == 0
    done = airpath("rerun", "kept", "--json")
    assert done.code == 0
    assert set(json.loads(done.out)["schemes"]) == {"cubic over quinn", "newreno over quinn"}


def test_another_trace_version_and_plan_are_named(airpath, kept, folder):
    (folder / "scenarios" / "my.trace").write_text(trace(8))
    provenance = json.loads((kept / "provenance.json").read_text())
    provenance["versions"]["airpath"] = "0.0.1"
    (kept / "provenance.json").write_text(json.dumps(provenance))
    done = airpath("rerun", "kept", "--json")
    assert done.code == 1
    told = json.loads(done.out)
    assert told["same_values"] is False
    assert told["tables"]["summary.parquet"] == "differs"
    changed = {one["what"]: one for one in told["changed"]}
    assert changed["airpath"]["then"] == "0.0.1"
    assert {"airpath", "input my.trace"} <= set(changed)
    said = airpath("rerun", "kept")
    assert "input my.trace" in said.out
    assert "tables differ" in said.out


def test_other_bytes_of_the_same_table_are_distinguished_from_another_table(airpath, kept):
    table = pq.read_table(kept / "summary.parquet")
    pq.write_table(table, kept / "summary.parquet", compression="none")
    done = airpath("rerun", "kept", "--json")
    assert done.code == 0
    assert json.loads(done.out)["tables"]["summary.parquet"] == "same values"


def test_runs_in_real_time_are_not_expected_to_be_equal(airpath, kept, monkeypatch):
    """Without an emulator: the kept files name a real-time backend, and a simulation replaces the run."""
    monkeypatch.setattr(kept_runs.KeptRuns, "in_real_time", True)
    (kept / "summary.parquet").write_bytes((kept / "flows.parquet").read_bytes())
    done = airpath("rerun", "kept")
    assert done.code == 0
    assert "runs in real time are never identical" in done.out


def test_results_that_cannot_be_rerun_are_rejected(airpath, kept, folder):
    plans = json.loads((kept / "plan.json").read_text())
    for run in plans["runs"]:
        del run["scenario"]
    (kept / "plan.json").write_text(json.dumps(plans))
    (folder / "sweep").mkdir()
    (folder / "sweep" / "provenance.json").write_text('{"format": "airpath sweep 1"}')
    for arguments, said in [
        (["kept"], "does not contain the scenario"),
        (["nowhere"], "does not exist"),
        (["scenarios"], "no provenance.json"),
        (["sweep"], "contains a sweep"),
    ]:
        done = airpath("rerun", *arguments)
        assert (done.code, done.out) == (2, "")
        assert said in done.err
        assert len(done.err.splitlines()) == 1
    assert sorted(path.name for path in folder.iterdir()) == ["kept", "scenarios", "sweep"]


def test_a_missing_trace_and_the_same_folder_are_rejected(airpath, kept, folder):
    (folder / "link").symlink_to("kept")
    before = kept.stat().st_ino
    for results, out in [("kept", "kept"), ("kept", "scenarios/../kept"), ("link", "kept")]:
        done = airpath("rerun", results, "--out", out)
        assert done.code == 2
        assert "is the directory of the results" in done.err
    assert kept.stat().st_ino == before
    (folder / "scenarios" / "my.trace").unlink()
    done = airpath("rerun", "kept")
    assert done.code == 2
    assert "my.trace" in done.err
    assert not (folder / "kept-rerun").exists()


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"plans": [], "runs": [{}], "scenarios": []}', b"\xff"])
def test_corrupted_results_are_rejected(airpath, kept, content):
    (kept / "plan.json").write_bytes(content)
    done = airpath("rerun", "kept")
    assert done.code == 2
    assert "cannot read results from kept" in done.err


@pytest.mark.usefixtures("kept")
def test_an_interrupt_keeps_the_finished_runs(airpath, folder, monkeypatch):
    run = kept_runs.run_jobs

    def run_the_first(work, *rest):
        raise Interrupted(run(work[:1], *rest), len(work))

    monkeypatch.setattr(kept_runs, "run_jobs", run_the_first)
    done = airpath("rerun", "kept")
    assert done.code == 130
    assert "keeping the 1 of 2 runs" in done.err
    assert len(json.loads((folder / "kept-rerun" / "provenance.json").read_text())["runs"]) == 1

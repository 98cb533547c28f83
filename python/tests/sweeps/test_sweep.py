"""Sweeps: every run once, kept, found again; the data set depends on nothing but the plan."""

import json
import math
import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import psutil
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from held_sweep import HANG_S, HeldSweep, kept
from processes import is_alive
from sweep_engines import LONG, SCENARIO, SWEEP, InlineEngine, command, data_set, inline, written

import airpath
from airpath.errors import OutputError, UsageError
from airpath.metrics import METRICS
from airpath.sweeps import SweepPlan
from airpath.sweeps.engine import ResultLostError
from airpath.sweeps.folder import SweepFolder
from airpath.sweeps.part import PartStore
from airpath.sweeps.results import FORMAT, STATE
from airpath.sweeps.work import Progress, do_runs, missing_runs


def quiet(_share: float) -> None:
    return None


@pytest.fixture
def long(small):
    """Return the small sweep with runs that take longer."""
    return longer(small)


def longer(plan):
    scenario = plan.parent / "tiny.toml"
    scenario.write_text(scenario.read_text().replace('duration = "4s"', f'duration = "{LONG}"'))
    return plan


def done_here(plan):
    """Return the data set of a sweep whose runs are computed in this process, one at a time."""
    with pytest.MonkeyPatch.context() as patched:
        inline(patched, InlineEngine())
        return data_set(airpath.sweep(plan, plan.parent / "reference").directory)


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """Return the data set of the small sweep."""
    return done_here(written(tmp_path_factory.mktemp("small"), SWEEP))


@pytest.fixture(scope="module")
def long_reference(tmp_path_factory):
    """Return the data set of the long sweep."""
    return done_here(longer(written(tmp_path_factory.mktemp("long"), SWEEP)))


def test_the_data_set_equals_single_runs(small, tmp_path, monkeypatch):
    inline(monkeypatch, InlineEngine())
    swept = airpath.sweep(small, tmp_path / "out")
    assert swept.complete
    assert swept.failures == []
    runs = swept.runs
    assert runs.num_rows == 16
    assert runs["run"].to_pylist() == list(range(16))
    scenario = airpath.Scenario.load(tmp_path / "tiny.toml")
    for row in runs.slice(5, 4).to_pylist():
        changed = scenario.override(
            {
                "flows.0.scheme": row["scheme"],
                "topology.bottleneck.rate": f"{row['rate_bps'] / 1e6:g}mbps",
                "record.warm_up": f"{row['warm_up_s']:g}s",
            }
        )
        alone = airpath.run(changed, seed=row["seed"], repetitions=1).runs[0]
        assert {name: row[name] for name in METRICS} == pytest.approx(
            alone.metrics, rel=0, abs=0, nan_ok=True
        )
        for name in ("flows", "link_series"):
            mine = swept.dataset(name).to_table(filter=pc.field("run") == row["run"])
            theirs = alone.table(name)
            for column in set(theirs.column_names) - {"repetition"}:
                assert str(mine[column].to_pylist()) == str(theirs[column].to_pylist()), column


def test_statistics_and_comparisons_are_those_of_the_repetitions(small, tmp_path, monkeypatch):
    inline(monkeypatch, InlineEngine())
    swept = airpath.sweep(small, tmp_path / "out")
    rows = swept.statistics.to_pylist()
    assert len(rows) == 4 * 2 * len(METRICS)
    runs = swept.runs.to_pylist()
    chosen = next(row for row in rows if row["metric"] == "delay_mean_ms" and row["scheme"] == "cubic")
    values = [
        run["delay_mean_ms"]
        for run in runs
        if all(run[name] == chosen[name] for name in ("rate_bps", "warm_up_s", "scheme"))
    ]
    assert len(values) == chosen["n"] == 2
    assert chosen["mean"] == pytest.approx(sum(values) / 2)
    assert values[0] != values[1]
    compared = swept.compare("throughput_mbps")
    assert [(one.first, one.second, one.n) for _, one in compared] == [("newreno", "cubic", 2)] * 4
    means = {(row["rate_bps"], row["warm_up_s"], row["scheme"]): row["mean"] for row in rows if
             row["metric"] == "throughput_mbps"}  # fmt: skip
    for point, one in compared:
        key = (point["rate_bps"], point["warm_up_s"])
        assert one.difference == pytest.approx(means[*key, "newreno"] - means[*key, "cubic"])
    with pytest.raises(KeyError, match="throughput_mbps"):
        swept.compare("throughput")
    for alpha in (0, 1, 95, math.nan, "0.05"):
        with pytest.raises(UsageError, match=f"alpha: found {alpha!r}; accepted: between 0 and 1"):
            swept.compare("throughput_mbps", alpha=alpha)


def test_the_files_contain_their_provenance(small, tmp_path, monkeypatch):
    inline(monkeypatch, InlineEngine())
    out = airpath.sweep(small, tmp_path / "out").directory
    facts = json.loads((out / "provenance.json").read_text())
    inside = json.loads(pq.read_schema(out / "flows.parquet").metadata[b"airpath"])
    assert inside["sweep_sha256"] == facts["sha256"]["sweep"] == SweepPlan.load(small).digest
    assert inside["computed_by_sha256"] == facts["sha256"]["computed_by"]
    for name in ("runs", "flows", "statistics"):
        schema = pq.read_schema(out / f"{name}.parquet")
        units = [schema.field(column).metadata[b"unit"] for column in ("rate_bps", "warm_up_s", "scheme")]
        assert units == [b"bit/s", b"s", b""]
    plans = pq.read_table(out / "runs.parquet")["plan_sha256"].to_pylist()
    assert len(set(plans)) == 8  # two seeds share each
    assert not (out / "parts").exists()


@pytest.mark.processes
def test_neither_processes_nor_their_number_change_a_byte(small, tmp_path, reference):
    for jobs in (1, 3):
        out = airpath.sweep(small, tmp_path / str(jobs), jobs=jobs).directory
        assert data_set(out) == reference


@pytest.mark.processes
def test_a_killed_sweep_continues_where_it_stopped(small, tmp_path, reference):
    out = tmp_path / "killed"
    sweep = HeldSweep(3, out, small, "--jobs", 2, stderr=subprocess.DEVNULL)
    workers = psutil.Process(sweep.process.pid).children(recursive=True)
    sweep.kill()
    # Its workers end with it.
    _, alive = psutil.wait_procs(workers, timeout=HANG_S)
    assert not [process for process in alive if is_alive(process.pid)]
    keys = {file.stem for file in kept(out)}
    assert len(keys) == 3

    plan = SweepPlan.load(small)
    engine, progress = InlineEngine(), Progress(len(plan))
    store = PartStore(out / "parts")
    do_runs(missing_runs(plan, store, progress), engine, store, progress, quiet)
    done = {task.key for task in engine.tasks}
    assert len(done) == len(engine.tasks) == progress.done
    assert done.isdisjoint(keys)
    assert done | keys == {run.task.key for run in plan.runs()}
    assert progress.kept == len(keys)
    assert data_set(airpath.sweep(small, out).directory) == reference


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.processes
def test_ctrl_c_keeps_finished_runs(small, tmp_path, reference):
    out = tmp_path / "stopped"
    sweep = HeldSweep(2, out, small, "--jobs", 1, stderr=subprocess.PIPE, text=True)
    sweep.process.send_signal(signal.SIGINT)
    sweep.resume()
    _, said = sweep.process.communicate(timeout=HANG_S)
    assert sweep.process.returncode == 130
    assert "the same command resumes the sweep" in said
    assert 2 <= len(kept(out)) < 16
    assert data_set(airpath.sweep(small, out).directory) == reference


@pytest.mark.processes
def test_a_killed_worker_loses_no_run(long, tmp_path, long_reference):
    out = tmp_path / "out"
    sweep = HeldSweep(2, out, long, "--jobs", 2, stdout=subprocess.DEVNULL)
    pid = sweep.process.pid
    processes = psutil.Process(pid).children(recursive=True)
    deepest = [one for one in processes if not one.children() and one.ppid() != pid]
    assert deepest, "no worker process was found"
    deepest[-1].kill()
    sweep.resume()
    assert sweep.process.wait(timeout=HANG_S) == 0
    assert data_set(out) == long_reference


def test_a_run_that_kills_its_worker_is_identified_and_the_others_complete(small, tmp_path, monkeypatch):
    deadly = list(SweepPlan.load(small).runs())[6]
    engine = inline(monkeypatch, InlineEngine(deadly=lambda task: task.key == deadly.task.key))
    swept = airpath.sweep(small, tmp_path / "out")
    assert [(one["run"], one["seed"]) for one in swept.failures] == [(6, deadly.task.seed)]
    assert "its worker process died" in swept.failures[0]["message"]
    assert swept.runs["run"].to_pylist() == [number for number in range(16) if number != 6]
    assert len(engine.tasks) == 15
    # The next attempt runs this task only.
    engine = inline(monkeypatch, InlineEngine())
    assert airpath.sweep(small, tmp_path / "out").complete
    assert [task.key for task in engine.tasks] == [deadly.task.key]


def test_the_number_of_runs_in_memory_is_limited(small, tmp_path, monkeypatch):
    engine = inline(monkeypatch, InlineEngine(slots=2))
    airpath.sweep(small, tmp_path / "out")
    assert engine.most_pending == 2


def test_the_log_reports_progress(small, tmp_path, monkeypatch, capsys):
    inline(monkeypatch, InlineEngine())
    monkeypatch.setattr("airpath._os.progress.LINE_EVERY_S", 1e-6)
    airpath.sweep(small, tmp_path / "out")
    lines = capsys.readouterr().err.splitlines()
    said = re.compile(r"airpath: \d+ of 16 runs(, about 1 min left)?")
    assert len(lines) == 17
    assert all(said.fullmatch(line) for line in lines[:-1])
    assert lines[-1] == "airpath: 16 of 16 runs, after 1 min"


@pytest.mark.processes
def test_a_failing_run_is_reported_and_the_others_are_done(failing, tmp_path):
    out = tmp_path / "out"
    done = subprocess.run(
        command(failing, "--out", out, "--json"), capture_output=True, text=True, check=False, timeout=HANG_S
    )
    assert done.returncode == 1
    said = json.loads(done.stdout)
    assert not said["complete"]
    assert len(said["failures"]) == 8
    first = said["failures"][0]
    assert first["axes"] == {"rate": "2 Mbit/s", "warm_up": "3s", "duration": "2s"}
    assert (first["scheme"], first["seed"]) == ("newreno", 3)
    assert "must be shorter" in first["message"]
    assert "scheme newreno, rate = 2 Mbit/s, warm_up = 3s, duration = 2s, seed 3" in done.stderr
    assert "8 of 32 runs failed" in done.stderr
    assert pq.read_table(out / "runs.parquet").num_rows == 24


def test_numbers_do_not_break_in_narrow_tables(small, tmp_path):
    done = subprocess.run(
        command(small, "--out", tmp_path / "out"), capture_output=True, text=True, check=True, timeout=HANG_S
    )
    lines = done.stdout.splitlines()
    rows = [line for line in lines if "newreno" in line or "cubic" in line]
    assert len(rows) == 16, "eight variants, in two blocks"
    assert all("8 Mbit/s" in line or "2 Mbit/s" in line for line in rows), done.stdout
    assert max(map(len, lines)) <= 120
    assert "95 % confidence interval" in done.stdout


def test_a_complete_sweep_is_not_done_again(small, tmp_path, monkeypatch):
    inline(monkeypatch, InlineEngine())
    out = airpath.sweep(small, tmp_path / "out").directory
    before = {file.name: file.stat().st_mtime_ns for file in out.glob("*.parquet")}
    engine = inline(monkeypatch, InlineEngine())
    airpath.sweep(small, out)
    assert engine.tasks == []
    assert {file.name: file.stat().st_mtime_ns for file in out.glob("*.parquet")} == before
    small.write_text(small.read_text().replace("[3, 4]", "[3, 5]"))
    with pytest.raises(OutputError, match="contains another sweep"):
        airpath.sweep(small, out)


@pytest.mark.parametrize("content", [None, b"", b"half"])
def test_files_are_restored_from_the_tables(small, tmp_path, monkeypatch, content):
    inline(monkeypatch, InlineEngine())
    swept = airpath.sweep(small, tmp_path / "out")
    before = data_set(swept.directory)
    for name in ("statistics.parquet", "failures.json"):
        damage(swept.directory / name, content)
    if content is not None:
        with pytest.raises(OutputError, match=r"statistics\.parquet is damaged; the same sweep"):
            _ = swept.statistics
    with pytest.raises(OutputError, match=r"failures\.json is missing or damaged"):
        _ = airpath.SweepResults(swept.directory).failures
    airpath.sweep(small, swept.directory)
    assert data_set(swept.directory) == before


@pytest.mark.parametrize("content", [None, b"half"])
@pytest.mark.parametrize("name", ["runs", "flows"])
def test_a_missing_table_is_reported(small, tmp_path, monkeypatch, name, content):
    inline(monkeypatch, InlineEngine())
    file = airpath.sweep(small, tmp_path / "out").directory / f"{name}.parquet"
    damage(file, content)
    said = f"{name}.parquet is {'damaged' if content else 'missing'}; the sweep is complete.*: remove .*/out,"
    with pytest.raises(OutputError, match=said):
        airpath.sweep(small, tmp_path / "out")


def test_one_flipped_bit_in_a_table_is_detected(small, tmp_path, monkeypatch, flip):
    inline(monkeypatch, InlineEngine())
    swept = airpath.sweep(small, tmp_path / "out")
    flip(swept.directory / "statistics.parquet", "mean")
    flip(swept.directory / "runs.parquet", "goodput_mbps")
    for read in (
        lambda: swept.statistics,
        lambda: swept.runs,
        lambda: swept.compare("goodput_mbps"),
    ):
        with pytest.raises(OutputError, match=r"parquet is damaged; the same sweep"):
            read()
    with pytest.raises(OSError, match="CRC"):
        swept.dataset("runs").to_table()
    with pytest.raises(OutputError, match=r"runs\.parquet is damaged; the sweep is complete"):
        airpath.sweep(small, swept.directory)


def damage(file, content):
    file.unlink() if content is None else file.write_bytes(content)


def test_a_complete_sweep_is_not_returned_for_one_with_other_traces(tmp_path, monkeypatch):
    trace = tmp_path / "link.trace"
    trace.write_text("1\n2\n3\n")
    (tmp_path / "tiny.toml").write_text(
        SCENARIO.replace('rate = "5mbps"', 'rate = { kind = "trace", file = "link.trace" }')
    )
    plan = {"name": "traced", "scenario": str(tmp_path / "tiny.toml"), "keep": [], "seeds": [1]}
    engine = inline(monkeypatch, InlineEngine())
    airpath.sweep(plan, tmp_path / "out")
    airpath.sweep(plan, tmp_path / "out")
    assert len(engine.tasks) == 1
    trace.write_text("1\n1\n2\n3\n")
    with pytest.raises(OutputError, match="with other inputs"):
        airpath.sweep(plan, tmp_path / "out")


class EditingEngine(InlineEngine):
    """An engine that calls a function before its third run."""

    def __init__(self, edit) -> None:
        super().__init__()
        self.edit = edit

    def submit(self, task):
        if len(self.tasks) == 2:
            self.edit()
        return super().submit(task)


def test_a_trace_that_changes_during_the_runs_makes_no_mixed_data_set(tmp_path, monkeypatch):
    trace = tmp_path / "link.trace"
    trace.write_text("1\n2\n3\n")
    scenario = SCENARIO.replace('rate = "5mbps"', 'rate = { kind = "trace", file = "link.trace" }')
    (tmp_path / "tiny.toml").write_text(scenario)
    plan = {"name": "traced", "scenario": str(tmp_path / "tiny.toml"), "keep": [], "seeds": [1, 2, 3, 4]}
    inline(monkeypatch, EditingEngine(lambda: trace.write_text("1\n1\n2\n3\n")))
    with pytest.raises(OutputError, match="an input changed during the sweep"):
        airpath.sweep(plan, tmp_path / "out")
    inline(monkeypatch, InlineEngine())
    again = airpath.sweep(plan, tmp_path / "out")
    new = airpath.sweep(plan, tmp_path / "new")
    assert again.complete
    assert str(again.runs.to_pylist()) == str(new.runs.to_pylist())


def test_the_written_scenario_is_the_one_that_ran(small, tmp_path, monkeypatch):
    base = small.parent / "tiny.toml"
    before = base.read_text()
    inline(monkeypatch, EditingEngine(lambda: base.write_text(f"# edited\n{before}")))
    out = airpath.sweep(small, tmp_path / "out").directory
    assert (out / "scenario.toml").read_text() == before


def test_tables_of_an_earlier_format_are_removed_when_a_sweep_is_reused(small, tmp_path, monkeypatch):
    deadly = next(SweepPlan.load(small).runs()).task.key
    inline(monkeypatch, InlineEngine(deadly=lambda task: task.key == deadly))
    assert not airpath.sweep(small, tmp_path / "out").complete
    small.write_text(small.read_text().replace("seeds = [", "seeds = [77, "))

    def killed():
        raise KeyboardInterrupt

    inline(monkeypatch, EditingEngine(killed))
    with pytest.raises(KeyboardInterrupt):
        airpath.sweep(small, tmp_path / "out")
    assert not list((tmp_path / "out").glob("*.parquet"))


def test_runs_finished_meanwhile_by_another_process_are_not_counted(tmp_path, monkeypatch):
    folder = SweepFolder(tmp_path / "out")

    @contextmanager
    def finished_by_another(place, _refusal):
        place.mkdir()
        folder.write_json(STATE, {"format": FORMAT, "sweep_sha256": "of another", "complete": True})
        yield

    monkeypatch.setattr("airpath.sweeps.folder.locked", finished_by_another)
    with pytest.raises(OutputError, match="contains another sweep"), folder.opened({"sweep_sha256": "ours"}):
        pytest.fail("it was taken for ours")


class ForgetfulEngine(InlineEngine):
    """An engine that loses each result three times before it is fetched, and reports no progress."""

    def __init__(self) -> None:
        super().__init__(slots=1)
        self.lost = 0

    def result(self, pending):
        self.lost += 1
        if self.lost % 4:
            raise ResultLostError
        return super().result(pending)

    def stalled(self) -> str:
        return "nobody works"


def test_lost_results_are_waited_for_and_each_stall_is_reported_once(small, tmp_path, monkeypatch):
    monkeypatch.setattr("airpath.sweeps.work.ASK_EVERY_S", -1.0)
    plan = SweepPlan.load(small)
    store, engine, progress, said = PartStore(tmp_path), ForgetfulEngine(), Progress(len(plan)), []
    do_runs(missing_runs(plan, store, progress), engine, store, progress, quiet, said.append)
    assert progress.done == len(plan) == len(engine.tasks)
    assert engine.lost == 4 * len(plan)
    assert said == ["nobody works"] * len(plan)


def test_a_dry_run_lists_and_does_nothing(small, tmp_path):
    done = subprocess.run(
        command(small, "--dry-run"), capture_output=True, text=True, check=True, timeout=HANG_S, cwd=tmp_path
    )
    lines = done.stdout.splitlines()
    assert len(lines) == 16
    assert " ".join(lines[5].split()) == "5 newreno rate = 2 Mbit/s, warm_up = 3s seed 4"
    assert "16 runs: 2 values of rate, 2 values of warm_up, 2 schemes, 2 seeds" in done.stderr
    assert not (tmp_path / "out").exists()


def test_memory_does_not_grow_with_the_number_of_runs(tmp_path):
    """Keeping the tables of every run would take some 250 MiB more; rows that wait for their file take 4."""
    peaks = []
    for repetitions in (125, 375):
        folder = tmp_path / str(repetitions)
        folder.mkdir()
        script = [sys.executable, str(Path(__file__).with_name("peak_memory.py"))]
        done = subprocess.run(
            [*script, str(folder), str(repetitions)],
            capture_output=True,
            text=True,
            check=True,
            timeout=HANG_S,
            # What Arrow's own pool keeps allocated differs by 6 MiB with the state of the machine.
            env={**os.environ, "ARROW_DEFAULT_MEMORY_POOL": "system"},
        )
        peaks.append(int(done.stdout) / 1024)
    assert peaks[1] - peaks[0] < 8, f"MiB with 1000 and 3000 runs: {peaks}"

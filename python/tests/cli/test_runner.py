"""The runner: order, seeds, determinism, interruption."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import airpath
from airpath._run import workers
from airpath.errors import ScenarioError, TraceError, UsageError
from airpath.results import Origin, Results, write

SCENARIO = {
    "name": "busy",
    "duration": "5s",
    "topology": {
        "kind": "dumbbell",
        "bottleneck": {
            "rate": {"kind": "uniform", "low": "1mbps", "high": "8mbps", "hold": "500ms"},
            "delay": {"uniform": ["5ms", "20ms"]},
            "loss": 0.002,
            "queue": {"kind": "drop-tail", "limit": "30kB"},
        },
    },
    "flows": [
        {"name": "long", "scheme": "cubic", "count": 2, "start": {"uniform": ["0ms", "300ms"]}},
        {
            "name": "short",
            "scheme": "newreno",
            "traffic": {"kind": "arrivals", "size": {"exponential": "20kB"}, "mean_interval": "200ms"},
        },
    ],
}


@pytest.mark.processes
def test_the_number_of_workers_changes_no_byte(tmp_path: Path):
    scenario = airpath.Scenario.from_dict(SCENARIO)
    origin = Origin(created="2026-01-01T00:00:00+00:00")
    for jobs in (1, 4):
        results = airpath.run(scenario, repetitions=6, jobs=jobs)
        write(results, tmp_path / str(jobs), scenario_text="", origin=origin)
    one, four = (sorted((tmp_path / jobs).glob("*.parquet")) for jobs in ("1", "4"))
    assert [file.name for file in one] == [file.name for file in four]
    assert len(one) > 5
    for mine, other in zip(one, four, strict=True):
        assert mine.read_bytes() == other.read_bytes(), mine.name


def test_repetitions_differ_and_each_depends_on_its_seed():
    scenario = airpath.Scenario.from_dict(SCENARIO)
    results = airpath.run(scenario, seed=10, repetitions=3)
    assert [(run.record.repetition, run.record.seed) for run in results.runs] == [(0, 10), (1, 11), (2, 12)]
    alone = airpath.run(scenario, seed=12, repetitions=1)
    assert alone.runs[0].metrics == pytest.approx(results.runs[2].metrics, rel=0, abs=0, nan_ok=True)
    assert results.runs[0].metrics["throughput_mbps"] != results.runs[1].metrics["throughput_mbps"]


def test_flows_are_labelled():
    results = airpath.run(airpath.Scenario.from_dict(SCENARIO))
    assert results.schemes == ("cubic+newreno",)
    rows = results.flows.to_pandas()
    assert set(zip(rows["group"], rows["flow_scheme"], strict=True)) == {
        ("long", "cubic"),
        ("short", "newreno"),
    }


def test_compare_pairs_repetitions():
    results = airpath.compare(["newreno", "cubic:beta=0.8"], "2mbps", duration="2s", repetitions=2, seed=5)
    assert [(run.record.scheme, run.record.seed) for run in results.runs] == [
        ("newreno", 5),
        ("newreno", 6),
        ("cubic:beta=0.8", 5),
        ("cubic:beta=0.8", 6),
    ]
    assert set(results.flows["flow_scheme"].to_pylist()) == {"newreno", "cubic:beta=0.8"}


def test_results_are_tables():
    results = airpath.run("lte-download", repetitions=1)
    assert isinstance(results, Results)
    assert isinstance(results.summary, pa.Table)
    assert results.to_pandas("link_series")["time_s"].max() == 60


@pytest.mark.parametrize(
    "wrong", [{"repetitions": 0}, {"jobs": 0}, {"seed": -1}, {"seed": 2**64 - 1, "repetitions": 2}]
)
def test_wrong_arguments(wrong):
    with pytest.raises(UsageError, match="accepted"):
        airpath.run(airpath.Scenario.from_dict(SCENARIO), **wrong)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"world": "x"}, "world: found 'x'; accepted: sim, quic, emulate"),
        ({"seed": "1"}, "seed: found '1'; accepted: 0 or more, a whole number"),
        ({"seed": -1}, "seed: found -1; accepted: 0 "),
        ({"repetitions": "2"}, "repetitions: found '2'; accepted: 1 or more, a whole number"),
        ({"repetitions": 1.5}, r"repetitions: found 1\.5; accepted: 1 or more"),
        ({"jobs": "2"}, "jobs: found '2'; accepted: 1 or more"),
        ({"jobs": "2", "world": "emulate"}, "jobs: found '2'; accepted: 1 or more"),
    ],
)
def test_invalid_numbers_and_backends_are_reported(wrong, said):
    with pytest.raises(UsageError, match=said):
        airpath.run("two-way", **wrong)


def test_a_single_scheme_must_be_in_a_list():
    with pytest.raises(UsageError, match=r'schemes: found "cubic"; accepted: a list .* \["cubic"\]'):
        airpath.compare("cubic", "lte.down")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"buffer": "10cm"}, 'buffer: found "10cm"; accepted: a buffer'),
        ({"flows": 0}, "flows: found 0; accepted: at least 1"),
        ({"warm_up": "x"}, 'warm_up: found "x"; accepted: a duration'),
        ({"schemes": ["cubic:beta=9"]}, r"schemes: beta: found 9; accepted: less than 1 \(scheme"),
    ],
)
def test_invalid_comparisons_name_the_argument(wrong, said):
    with pytest.raises(ScenarioError, match=f"^{said}"):
        airpath.compare(**{"schemes": ["cubic"], "link": "12mbps"} | wrong)


def test_an_invalid_trace_names_the_link(tmp_path):
    file = tmp_path / "no trace"
    file.write_text('rate = "12mbps"\n')
    with pytest.raises(TraceError) as refused:
        airpath.compare(["cubic"], str(file))
    assert str(refused.value).startswith(f'link: {file}: line 1: found `rate = "12mbps"`; accepted: ')


def test_all_runs_together_must_fit_into_memory(monkeypatch):
    monkeypatch.setattr("airpath.runner.available_memory", lambda: 10_000_000)
    with pytest.raises(ScenarioError, match="fewer repetitions"):
        airpath.run(airpath.Scenario.from_dict(SCENARIO), repetitions=100_000)


@pytest.mark.processes
def test_a_failure_stops_the_other_runs(monkeypatch):
    def broken(**_facts):
        raise RuntimeError("broken")

    monkeypatch.setattr(workers, "RunRecord", broken)
    with pytest.raises(RuntimeError, match="broken"):
        airpath.run(airpath.Scenario.from_dict(SCENARIO), repetitions=1000, jobs=2)


@pytest.mark.processes
def test_an_interrupt_keeps_the_finished_runs(monkeypatch):
    interrupt_after(3, monkeypatch.setattr)
    with pytest.raises(airpath.Interrupted) as raised:
        airpath.run(airpath.Scenario.from_dict(SCENARIO), repetitions=1000, jobs=1)
    results = raised.value.results
    assert 3 <= len(results.runs) < 1000
    assert [run.record.repetition for run in results.runs] == list(range(len(results.runs)))


@pytest.mark.processes
def test_an_interrupt_within_a_finalizer_is_not_lost(monkeypatch):
    class Finalized:
        def __del__(self):
            signal.raise_signal(signal.SIGINT)  # an exception raised here would be printed and ignored

    wait = workers.wait

    def wait_after_a_finalizer(*given, **named):
        monkeypatch.setattr(workers, "wait", wait)
        Finalized()
        return wait(*given, **named)

    monkeypatch.setattr(workers, "wait", wait_after_a_finalizer)
    with pytest.raises(airpath.Interrupted):
        airpath.run(airpath.Scenario.from_dict(SCENARIO), repetitions=1000, jobs=1)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.processes
def test_the_command_keeps_the_finished_runs(tmp_path: Path):
    here = str(Path(__file__).parent)
    script = f"import sys; sys.path.insert(0, {here!r}); import test_runner; test_runner.interrupted()"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 130, done.stderr
    assert done.stderr.splitlines()[-1] == "airpath: interrupted"
    assert "stopped: keeping the" in done.stderr
    kept = pq.read_table(tmp_path / "out" / "lte-download" / "summary.parquet")["repetition"].to_pylist()
    assert 3 <= len(kept) < 1000
    assert kept == list(range(len(kept)))
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["latest", "lte-download"]


def interrupted():
    """Run a long command that gets a signal as from Ctrl-C, in the process of the test above."""
    from airpath.cli import main

    interrupt_after(3, setattr)
    main(["run", "lte-download", "--reps", "1000", "--jobs", "1"])


def interrupt_after(runs, set_attribute):
    """Send this process the signal of Ctrl-C when this number of runs is finished."""
    finished = []
    record = workers.RunRecord

    def counted(**facts):
        finished.append(1)
        if len(finished) == runs + 1:
            os.kill(os.getpid(), signal.SIGINT)
        return record(**facts)

    set_attribute(workers, "RunRecord", counted)

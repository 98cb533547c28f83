"""Runs in processes of their own."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from compiled import compiled, endless, with_compiler
from held_sweep import HANG_S
from processes import is_alive

import airpath
from airpath._run import workers
from airpath._run.isolation import IsolatedCall
from airpath._run.stall import Stall
from airpath.checks import Suite, check
from airpath.plugins.specs import allow
from airpath.plugins.templates import c_start
from airpath.rivals import rivals
from airpath.runner import RunsFailed

CRASH = """
import ctypes

import airpath


class Crash(airpath.Controller):
    '''Adds 100 bytes for each acknowledgment.'''

    crashes: bool = False
    seen = 0

    def on_ack(self, ack):
        self.window += 100
        self.seen += 1
        if self.seen == 100 and self.crashes:
            ctypes.string_at(0)

    def on_congestion(self, signal):
        self.window /= 2
"""
LINK = {"duration": "3s", "repetitions": 2, "progress": False}

pytestmark = [pytest.mark.processes, pytest.mark.usefixtures("_crash")]


@pytest.fixture
def _crash(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "crash.py").write_text(CRASH)


def test_processes_change_no_table(monkeypatch):
    def tables():
        results = airpath.compare(["crash.py:Crash"], "12mbps", jobs=2, **LINK)
        return {name: repr(results.table(name).to_pydict()) for name in ("flows", "links", "flow_series")}

    processes = []

    class Counted(IsolatedCall):
        def result(self):
            processes.append(self)
            return super().result()

    monkeypatch.setattr(workers, "IsolatedCall", Counted)
    threads = tables()
    assert not processes
    monkeypatch.setattr(workers, "_LONG_PACKETS", 0)
    assert tables() == threads
    assert len(processes) == LINK["repetitions"]


def test_a_crash_ends_its_run_only():
    schemes = ["cubic", "crash.py:Crash:crashes=true"]
    line = r"^crash\.py:17: the process ended with signal SIGSEGV \(Crash:crashes=true, seed 1\)$"
    with pytest.raises(RunsFailed, match=re.compile(line, re.MULTILINE)) as failed:
        airpath.compare(schemes, "12mbps", isolate=True, **LINK)
    assert [run.record.scheme for run in failed.value.results.runs] == ["cubic", "cubic"]


def test_more_runs_than_descriptors():
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    largest, spare = max(int(one.name) for one in Path("/dev/fd").iterdir()), 40
    resource.setrlimit(resource.RLIMIT_NOFILE, (largest + spare, limits[1]))
    try:
        link = {**LINK, "duration": "1s", "repetitions": spare}
        results = airpath.compare(["crash.py:Crash"], "1mbps", jobs=1, isolate=True, **link)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert len(results.runs) == spare


@with_compiler
def test_libraries_that_end_the_process_are_named(tmp_path):
    (text,) = c_start("crash", "queue").files.values()
    (tmp_path / "queue.c").write_text(
        text.replace("\tstruct queue *self = instance;", "\tstruct queue *self = instance;\n\n\tabort();", 1)
    )
    library = compiled("crash.so", "queue.c")
    line = "crash.so: the process ended with signal SIGABRT"
    with pytest.raises(RunsFailed) as failed:
        rivals(["newreno"], "12mbps", queue=library, isolate=True, warm_up="0s", duration="3s")
    assert str(failed.value) == f"{line} (newreno+newreno, seed 1)"
    allow([library])
    case = {"scheme": "newreno", "link": "12mbps", "duration": "3s", "repetitions": 1}
    cases = [{"name": "own", "queue": library, **case}, {"name": "plain", **case}]
    suite = {"name": "own", "expect": {"utilisation": {"at_least": 0.1}}, "cases": cases}
    checked = check(Suite.from_dict(suite), isolate=True)
    assert [judged.remark for case in checked.cases for judged in case.judged] == [
        f"{line} (newreno, seed 1)",
        "",
    ]
    assert [case.passed for case in checked.cases] == [False, True]


@with_compiler
def test_a_library_that_does_not_return_ends_its_run_only(monkeypatch):
    monkeypatch.setattr("airpath._run.stall.PATIENCE_S", 0.5)
    with pytest.raises(RunsFailed) as failed:
        airpath.compare(["newreno", endless()], "12mbps", isolate=True, **LINK)
    assert failed.value.failures == tuple(
        f"endless.so: ended, because simulated time did not advance for 0.5 s (Endless, seed {seed})"
        for seed in (1, 2)
    )
    assert [run.record.scheme for run in failed.value.results.runs] == ["newreno", "newreno"]


def test_a_pause_of_the_process_is_no_stall(monkeypatch):
    now_s = 100.0
    monkeypatch.setattr("airpath._run.stall.time.monotonic", lambda: now_s)
    monkeypatch.setattr("airpath._run.stall.PATIENCE_S", 3.0)
    stall = Stall()
    assert not stall.is_over(0.1)
    now_s += 1000.0
    assert not stall.is_over(0.1)
    now_s += 1.0
    assert not stall.is_over(0.1)
    assert not stall.is_over(0.2)
    for _ in range(6):
        assert not stall.is_over(0.2)
        now_s += 0.5
    assert stall.is_over(0.2)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no process groups")
def test_an_interrupt_ends_the_processes():
    command = [sys.executable, "-m", "airpath", "compare", "crash.py:Crash", "cubic", "--isolate"]
    long = ["--link", "100mbps", "--duration", "20000s", "--reps", "1", "--no-report"]
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([*command, *long], start_new_session=True, **streams) as process:
        hangs_at_s = time.monotonic() + HANG_S
        # The resource tracker, the server from which workers are forked, and a worker.
        while len(psutil.Process(process.pid).children(recursive=True)) < 3:
            assert time.monotonic() < hangs_at_s
            time.sleep(0.05)
        started = psutil.Process(process.pid).children(recursive=True)
        os.killpg(process.pid, signal.SIGINT)
        _, told = process.communicate(timeout=HANG_S)
    _, alive = psutil.wait_procs(started, timeout=HANG_S)
    assert not [one for one in alive if is_alive(one.pid)]
    assert process.returncode == 130, told
    assert "Traceback" not in told

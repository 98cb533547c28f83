"""Runs in processes of their own."""

import os
import signal
import subprocess
import sys
import time

import psutil
import pytest
from held_sweep import HANG_S
from processes import is_alive

import airpath
from airpath._run import workers
from airpath._run.isolation import IsolatedCall
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
    with pytest.raises(RunsFailed, match=r"ended with signal SIGSEGV \(Crash:crashes=true, seed 1") as failed:
        airpath.compare(schemes, "12mbps", isolate=True, **LINK)
    assert [run.record.scheme for run in failed.value.results.runs] == ["cubic", "cubic"]


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

"""Worker processes of this machine."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import Connection

import psutil
import pytest
from held_sweep import HANG_S, HeldSweep

from airpath._os.processes import WorkerPool, tunables

pytestmark = pytest.mark.processes

TUNABLES = "GLIBC_TUNABLES"


@pytest.mark.skipif(sys.platform == "win32", reason="workers are not forked there")
def test_only_workers_request_large_pages_and_keep_memory(monkeypatch):
    for given in (None, "glibc.malloc.arena_max=1"):
        if given is not None:
            monkeypatch.setenv(TUNABLES, given)
        with WorkerPool(1) as pool:
            # The environment of the process from which it was forked, which may be that of an earlier test.
            theirs = pool.submit(os.getenv, TUNABLES).result(timeout=HANG_S)
        assert "glibc.malloc.hugetlb=1" in theirs
        assert "glibc.malloc.mmap_threshold=33554432" in theirs
        assert os.environ.get(TUNABLES) == given


OURS = (
    "glibc.malloc.hugetlb=1",
    "glibc.malloc.mmap_threshold=33554432",
    "glibc.malloc.trim_threshold=4294967296",
)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (None, OURS),
        ("", OURS),
        ("glibc.malloc.arena_max=1", ("glibc.malloc.arena_max=1", *OURS)),
        ("glibc.malloc.hugetlb=2", ("glibc.malloc.hugetlb=2", *OURS[1:])),
        ("glibc.malloc.hugetlb_other=2", ("glibc.malloc.hugetlb_other=2", *OURS)),
    ],
)
def test_requests_to_the_c_library_keep_the_users_settings(given, wanted):
    assert tunables(given) == ":".join(wanted)


@pytest.mark.skipif(sys.platform == "win32", reason="workers are not forked there")
def test_workers_import_pandas_for_code_of_the_user_only():
    with WorkerPool(1) as pool:
        is_loaded, name = (
            pool.submit(eval, expression).result(timeout=HANG_S)
            for expression in ("'pandas' in __import__('sys').modules", "__import__('pandas').__name__")
        )
    assert (is_loaded, name) == (False, "pandas")


def test_workers_execute_their_tasks():
    with WorkerPool(2) as pool:
        calls = [pool.submit(abs, -number) for number in range(5)]
        assert [call.result(timeout=HANG_S) for call in calls] == list(range(5))


@pytest.mark.skipif(sys.platform == "win32", reason="there are no process groups")
@pytest.mark.parametrize("started", [0, 2, 4])
def test_ctrl_c_while_workers_start_is_reported_in_one_line(started, tmp_path):
    """The sweep starts a resource tracker, a server that forks workers, and two workers."""
    # Paused before any run is kept, so that it cannot end before Ctrl-C.
    streams = {"stderr": subprocess.PIPE, "text": True, "start_new_session": True}
    sweep = HeldSweep(0, tmp_path / "out", "lte-buffers", "--jobs", "2", **streams)
    process = sweep.process
    # An empty line means that the process has ended; its output is checked below.
    while (line := process.stderr.readline()) and "runs" not in line:
        pass
    hangs_at_s = time.monotonic() + HANG_S
    while len(psutil.Process(process.pid).children(recursive=True)) < started:
        assert time.monotonic() < hangs_at_s
        time.sleep(0.05)
    # Ctrl-C in a terminal goes to all processes of the group.
    os.killpg(process.pid, signal.SIGINT)
    sweep.resume()
    said = line + process.communicate(timeout=HANG_S)[1]
    assert process.returncode == 130, said
    assert "Traceback" not in said
    assert "interrupted" in said


def dies_while_it_answers() -> bytes:
    """Return 256 MB, of which this process writes 8 MB before it is killed."""
    send_all = Connection._send

    def send_a_part(self: Connection, content: bytes) -> None:
        send_all(self, content[: 8 << 20])
        if len(content) > 8 << 20:
            os.kill(os.getpid(), signal.SIGKILL)

    Connection._send = send_a_part
    return bytes(256 << 20)


@pytest.mark.skipif(sys.platform == "win32", reason="processes cannot be killed there")
def test_a_worker_that_is_killed_while_it_writes_its_result_breaks_the_pool(monkeypatch):
    close = Connection._close
    with WorkerPool(2) as pool:
        pipe = pool._pool._result_queue._writer

        def close_slowly(self: Connection) -> None:
            close(self)
            if self is pipe:
                time.sleep(0.5)  # no other thread must close it meanwhile

        monkeypatch.setattr(Connection, "_close", close_slowly)
        dies, other = pool.submit(dies_while_it_answers), pool.submit(abs, -1)
        assert other.result(timeout=HANG_S) == 1
        assert isinstance(dies.exception(timeout=HANG_S), BrokenProcessPool)
        pool.restart()
        assert pool.submit(abs, -1).result(timeout=HANG_S) == 1

"""Worker processes of this machine."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pytest

from airpath.processes import WorkerPool, tunables

TUNABLES = "GLIBC_TUNABLES"


@pytest.mark.skipif(sys.platform == "win32", reason="workers are not forked there")
def test_workers_ask_for_large_pages_and_keep_memory_and_nobody_else_does(monkeypatch):
    for given in (None, "glibc.malloc.arena_max=1"):
        if given is not None:
            monkeypatch.setenv(TUNABLES, given)
        with WorkerPool(1) as pool:
            # Of the process from which it was forked, which may be that of an earlier test.
            theirs = pool.submit(os.getenv, TUNABLES).result(timeout=240)
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
def test_what_is_asked_of_the_c_library_leaves_what_the_user_asked(given, wanted):
    assert tunables(given) == ":".join(wanted)


def test_workers_do_what_they_are_told():
    with WorkerPool(2) as pool:
        calls = [pool.submit(abs, -number) for number in range(5)]
        assert [call.result(timeout=240) for call in calls] == list(range(5))


@pytest.mark.skipif(sys.platform == "win32", reason="there are no process groups")
@pytest.mark.parametrize("after_s", [0.1, 0.4, 0.8])
def test_ctrl_c_while_workers_start_is_told_in_one_line(after_s, tmp_path):
    command = [
        sys.executable,
        "-m",
        "airpath",
        "sweep",
        "lte-buffers",
        "--jobs",
        "2",
        "--out",
        str(tmp_path / "out"),
    ]
    # A terminal's Ctrl-C is for all processes of the group.
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        assert process.stderr is not None
        # Nothing more to read: it has ended, and what it said is below.
        while (line := process.stderr.readline()) and "runs" not in line:
            pass
        time.sleep(after_s)
        os.killpg(process.pid, signal.SIGINT)
        said = line + process.stderr.read()
    assert process.returncode == 130, said
    assert "Traceback" not in said
    assert "interrupted" in said


def much(told: Path) -> bytes:
    """Say which process this is, and give 256 MB."""
    told.write_text(str(os.getpid()))
    return bytes(256 << 20)


def read_so_far() -> int:
    """Return how many bytes this process has read."""
    said = dict(line.split(": ") for line in Path("/proc/self/io").read_text().splitlines())
    return int(said["rchar"])


@pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="nothing says here how much was read")
def test_a_worker_that_is_killed_while_it_writes_its_result_breaks_the_pool(tmp_path):
    told = tmp_path / "pid"
    with WorkerPool(2) as pool:
        before = read_so_far()
        dies, other = pool.submit(much, told), pool.submit(abs, -1)
        assert other.result(timeout=240) == 1
        while read_so_far() < before + (8 << 20):
            time.sleep(1e-4)
        os.kill(int(told.read_text()), signal.SIGKILL)
        assert isinstance(dies.exception(timeout=240), BrokenProcessPool)
        pool.restart()
        assert pool.submit(abs, -1).result(timeout=240) == 1

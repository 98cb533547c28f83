"""Sweeps on clusters of this machine: other processes, reached over TCP, give the same bytes."""

import importlib.util
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from sweep_engines import FAILING, data_set, written
from waiting import command, wait_for_parts

import airpath
from airpath.errors import AirpathError

needs_dask = pytest.mark.skipif(importlib.util.find_spec("distributed") is None, reason="needs distributed")
needs_ray = pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="needs ray")


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@pytest.fixture
def dask(tmp_path):
    """Return the address of a scheduler with two workers, and the workers; killed at the end."""
    port, started = free_port(), []
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": tmp_path}

    def start(*arguments: str) -> "subprocess.Popen[bytes]":
        started.append(subprocess.Popen([sys.executable, "-m", "dask", *arguments], **quiet))
        return started[-1]

    start("scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard")
    worker = ("worker", f"tcp://127.0.0.1:{port}", "--nthreads", "1", "--no-nanny", "--no-dashboard")
    workers = [start(*worker, "--name", name) for name in ("one", "two")]
    try:
        wait_for_workers(port, len(workers))
        yield f"dask://127.0.0.1:{port}", workers
    finally:
        for process in started:
            process.kill()
            process.wait()


def wait_for_workers(port: int, count: int) -> None:
    script = (
        "import sys, distributed\n"
        f"client = distributed.Client('tcp://127.0.0.1:{port}', timeout=60)\n"
        f"client.wait_for_workers({count}, timeout=60)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)


@needs_dask
def test_a_dask_cluster_of_which_a_worker_is_killed(tmp_path, dask):
    address, workers = dask
    plan = written(tmp_path, FAILING)
    out = tmp_path / "dask"
    child = subprocess.Popen(
        command(plan, "--out", out, "--engine", address), stderr=subprocess.PIPE, text=True
    )
    wait_for_parts(out, 3)
    os.kill(workers[0].pid, signal.SIGKILL)
    assert len(list(out.glob("parts/*/*.arrow"))) < 24, "all was done before the kill"
    _, said = child.communicate(timeout=120)
    assert child.returncode == 1, said
    assert "8 of 32 runs failed" in said
    local = airpath.sweep(plan, tmp_path / "local", jobs=1)
    assert len(local.failures) == 8
    assert data_set(out) == data_set(local.directory)


@needs_dask
def test_a_cluster_that_is_not_there_is_said(small, tmp_path):
    done = subprocess.run(
        command(small, "--out", tmp_path / "out", "--engine", f"dask://127.0.0.1:{free_port()}"),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 1
    assert "airpath: engine: no Dask scheduler answers at 127.0.0.1:" in done.stderr


def test_a_library_that_is_missing_is_said(small, tmp_path, monkeypatch):
    for library, engine in (("distributed", "dask://127.0.0.1:1"), ("ray", "ray")):
        monkeypatch.setitem(sys.modules, library, None)
        with pytest.raises(AirpathError, match=f'needs the library "{library}"'):
            airpath.sweep(small, tmp_path / library, engine=engine)


@needs_ray
def test_ray(small, tmp_path):
    out = tmp_path / "ray"
    subprocess.run(
        command(small, "--out", out, "--engine", "ray", "--jobs", 2),
        check=True,
        timeout=240,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    local = airpath.sweep(Path(small), tmp_path / "local", jobs=1)
    assert data_set(out) == data_set(local.directory)

"""Sweeps on clusters of this machine: other processes, reached over TCP, return the same bytes."""

import contextlib
import importlib.util
import re
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest
from held_sweep import HANG_S, HeldSweep, kept
from sweep_engines import FAILING, LONG, command, data_set, written

import airpath
from airpath.errors import AirpathError, UsageError

pytestmark = pytest.mark.processes

needs_dask = pytest.mark.skipif(importlib.util.find_spec("distributed") is None, reason="needs distributed")
needs_ray = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason="needs ray (make test-ray installs it)"
)


LONG_FAILING = FAILING.replace('"4s"', f'"{LONG}"')


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> airpath.SweepResults:
    """Return the results of the sweep of the cluster tests, run without a cluster."""
    folder = tmp_path_factory.mktemp("local")
    return airpath.sweep(written(folder, LONG_FAILING), folder / "local", jobs=1)


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@dataclass
class DaskCluster:
    address: str
    scheduler: "subprocess.Popen[bytes]"
    workers: "list[subprocess.Popen[bytes]]"
    start_worker: "Callable[[str], subprocess.Popen[bytes]]"


@pytest.fixture
def dask(tmp_path):
    """Return a scheduler with two workers; killed at the end."""
    # The scheduler chooses its port and writes it to the file, for which the other processes wait.
    file, started = str(tmp_path / "scheduler.json"), []
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": tmp_path}

    def start(*arguments: str) -> "subprocess.Popen[bytes]":
        started.append(subprocess.Popen([sys.executable, "-m", "dask", *arguments], **quiet))
        return started[-1]

    def start_worker(name: str) -> "subprocess.Popen[bytes]":
        one = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--name", name)
        return start("worker", "--scheduler-file", file, *one)

    listening = ("--host", "127.0.0.1", "--port", "0", "--scheduler-file", file)
    scheduler = start("scheduler", *listening, "--no-dashboard")
    workers = [start_worker(name) for name in ("one", "two")]
    try:
        address = address_with_workers(file, len(workers)).replace("tcp://", "dask://")
        yield DaskCluster(address, scheduler, workers, start_worker)
    finally:
        for process in started:
            process.kill()
            process.wait()


def address_with_workers(file: str, count: int) -> str:
    """Return the address of a scheduler when this number of workers has joined it."""
    script = (
        "import distributed\n"
        f"client = distributed.Client(scheduler_file={file!r}, timeout={HANG_S})\n"
        f"client.wait_for_workers({count}, timeout={HANG_S})\n"
        "print(client.scheduler.address)\n"
    )
    asked = [sys.executable, "-c", script]
    return subprocess.run(asked, check=True, timeout=HANG_S, stdout=subprocess.PIPE, text=True).stdout.strip()


@needs_dask
def test_a_dask_cluster_of_which_a_worker_is_killed(tmp_path, dask, local):
    plan = written(tmp_path, LONG_FAILING)
    out = tmp_path / "dask"
    sweep = held(plan, out, dask.address)
    dask.workers[0].kill()
    assert_equals_local_sweep(sweep, out, local)


def held(plan: Path, out: Path, engine: str) -> HeldSweep:
    """Start a sweep on a cluster; it pauses when three of its runs are kept."""
    return HeldSweep(3, out, plan, "--engine", engine, stderr=subprocess.PIPE, text=True)


def assert_equals_local_sweep(sweep: HeldSweep, out: Path, local: airpath.SweepResults) -> None:
    """Check that every run is there once, byte for byte; failures name scenario, scheme, values and seed."""
    sweep.resume()
    _, said = sweep.process.communicate(timeout=HANG_S)
    assert sweep.process.returncode == 1, said
    assert "8 of 32 runs failed" in said
    assert len(local.failures) == 8
    for failure in local.failures:
        assert f"run {failure['run']} failed (scheme {failure['scheme']}, rate = " in said
        assert f"seed {failure['seed']})" in said
    assert said.count(" failed (scheme ") == 8
    assert data_set(out) == data_set(local.directory)


@pytest.fixture
def _one_attempt(monkeypatch):
    monkeypatch.setenv("DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES", "0")


@needs_dask
@pytest.mark.usefixtures("_one_attempt")
def test_a_run_that_ends_its_worker_in_every_attempt_of_a_dask_cluster_fails(tmp_path, dask):
    text = "import os, airpath\nclass Ends(airpath.Controller):\n    def on_ack(self, ack): os._exit(1)\n"
    (tmp_path / "ends.py").write_text(text + "    def on_congestion(self, signal): pass\n")
    written(tmp_path, "")
    plan = tmp_path / "ends.toml"
    plan.write_text('name = "ends"\nscenario = "tiny.toml"\nschemes = ["ends.py:Ends"]\nseeds = [1]\n')
    out = tmp_path / "out"
    arguments = command(plan, "--engine", dask.address, "--out", out, "--allow-code")
    done = subprocess.run(arguments, cwd=tmp_path, timeout=HANG_S, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1, done.stderr
    assert (
        "its worker died again and again (crash or endless loop of ends.py, killed, or out of memory)"
        in done.stderr
    )


@needs_dask
def test_a_dask_cluster_without_workers_is_reported_and_waited_for(tmp_path, dask, local):
    plan = written(tmp_path, LONG_FAILING)
    out = tmp_path / "dask"
    sweep = held(plan, out, dask.address)
    for worker in dask.workers:
        worker.kill()
    sweep.resume()
    stderr = sweep.process.stderr
    patience = threading.Timer(HANG_S, sweep.process.kill)
    patience.start()
    assert "runs" in stderr.readline(), "first, how many runs there are"
    lines = [stderr.readline()]
    while is_progress_line(lines[-1]):
        lines.append(stderr.readline())
    patience.cancel()
    assert "has no workers now; the sweep goes on when some come" in lines[-1], lines
    dask.start_worker("three")
    assert_equals_local_sweep(sweep, out, local)


@needs_dask
def test_a_dask_cluster_whose_scheduler_is_killed(tmp_path, dask, local):
    plan = written(tmp_path, LONG_FAILING)
    out = tmp_path / "dask"
    sweep = held(plan, out, dask.address)
    dask.scheduler.kill()
    sweep.resume()
    _, said = sweep.process.communicate(timeout=HANG_S)
    assert sweep.process.returncode == 1
    # Workers may be gone before the sweep notices that the scheduler is.
    *_, last = (line for line in said.splitlines() if not is_progress_line(line))
    address = dask.address.removeprefix("dask://")
    assert last.startswith(f"airpath: the scheduler of the Dask cluster at {address} has stopped; ")
    assert 3 <= len(kept(out)) < 24
    assert data_set(airpath.sweep(plan, out, jobs=1).directory) == data_set(local.directory)


def is_progress_line(line: str) -> bool:
    """Return whether a line is the progress report of each minute: slow machines may reach one."""
    return re.match(r"airpath: \d+ of 32 runs(,|$)", line) is not None


@needs_dask
def test_a_missing_cluster_is_reported(small, tmp_path, monkeypatch):
    monkeypatch.setattr("airpath.sweeps.dask.CONNECT_WITHIN_S", 1)
    with pytest.raises(AirpathError, match=r"^engine: no Dask scheduler answers at 127\.0\.0\.1:"):
        airpath.sweep(small, tmp_path / "out", engine=f"dask://127.0.0.1:{free_port()}")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "engine",
    ["spark", "dask://", "dask://host", "dask://host:", "dask://tcp://host:1", "dask://host:0", "ray://host"],
)
def test_an_unknown_engine_is_reported_before_anything_is_written(small, tmp_path, engine):
    with pytest.raises(UsageError, match=f'engine: found "{engine}"; accepted: .*HOST:PORT'):
        airpath.sweep(small, tmp_path / "out", engine=engine)
    assert not (tmp_path / "out").exists()


def test_a_missing_library_is_reported(small, tmp_path, monkeypatch):
    for library, engine in (("distributed", "dask://127.0.0.1:1"), ("ray", "ray")):
        monkeypatch.setitem(sys.modules, library, None)
        with pytest.raises(AirpathError, match=f'needs the library "{library}"'):
            airpath.sweep(small, tmp_path / library, engine=engine)


@pytest.fixture
def ray_nodes(monkeypatch):
    """Return the address of a Ray cluster of two nodes with a processor each, and the second node."""
    # Not below `tmp_path`: sockets must have short names.
    folder = Path(tempfile.mkdtemp(prefix="ray"))
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    monkeypatch.setenv("RAY_AUTH_TOKEN", secrets.token_hex(16))
    for variable in ("no_proxy", "NO_PROXY"):
        monkeypatch.setenv(variable, own_address())
    port, started = free_port(), []

    def start(*arguments: str) -> "subprocess.Popen[bytes]":
        ray = [sys.executable, "-m", "ray.scripts.scripts", "start", "--block", "--num-cpus", "1"]
        ray += ["--object-store-memory", "100000000", *arguments]
        with (folder / f"node{len(started)}.log").open("wb") as log:
            started.append(subprocess.Popen(ray, stdout=log, stderr=log))
        return started[-1]

    address = f"{own_address()}:{port}"
    start("--head", "--port", str(port), "--include-dashboard", "false", "--temp-dir", str(folder / "ray"))
    try:
        wait_for_nodes(address, 1)
        second = start("--address", address)
        wait_for_nodes(address, 2)
        yield f"ray://{address}", second
    finally:
        for process in started:
            kill_with_children(process)
        shutil.rmtree(folder, ignore_errors=True)


def own_address() -> str:
    """Return an address of this machine; Ray does not accept that of the loopback device."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.connect(("192.0.2.1", 9))  # sends nothing
        return str(udp.getsockname()[0])


def wait_for_nodes(address: str, count: int) -> None:
    script = (
        "import sys, time, ray\n"
        f"until = time.monotonic() + {HANG_S}\n"
        "while True:\n"
        "    try:\n"
        f"        ray.init(address='{address}', log_to_driver=False, logging_level='ERROR')\n"
        "        break\n"
        "    except (OSError, ValueError, RuntimeError):\n"
        "        assert time.monotonic() < until\n"
        "        time.sleep(0.5)\n"
        f"while sum(node['Alive'] for node in ray.nodes()) < {count}:\n"
        "    assert time.monotonic() < until\n"
        "    time.sleep(0.1)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=HANG_S)


def kill_with_children(process: "subprocess.Popen[bytes]") -> None:
    if process.poll() is None:
        for one in psutil.Process(process.pid).children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                one.kill()
    process.kill()
    process.wait()


@needs_ray
def test_a_ray_cluster_of_which_a_node_is_killed(tmp_path, ray_nodes, local):
    address, second = ray_nodes
    plan = written(tmp_path, LONG_FAILING)
    out = tmp_path / "ray"
    sweep = held(plan, out, address)
    kill_with_children(second)
    assert_equals_local_sweep(sweep, out, local)


@needs_ray
def test_a_missing_ray_cluster_is_reported(small, tmp_path):
    with pytest.raises(AirpathError, match=r"no Ray cluster answers at 127\.0\.0\.1:1"):
        airpath.sweep(small, tmp_path / "out", engine="ray://127.0.0.1:1")


@needs_ray
def test_ray(small, tmp_path):
    out = tmp_path / "ray"
    subprocess.run(
        command(small, "--out", out, "--engine", "ray", "--jobs", 2),
        check=True,
        timeout=HANG_S,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    local = airpath.sweep(Path(small), tmp_path / "local", jobs=1)
    assert data_set(out) == data_set(local.directory)

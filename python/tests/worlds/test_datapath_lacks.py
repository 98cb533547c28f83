"""What the datapath lacks, and which daemon is chosen: without a kernel."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from processes import is_alive

from airpath._backends import daemon
from airpath.cli import doctor_emulation


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Return a machine that has everything, in files that tests change."""
    for name in ("airpathd", "btf"):
        (tmp_path / name).touch()
    (tmp_path / "release").write_text("6.12.3-amd64\n")
    (tmp_path / "mounts").write_text("proc /proc proc rw 0 0\nnone /sys/fs/cgroup cgroup2 rw 0 0\n")
    monkeypatch.setenv("AIRPATHD", str(tmp_path / "airpathd"))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    for constant, name in (("BTF", "btf"), ("RELEASE", "release"), ("MOUNTS", "mounts")):
        monkeypatch.setattr(daemon, constant, tmp_path / name)
    return tmp_path


def test_a_machine_that_has_everything_lacks_nothing(machine: Path) -> None:
    assert daemon.datapath_missing() is None
    state, detail = doctor_emulation.linux_datapath()
    assert state == "good"
    assert str(machine / "airpathd") in detail


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("airpathd", None, "make datapath"),
        ("btf", None, "CONFIG_DEBUG_INFO_BTF"),
        ("release", "6.9.12-cloud", "need Linux 6.10 or newer; this is 6.9.12-cloud"),
        ("release", "5.15.0", "this is 5.15.0"),
        ("mounts", "cgroup /sys/fs/cgroup cgroup rw 0 0\n", "mount -t cgroup2"),
    ],
)
def test_missing_prerequisites_are_reported_with_instructions(
    machine: Path, name: str, content: str | None, expected: str
) -> None:
    if content is None:
        (machine / name).unlink()
    else:
        (machine / name).write_text(content)
    missing = daemon.datapath_missing()
    assert missing is not None
    assert expected in missing
    state, detail = doctor_emulation.linux_datapath()
    assert state == "missing"
    assert expected in detail


def test_all_missing_prerequisites_are_reported_at_once(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (machine / "btf").unlink()
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    _, detail = doctor_emulation.linux_datapath()
    assert "needs root" in detail
    assert "CONFIG_DEBUG_INFO_BTF" in detail


def test_an_unreadable_version_is_not_outdated(machine: Path) -> None:
    (machine / "release").write_text("of our own\n")
    assert daemon.datapath_missing() is None


@pytest.mark.parametrize("newer", ["release", "debug"])
def test_the_newest_build_is_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, newer: str) -> None:
    monkeypatch.delenv("AIRPATHD", raising=False)
    monkeypatch.setattr("shutil.which", lambda _: None)
    monkeypatch.setattr(daemon, "__file__", str(tmp_path / "python" / "airpath" / "_backends" / "daemon.py"))
    assert daemon.find_daemon() is None
    for kind in ("release", "debug"):
        build = tmp_path / "target" / kind / "airpathd"
        build.parent.mkdir(parents=True)
        build.touch()
        os.utime(build, (2000, 2000) if kind == newer else (1000, 1000))
    assert daemon.find_daemon() == tmp_path / "target" / newer / "airpathd"


@pytest.mark.parametrize(("ends", "problems"), [("exit 0", 1), ("exec sleep 600", 0)])
@pytest.mark.processes
def test_a_daemon_of_hosts_that_ends_during_the_run_makes_it_invalid(
    ends: str, problems: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = tmp_path / "airpathd"
    program.write_text(f'#!/bin/sh\necho \'{{"event": "ready"}}\'\n{ends}\n')
    program.chmod(0o755)
    monkeypatch.setenv("AIRPATHD", str(program))
    monkeypatch.setattr(daemon, "_own_cgroup", lambda: tmp_path)
    monkeypatch.setattr(daemon, "READY_WITHIN_S", 600.0)
    hosts = daemon.Datapath()
    hosts.start([], "eth0", [])
    (daemon_of_hosts,) = hosts._daemons
    process = daemon_of_hosts._process
    assert process is not None
    if problems:
        process.wait(600)
    else:
        assert process.poll() is None
    counters, found = hosts.stop()
    assert counters == {}
    assert len(found) == problems


@pytest.mark.skipif(shutil.which("setpriv") is None, reason="no setpriv (util-linux)")
@pytest.mark.parametrize("killed", [False, True])
@pytest.mark.processes
def test_no_daemon_begins_after_a_kill(killed: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """If the runner is killed before the daemon starts, none starts: no later signal would end it."""
    began, goes_on, at_work = tmp_path / "began", tmp_path / "goes-on", tmp_path / "at-work"
    scripts = {
        "setpriv": f"echo $$ > {began}.new; mv {began}.new {began};"
        f" until test -e {goes_on}; do sleep 0.02; done;"
        f' exec {shutil.which("setpriv")} "$@"',
        "airpathd": f'touch {at_work}; echo \'{{"event": "ready"}}\'; exec sleep 3',
    }
    for name, text in scripts.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("AIRPATHD", str(tmp_path / "airpathd"))
    # Independent of how long the wrapper waits for this test.
    code = (
        "from airpath._backends import daemon as datapath; datapath.READY_WITHIN_S = 600;"
        " daemon = datapath.Daemon(); daemon.start([]); daemon.stop()"
    )
    until = time.monotonic() + 600
    with subprocess.Popen([sys.executable, "-c", code]) as runner:
        while not began.exists():
            assert time.monotonic() < until
            time.sleep(0.02)
        if killed:
            runner.kill()
            runner.wait()
        goes_on.touch()
        daemon = int(began.read_text())
        while is_alive(daemon):
            assert time.monotonic() < until
            time.sleep(0.02)
    assert at_work.exists() != killed
    assert runner.returncode == (-9 if killed else 0)

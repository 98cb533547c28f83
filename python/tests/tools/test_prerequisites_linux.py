"""Tests of the Linux datapath are skipped if they cannot run; elsewhere a failed install is an error."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[3] / "tools" / "prerequisites-linux"
HAS_BTF = Path("/sys/kernel/btf/vmlinux").exists()
NEEDED = "clang pkg-config make gcc bpftool ip tc iperf3 ethtool ping"
FAILS = "echo 'E: Unable to fetch some archives' >&2; exit 100"
INSTALLS = f'cd "$(dirname "$0")"; for name in {NEEDED}; do ln -sf nothing $name; done'


def machine(folder, user, apt):
    """Return a PATH of one folder of commands: of that user, and with that script as `apt-get`, if any."""
    for name in ("grep", "head", "dirname", "ln"):
        (folder / name).symlink_to(shutil.which(name))
    scripts = {
        "uname": "echo Linux",
        "id": f"echo {user}",
        "nothing": "exit 0",
        "work": "echo worked; exit 7",
    }
    if apt:
        scripts["apt-get"] = apt
    for name, script in scripts.items():
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)
    return {**os.environ, "PATH": str(folder)}


def called(environment, *words):
    return subprocess.run(
        ["/bin/sh", TOOL, *words], env=environment, capture_output=True, text=True, check=False, timeout=600
    )


@pytest.mark.parametrize(("user", "apt"), [(1000, None), (1000, INSTALLS), (0, None)])
def test_the_command_is_skipped_if_nothing_can_be_installed(tmp_path, user, apt):
    done = called(machine(tmp_path, user, apt), "work")
    assert done.returncode == 0
    assert done.stdout.startswith("Linux datapath: skipped, because it needs the command 'clang'")
    assert "worked" not in done.stdout


def test_a_missing_prerequisite_is_an_error(tmp_path):
    done = called(machine(tmp_path, 0, FAILS), "work")
    assert "worked" not in done.stdout
    if HAS_BTF:
        assert done.returncode == 1
        assert done.stderr.count("\n") == 1
        assert "did not install the command 'clang' (E: Unable to fetch some archives)" in done.stderr
    else:
        assert done.returncode == 0
        assert "skipped" in done.stdout


def test_installed_prerequisites_run_the_command(tmp_path):
    done = called(machine(tmp_path, 0, INSTALLS), "work")
    assert (done.returncode, done.stdout) == (7, "worked\n")


@pytest.mark.parametrize(("apt", "status"), [(INSTALLS, 0), (None, 1)])
def test_without_a_command_missing_prerequisites_are_reported(tmp_path, apt, status):
    done = called(machine(tmp_path, 0, apt))
    assert (done.returncode, done.stdout) == (status, "")
    assert ("needs the command 'clang'" in done.stderr) == bool(status)

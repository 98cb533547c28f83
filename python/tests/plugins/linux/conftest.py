"""Modules of Linux that are our own, and those of a kernel."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from commands import airpath, folder

from airpath.errors import UsageError
from airpath.plugins.linux.build import build
from airpath.plugins.linux.compiler import INTERFACE, Compiler

__all__ = ["airpath", "folder"]

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def modules_folder(tmp_path_factory):
    """A folder for compiled modules, which all processes of a test run share."""
    base = tmp_path_factory.getbasetemp()
    return (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "modules"


@pytest.fixture(autouse=True)
def compiler(modules_folder, monkeypatch):
    """The C compiler. Compiled modules are kept in the folder of the test run."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(modules_folder))
    try:
        return Compiler.find()
    except UsageError as error:
        pytest.skip(str(error))


@pytest.fixture
def module():
    """Returns the scheme of one of our modules."""
    return lambda name, options="": f"linux:{HERE / f'tcp_{name}.c'}" + (f":{options}" if options else "")


@dataclass(frozen=True)
class Answer:
    """What a module allows after an event: packets and milliseconds."""

    window: int
    ssthresh: int
    timer: int
    calls: int


@pytest.fixture
def drive(compiler, tmp_path):
    """Passes events to a module and returns its answers (`drive.c`)."""
    program = tmp_path / "drive"
    source = str(HERE / "drive.c")
    subprocess.run(
        [*compiler.command, "-std=gnu11", f"-I{INTERFACE}", source, "-o", str(program), "-ldl"], check=True
    )

    def drive(name, events, **parameters):
        library = build([HERE / f"tcp_{name}.c"]).library
        given = [f"{key}={value}" for key, value in parameters.items()]
        lines = "".join(" ".join([event[0], *(str(n) for n in event[1:])]) + "\n" for event in events)
        done = subprocess.run(
            [str(program), str(library), *given], input=lines, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout
        return [Answer(*(int(number) for number in line.split())) for line in done.stdout.splitlines()]

    return drive


@pytest.fixture
def linux_sources():
    """The folder `net/ipv4` of a kernel."""
    folder = os.environ.get("AIRPATH_LINUX_SOURCES")
    if not folder:
        pytest.skip("AIRPATH_LINUX_SOURCES is not set: it names a folder with net/ipv4/tcp_*.c of Linux")
    return Path(folder) / "net" / "ipv4"

"""Linux modules of airpath, and those of a kernel."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from commands import airpath, folder

from airpath.errors import UsageError
from airpath.plugins.compiled.build import build
from airpath.plugins.compiled.compiler import INTERFACE, Compiler

__all__ = ["airpath", "folder"]

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def modules_folder(tmp_path_factory):
    """Return a folder for compiled modules, which all processes of a test run share."""
    base = tmp_path_factory.getbasetemp()
    return (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "modules"


@pytest.fixture(autouse=True)
def compiler(modules_folder, monkeypatch):
    """Return the C compiler, with compiled modules in the folder of the test run."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(modules_folder))
    try:
        return Compiler.find()
    except UsageError as error:
        pytest.skip(str(error))


@pytest.fixture
def module():
    """Return a function that returns the scheme of one of our modules."""
    return lambda name, options="": f"linux:{HERE / f'tcp_{name}.c'}" + (f":{options}" if options else "")


@dataclass(frozen=True)
class Answer:
    """The packets and milliseconds that a module allows after an event."""

    window: int
    ssthresh: int
    timer: int
    calls: int


@pytest.fixture
def drive(compiler, tmp_path):
    """Return a function that passes events to a module and returns its answers (`drive.c`)."""
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
    """Return the folder `net/ipv4` of a kernel."""
    folder = os.environ.get("AIRPATH_LINUX_SOURCES")
    if not folder:
        pytest.skip("AIRPATH_LINUX_SOURCES is not set: it names a folder with net/ipv4/tcp_*.c of Linux")
    return Path(folder) / "net" / "ipv4"

"""Commands that read traces and captures also read pipes, and report the same for pipes as for files."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import NamedTuple, Protocol

import pytest

from airpath.captures import analyse
from airpath.cli import main
from airpath.errors import CaptureError

pytestmark = pytest.mark.processes

OPPORTUNITIES = "".join(f"{7 * k + 200 * (k // 97)}\n" for k in range(2000))


class Said(NamedTuple):
    """How a command ended, and its output."""

    code: int
    out: str
    err: str


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the capture of a short run."""
    out = tmp_path_factory.mktemp("run") / "out"
    with pytest.raises(SystemExit) as left:
        main(["run", "two-way", "--set", "duration=15s", "--capture", "bottleneck", "--out", str(out)])
    assert left.value.code == 0
    return next((out / "captures").glob("*.pcapng"))


class Airpath(Protocol):
    def __call__(self, arguments: list[str], given: bytes = b"") -> Said: ...


@pytest.fixture
def airpath(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Airpath:
    """Return a function that runs a command in the temporary folder with given standard input."""

    def do(arguments: list[str], given: bytes = b"") -> Said:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(given)))
        with pytest.raises(SystemExit) as left:
            main(arguments)
        return Said(int(left.value.code or 0), *capsys.readouterr())

    return do


def through_a_named_pipe(arguments: Callable[[str], list[str]], given: bytes, folder: Path) -> Said:
    """Run a command with an argument like `<(command)` of a shell: the name of an open pipe."""
    reads, writes = os.pipe()
    command = [sys.executable, "-m", "airpath", *arguments(f"/dev/fd/{reads}")]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL}
    with subprocess.Popen(command, cwd=folder, pass_fds=[reads], **streams) as process:
        os.close(reads)
        with os.fdopen(writes, "wb") as pipe:
            pipe.write(given)
        out, err = process.communicate(timeout=600)
    return Said(process.returncode, out.decode(), err.decode())


def test_a_capture_from_a_pipe_equals_the_file(airpath: Airpath, capture: Path, tmp_path: Path) -> None:
    arguments = ["--estimator", "sarbe", "--json"]
    said = [
        airpath(["estimate", str(capture), *arguments, "--out", "file"]),
        airpath(["estimate", "-", *arguments], capture.read_bytes()),
        through_a_named_pipe(
            lambda name: ["estimate", name, *arguments, "--out", "named"], capture.read_bytes(), tmp_path
        ),
    ]
    assert [(one.code, one.err) for one in said] == [(0, "")] * 3
    file, standard, named = (json.loads(one.out) for one in said)
    assert (standard["captures"][0].pop("path"), standard.pop("out")) == ("stdin", "out/estimate-stdin")
    for other in (file, named):
        assert other["captures"][0].pop("path") != "stdin"
        for flow in [*other["captures"][0]["flows"], *standard["captures"][0]["flows"]]:
            flow.pop("capture", None)
        assert other["captures"] == standard["captures"]
    hashes = [
        json.loads((tmp_path / out / "provenance.json").read_text())["captures"][0]["sha256"]
        for out in ("file", "out/estimate-stdin", "named")
    ]
    assert len(set(hashes)) == 1


def test_the_first_interrupt_ends_the_writer_only(capture: Path, tmp_path: Path) -> None:
    content = capture.read_bytes()
    assert len(content) > 1 << 18  # more than fits into the pipe before the reader starts
    command = [sys.executable, "-m", "airpath", "estimate", "-", "--estimator", "sarbe", "--json"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        process.stdin.write(content[:-1])
        process.stdin.flush()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(content[-1:], timeout=600)
    assert (process.returncode, err) == (0, b"")
    assert json.loads(out)["captures"][0]["stopped_because"] is None


def test_a_trace_from_a_pipe_equals_the_file(airpath: Airpath, tmp_path: Path) -> None:
    (tmp_path / "cell.down").write_text(OPPORTUNITIES)
    for command in (["fit", "NAME", "--step", "50ms", "--json"], ["trace", "convert", "NAME", "--to", "csv"]):
        said = [
            airpath([name if one == "NAME" else one for one in command], given)
            for name, given in (("cell.down", b""), ("-", OPPORTUNITIES.encode()))
        ]
        assert [(one.code, one.err) for one in said] == [(0, "")] * 2
        assert said[0].out.replace("cell.down", "stdin") == said[1].out
    drawn = through_a_named_pipe(lambda name: ["trace", "show", name], OPPORTUNITIES.encode(), tmp_path)
    assert drawn.code == 0, drawn.err
    assert len(list((tmp_path / "out").glob("*.png"))) == 1


@pytest.mark.parametrize(
    ("arguments", "given", "message"),
    [
        (["estimate", "-"], b"time,rate\n", "stdin: the file begins with `time,rate"),
        (["fit", "-"], b"abc\n", 'stdin, line 1: found "abc"'),
        (["fit", "-"], b"5\n2\n", "stdin: line 2: found `2`"),
        (["fit", "-"], b"lost\n2\n", 'stdin, line 2: lost: found "2"'),
        (["trace", "show", "-"], b"5\n2\n", "stdin: line 2: found `2`"),
        (["estimate", "."], b"", ".: not a file"),
    ],
)
def test_messages_name_standard_input_and_leave_nothing(
    airpath: Airpath, tmp_path: Path, arguments: list[str], given: bytes, message: str
) -> None:
    said = airpath(arguments, given)
    assert said.code == 1
    assert said.err.startswith(f"airpath: {message}")
    assert said.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_standard_input_is_read_once(airpath: Airpath, tmp_path: Path) -> None:
    said = airpath(["estimate", "-", "-"], b"")
    assert said.code == 2
    assert said.err == ("airpath: -: found 2 times; accepted: once, since standard input can be read once\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("closed", [False, True])
def test_a_terminal_and_a_closed_input_are_rejected(monkeypatch: pytest.MonkeyPatch, closed: bool) -> None:
    given = None if closed else TextIOWrapper(BytesIO())
    if given:
        monkeypatch.setattr(given, "isatty", lambda: True)
    monkeypatch.setattr("sys.stdin", given)
    said = f"stdin: is {'closed' if closed else 'a terminal'}; accepted: a file or a pipe"
    with pytest.raises(CaptureError, match=said):
        analyse("-")


def test_a_copy_that_does_not_fit_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("airpath._os.input_file.shutil.copyfileobj", full)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    kept_open = os.open(pipe, os.O_RDWR)
    with pytest.raises(CaptureError, match=r"pipe: cannot be copied to .*: No space left on device"):
        analyse(pipe)
    os.close(kept_open)

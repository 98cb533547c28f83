"""`make prove-tests`: the table of outcomes, and busy processes that always end."""

import subprocess
import sys
import time
from pathlib import Path

import prove_tests as proof
import psutil
import pytest
from processes import is_alive


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Use small parts, and a table and logs of their own; return their folder."""
    script = "import sys; print('FAILED a.py::b[c] - late'); print('test d::e ... FAILED'); sys.exit(1)"
    parts = {"suite": ("true",), "python": (sys.executable, "-c", script)}
    monkeypatch.setattr(proof, "PARTS", parts)
    monkeypatch.setattr(proof, "TABLE", tmp_path / "proof.md")
    monkeypatch.setattr(proof, "LOGS", tmp_path / "logs")
    (tmp_path / "logs").mkdir()
    return tmp_path


def test_a_row_counts_runs_and_names_failures(place: Path) -> None:
    proof.repeated("suite", proof.Row.of("suite", "idle"), 3)
    proof.repeated("python", proof.Row.of("python", "busy"), 2)
    first, second = (place / "proof.md").read_text().splitlines()[2:]
    assert first.startswith("| `true` | idle | 3 | 3 | - | 0")
    assert "| busy | 2 | 0 | `a.py::b[c]` (2), `d::e` (2) |" in second
    logs = sorted(log.name for log in (place / "logs").iterdir())
    assert logs == ["python-busy-1.log", "python-busy-2.log"]


def test_a_row_replaces_that_of_the_same_tests_and_condition(place: Path) -> None:
    for condition, passed in (("busy", 1), ("idle", 2), ("busy", 3)):
        proof.store(proof.Row("true", condition, 3, passed, seconds=[0, 1]))
    lines = (place / "proof.md").read_text().splitlines()
    assert [line.split("|")[2:5] for line in lines[2:]] == [
        [" idle ", " 3 ", " 2 "],
        [" busy ", " 3 ", " 3 "],
    ]


def test_runs_are_added_to_those_of_the_table(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = ["prove_tests.py", "--part", "python", "--condition", "idle", "--runs", "2"]
    for add, runs in (([], 2), (["--add"], 4), ([], 2)):
        monkeypatch.setattr(sys, "argv", [*options, *add])
        with pytest.raises(SystemExit, match="True"):
            proof.main()
        assert f"| idle | {runs} | 0 | `a.py::b[c]` ({runs}), " in (place / "proof.md").read_text()


def test_busy_processes_end_with_the_tests_they_disturb() -> None:
    def end_early() -> None:
        with proof.busy(2):
            found.extend(psutil.Process().children())
            raise KeyboardInterrupt

    before, found = set(psutil.Process().children()), []
    with pytest.raises(KeyboardInterrupt):
        end_early()
    assert len(set(found) - before) == 2
    assert not any(process.is_running() for process in set(found) - before)


@pytest.mark.processes
def test_busy_processes_end_when_their_starter_is_killed() -> None:
    script = (
        "import prove_tests, time\nwith prove_tests.busy(1):\n print('busy', flush=True)\n time.sleep(600)"
    )
    tools = Path(proof.__file__).parent
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, cwd=tools) as starter:
        assert starter.stdout is not None
        assert starter.stdout.readline() == b"busy\n"
        (busy,) = psutil.Process(starter.pid).children()
        starter.kill()
    hangs_at_s = time.monotonic() + 600
    while is_alive(busy.pid):
        assert time.monotonic() < hangs_at_s
        time.sleep(0.05)

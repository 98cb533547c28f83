"""Which disturbances make a failed real-time check inconclusive, and its report."""

import subprocess
import sys
from pathlib import Path

import pytest
import real_time
from quietness import Quietness, _own_s, disturbance

QUIET = {"by_others": 0.05, "stolen": 0.0, "delay_s": 0.004, "waited": 0.3, "processors": 2}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, None),
        ({"waited": 1.0}, None),  # the check's own processes wait too
        ({"by_others": 0.5}, "other programs used 0.50 processors"),
        ({"stolen": 0.05}, "the host took 5.0% of the processors' time"),
        ({"delay_s": 0.08}, "a sleeping process woke up 80 ms late"),
        ({"processors": 1}, "only one processor may be used"),
    ],
)
def test_disturbances(changes: dict[str, float], said: str | None) -> None:
    found = disturbance(**QUIET | changes)
    assert found is None if said is None else found.startswith(f"{said}, some process waited")


# A process that uses 0.3 s of processor time, started by one that ends at once.
ORPHAN = """
import subprocess, sys
busy = "import time\\nwhile time.process_time() < 0.3: pass\\nprint('done')"
subprocess.Popen([sys.executable, "-c", busy])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has subreapers")
def test_processes_count_as_own_after_their_parent_has_ended() -> None:
    quietness = Quietness()
    before_s = _own_s()
    with subprocess.Popen([sys.executable, "-c", ORPHAN], stdout=subprocess.PIPE, text=True) as parent:
        # The output ends when the last of the two has ended.
        assert parent.stdout is not None
        assert parent.stdout.read() == "done\n"
    assert _own_s() - before_s >= 0.25
    quietness.end()


CHECKS = """
import pytest

@pytest.fixture(scope="module")
def measured():
    raise ValueError("too slow")

@pytest.mark.realtime
def test_passes(): pass

@pytest.mark.realtime
def test_fails(): assert not "late"

@pytest.mark.realtime
def test_cannot_measure(measured): pass

@pytest.mark.realtime
def test_cannot_measure_either(measured): pass

def test_of_logic_fails(): assert False
"""


def outcomes_of_checks(reason: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Run the checks with a disturbance during all but the last, and return their outcomes."""
    made = []

    class FakeQuietness:
        def __init__(self) -> None:
            made.append(self)

        def end(self) -> str | None:
            # The last check ends at once, undisturbed: it only gets the error of the shared fixture again.
            return reason if len(made) < 4 else None

    outcomes: dict[str, str] = {}

    class Watch:
        def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
            if report.when == "call" or not report.passed:
                outcomes[report.nodeid.partition("::")[2]] = report.outcome

    checks = tmp_path / "test_checks.py"
    checks.write_text(CHECKS)
    monkeypatch.setattr(real_time, "Quietness", FakeQuietness)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = realtime\n")
    options = ("-p", "no:cacheprovider", "-c", str(tmp_path / "pytest.ini"))
    pytest.main([str(checks), *options, "--import-mode=importlib"], plugins=[Watch(), real_time])
    return outcomes


@pytest.mark.parametrize("variable", ["AIRPATH_AGAIN", "AIRPATH_INCONCLUSIVE"])
@pytest.mark.parametrize("reason", [None, "other programs used 0.50 processors"])
def test_only_a_disturbance_makes_a_failed_check_inconclusive(
    reason: str | None, variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = tmp_path / "lines"
    lines.touch()
    for name in ("AIRPATH_AGAIN", "AIRPATH_INCONCLUSIVE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(variable, str(lines))
    outcomes = outcomes_of_checks(reason, tmp_path, monkeypatch)
    failing = ["test_fails", "test_cannot_measure", "test_cannot_measure_either"]
    expected = dict.fromkeys(failing, "failed" if reason is None else "skipped")
    assert outcomes == expected | {"test_passes": "passed", "test_of_logic_fails": "failed"}
    written = lines.read_text().splitlines()
    if reason is None:
        assert not written
    elif variable == "AIRPATH_AGAIN":
        assert [line.partition("::")[2] for line in written] == failing
    else:
        assert len(written) == len(failing)
        assert all(f": {reason}; " in line for line in written)

"""`make test-realtime`: how the outputs of cargo and pytest are counted."""

from pathlib import Path

import pytest
import realtime as tool
from realtime import Counts

CARGO = """
running 3 tests
test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 2.00s
test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 2.00s
"""


@pytest.mark.parametrize(
    ("output", "code", "counts"),
    [
        (CARGO, 101, Counts(4, 2, 1)),
        ("error: could not compile", 101, Counts(0, 1, 0)),
        (f"Linux datapath: skipped, because it needs clang\n{CARGO}", 101, Counts(4, 2, 1)),
    ],
)
def test_rust(output: str, code: int, counts: Counts) -> None:
    assert tool.rust_counts(output, code) == counts


@pytest.mark.parametrize(
    ("numbers", "code", "counts"),
    [
        ('tests="9" errors="1" failures="2" skipped="3"', 1, Counts(3, 3, 3)),
        ('tests="9" errors="0" failures="0" skipped="3"', 0, Counts(6, 0, 3)),
        ('tests="0" errors="0" failures="0" skipped="0"', 3, Counts(0, 1, 0)),  # an internal error
    ],
)
def test_python(numbers: str, code: int, counts: Counts, tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    assert tool.python_counts(report, code) == Counts(failed=1)
    report.write_text(f"<testsuites><testsuite {numbers} /></testsuites>")
    assert tool.python_counts(report, code) == counts


def test_checks_in_python_that_do_not_pass_run_again_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone: list[tuple[str, ...]] = []

    def run_pytest(_report: Path, options: tuple[str, ...], environment: dict[str, str]) -> Counts:
        if "AIRPATH_AGAIN" not in environment:
            alone.append(options)
            return Counts(1, 1, 0)
        if options == ("-m", tool.PARTS[1]):
            return Counts(5, 0, 1)
        # The body and the end of a check may fail.
        Path(environment["AIRPATH_AGAIN"]).write_text("a::b\na::c[x: y]\na::b\n")
        return Counts(3, 0, 4)

    monkeypatch.setattr(tool, "run_pytest", run_pytest)
    assert tool.run_python(tmp_path, {}) == Counts(9, 1, 3)
    assert alone == [("-m", "realtime", "a::b", "a::c[x: y]")]

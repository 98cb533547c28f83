"""Run the real-time checks, and print how many passed, failed and were inconclusive: `make test-realtime`.

    python tools/realtime.py

A check is inconclusive if the machine was not quiet enough for it; the file that AIRPATH_INCONCLUSIVE names
contains a line `inconclusive: NAME: REASON` for each. In Rust such a check counts as passed, in Python as
skipped. The exit code is 1 only if a check failed.
"""

import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent
# The selection of `make test-rust`, so that both use the same build.
SELECTION: Final = ("test", "--exclude", "airpath-py", "--no-fail-fast", "--test", "realtime")
RUST: Final = ("tools/cargo-workspace", *SELECTION, "--", "--test-threads", "1")
PYTHON: Final = (sys.executable, "-m", "pytest", "-p", "no:cacheprovider")
# These run at the same time, because most of the checks wait for packets.
PARTS: Final = ("realtime and datapath", "realtime and not datapath")
RESULT: Final = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored", re.MULTILINE)


@dataclass
class Counts:
    """The number of checks with each outcome."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        """Return the sums."""
        return Counts(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)


def rust_counts(output: str, code: int) -> Counts:
    """Return the counts of a `cargo test` with this output; one that ran no tests counts as failed."""
    results = [Counts(*map(int, found.groups())) for found in RESULT.finditer(output)]
    total = sum(results, Counts())
    return total if total.failed or code == 0 else total + Counts(failed=1)


def python_counts(report: Path, code: int) -> Counts:
    """Return the counts of a pytest run with this JUnit report; a run without one counts as failed."""
    if not report.exists():
        return Counts(failed=1)
    suite = ET.parse(report).getroot().find("testsuite")
    assert suite is not None, report
    tests, errors, failures, skipped = (
        int(suite.get(name, "0")) for name in ("tests", "errors", "failures", "skipped")
    )
    counts = Counts(tests - errors - failures - skipped, errors + failures, skipped)
    return counts if counts.failed or code == 0 else counts + Counts(failed=1)


def shown(command: tuple[str, ...], environment: dict[str, str]) -> tuple[str, int]:
    """Run a command, pass its output on, and return that output and the exit code."""
    sys.stdout.write(f"{' '.join(command)}\n")
    lines = []
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            sys.stdout.write(line)
            sys.stdout.flush()
            lines.append(line)
    return "".join(lines), process.returncode


def run_python(folder: Path, environment: dict[str, str]) -> Counts:
    """Run the checks in Python, two at the same time.

    A check that does not pass is run again alone, and only the second outcome counts.
    """
    again = folder / "again"
    again.touch()
    with ThreadPoolExecutor() as threads:
        found = [
            threads.submit(run_pytest, report, ("-m", part), environment | {"AIRPATH_AGAIN": str(again)})
            for report, part in zip((folder / "1.xml", folder / "2.xml"), PARTS, strict=True)
        ]
    total = sum((part.result() for part in found), Counts())
    if names := list(dict.fromkeys(again.read_text().splitlines())):
        total.skipped -= len(names)
        total += run_pytest(folder / "again.xml", ("-m", "realtime", *names), environment)
    return total


def run_pytest(report: Path, options: tuple[str, ...], environment: dict[str, str]) -> Counts:
    """Run checks in Python, write their JUnit report, and return the counts."""
    _, code = shown((*PYTHON, f"--junit-xml={report}", *options), environment)
    return python_counts(report, code)


def main() -> None:
    """Run all real-time checks."""
    with tempfile.TemporaryDirectory() as folder:
        lines = Path(folder, "inconclusive")
        lines.touch()
        environment = {**os.environ, "AIRPATH_INCONCLUSIVE": str(lines)}
        total = rust_counts(*shown(RUST, environment))
        in_rust = len(lines.read_text().splitlines())
        total += run_python(Path(folder), environment)
        inconclusive = lines.read_text().splitlines()
    total.passed -= in_rust
    total.skipped -= len(inconclusive) - in_rust
    sys.stdout.writelines(f"{line}\n" for line in inconclusive)
    sys.stdout.write(
        f"real-time checks: {total.passed} passed, {total.failed} failed,"
        f" {len(inconclusive)} inconclusive, {total.skipped} skipped\n"
    )
    sys.exit(total.failed > 0)


if __name__ == "__main__":
    main()

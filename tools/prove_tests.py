"""Repeat the tests under load, and record how often they passed: `make prove-tests`.

    python tools/prove_tests.py [--part PART]... [--condition CONDITION]... [--runs COUNT] [--add]

The part `suite` is all of `make test`. The other parts are the tests that start threads or processes, open
sockets, set timers or send signals: `python` (the marker `processes`), `emu` and `linux`. Each part runs in
each condition:

    idle           nothing else
    busy           with three busy processes
    nice           under `nice -n 19` with three busy processes
    one-processor  under `taskset -c 0`

Each row of the table in docs/development/proof.md has the result of one part in one condition, and is written
after each run. It replaces an earlier row; with `--add`, its runs are added to those of the earlier row, so
that many runs can be made in several sittings. The output of a failed run stays in target/prove-tests/. The
exit code is 1 if any run failed.
"""

import argparse
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self

ROOT: Final = Path(__file__).parent.parent
TABLE: Final = ROOT / "docs" / "development" / "proof.md"
LOGS: Final = ROOT / "target" / "prove-tests"
PYTEST: Final = (".venv/bin/python", "-m", "pytest", "-n", "4", "--dist", "worksteal")
"""More workers than processors, because most of these tests wait for another process."""
MARK: Final = "processes"
PARTS: Final[Mapping[str, Sequence[str]]] = {
    "suite": ("make", "test"),
    "python": (*PYTEST, "-m", f"{MARK} and not realtime"),
    "emu": ("cargo", "test", "--package", "airpath-emu"),
    "linux": ("tools/prerequisites-linux", "cargo", "test", "--package", "airpath-linux"),
}
PREFIXES: Final[Mapping[str, Sequence[str]]] = {
    "idle": (),
    "busy": (),
    "nice": ("nice", "-n", "19"),
    "one-processor": ("taskset", "-c", "0"),
}
BUSY: Final = {"busy": 3, "nice": 3}
"""The number of busy processes in a condition."""
RUNS: Final = {"suite": {"idle": 3}, "other": {"idle": 50}}
"""The number of runs of a part in a condition, unless it is the minimum."""
LEAST_RUNS: Final = {"suite": 1, "other": 20}
FAILED: Final = re.compile(r"^(?:FAILED|ERROR) (\S+)|^test (\S+) \.\.\. FAILED", re.MULTILINE)
NAMED: Final = re.compile(r"`([^`]+)` \((\d+)\)")
HEAD: Final = (
    "| tests | condition | runs | passed | failed | seconds a run |\n"
    "| --- | --- | ---: | ---: | --- | ---: |\n"
)
# A process that ends if its parent, whose id is its argument, has ended, even if that was killed.
_BURN: Final = "import os, sys\nwhile os.getppid() == int(sys.argv[1]):\n    sum(range(100_000))"


@contextmanager
def busy(count: int) -> Iterator[None]:
    """Keep processors busy inside a `with` block, by processes in sessions of their own."""
    command = [sys.executable, "-c", _BURN, str(os.getpid())]
    with ExitStack() as stack:
        for _ in range(count):
            process = subprocess.Popen(command, start_new_session=True)
            stack.callback(process.wait)
            stack.callback(process.kill)
        yield


def run(command: Sequence[str], log: Path) -> tuple[list[str], float]:
    """Run tests once; return the names of those that failed, and the elapsed seconds."""
    began_s = time.monotonic()
    with log.open("w") as output:
        done = subprocess.run(command, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT, check=False)
    took_s = time.monotonic() - began_s
    if done.returncode == 0:
        log.unlink()
        return [], took_s
    found = FAILED.findall(log.read_text(errors="replace"))
    names = sorted({first or second for first, second in found})
    return names or [f"exit code {done.returncode}"], took_s


def command_of(part: str) -> list[str]:
    """Return the command that runs a part once."""
    if part != "python":
        return [*PARTS[part]]
    # Without the other files, whose collection takes as long as these tests.
    files = sorted((ROOT / "python" / "tests").rglob("test_*.py"))
    marked = [str(path.relative_to(ROOT)) for path in files if f"pytest.mark.{MARK}" in path.read_text()]
    return [*PARTS[part], *marked]


@dataclass
class Row:
    """The result of some tests in one condition."""

    tests: str
    """Their command."""
    condition: str
    runs: int = 0
    passed: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    """How often each test failed."""
    seconds: list[float] = field(default_factory=list)
    """One for each run, or the extremes if the row was read from the table."""

    @classmethod
    def of(cls, part: str, condition: str) -> Self:
        """Return the row of a part without any run."""
        return cls(shlex.join(PARTS[part]), condition)

    @classmethod
    def read(cls, line: str) -> Self:
        """Read a line of the table."""
        tests, condition, runs, passed, names, taken = (cell.strip() for cell in line.split("|")[1:-1])
        failures = Counter({name: int(count) for name, count in NAMED.findall(names)})
        seconds = [float(second) for second in taken.split(" to ")]
        return cls(tests.strip("`"), condition, int(runs), int(passed), failures, seconds)

    def add(self, failed: Sequence[str], took_s: float) -> None:
        """Add a run."""
        self.runs += 1
        self.passed += not failed
        self.failures.update(failed)
        self.seconds.append(took_s)

    def line(self) -> str:
        """Return the line of the table."""
        names = ", ".join(f"`{name}` ({count})" for name, count in self.failures.items())
        extremes = (f"{second:.0f}" for second in (min(self.seconds), max(self.seconds)))
        taken = " to ".join(dict.fromkeys(extremes))
        counts = f"{self.runs} | {self.passed}"
        return f"| `{self.tests}` | {self.condition} | {counts} | {names or '-'} | {taken} |\n"

    def place(self) -> tuple[int, str, int]:
        """Return the place in the table; commands that are no part any more come last."""
        parts = [shlex.join(command) for command in PARTS.values()]
        part = parts.index(self.tests) if self.tests in parts else len(parts)
        return part, self.tests, list(PREFIXES).index(self.condition)


def rows() -> list[Row]:
    """Read the table."""
    lines = TABLE.read_text().splitlines()[2:] if TABLE.exists() else []
    return [Row.read(line) for line in lines]


def repeated(part: str, row: Row, runs: int) -> None:
    """Run a part this many times in the condition of its row, and store the row after each run."""
    condition = row.condition
    command = [*PREFIXES[condition], *command_of(part)]
    if "cargo" in PARTS[part]:
        # Not a part of the first run, whose seconds are recorded.
        subprocess.run([*PARTS[part], "--no-run", "--quiet"], cwd=ROOT, check=False)
    with busy(BUSY.get(condition, 0)):
        for number in range(1, runs + 1):
            failed, took_s = run(command, LOGS / f"{part}-{condition}-{row.runs + 1}.log")
            row.add(failed, took_s)
            store(row)
            sys.stdout.write(
                f"{part}, {condition}, {number} of {runs}: {', '.join(failed) or 'passed'}, {took_s:.0f} s\n"
            )
            sys.stdout.flush()


def store(row: Row) -> None:
    """Put a row into the table, replacing an earlier one of the same tests and condition."""
    kept = {one.place(): one for one in [*rows(), row]}
    TABLE.parent.mkdir(exist_ok=True)
    TABLE.write_text(HEAD + "".join(kept[place].line() for place in sorted(kept)))


def main() -> None:
    """Run the chosen parts in the chosen conditions."""
    parser = argparse.ArgumentParser(description="Repeat the tests under load.")
    parser.add_argument("--part", action="append", choices=PARTS, help="only this part; repeatable")
    parser.add_argument(
        "--condition", action="append", choices=PREFIXES, help="only this condition; repeatable"
    )
    parser.add_argument("--runs", type=int, help="runs of each part in each condition")
    parser.add_argument("--add", action="store_true", help="add the runs to those of the table")
    options = parser.parse_args()
    # A signal also stops the busy processes.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(1))
    LOGS.mkdir(parents=True, exist_ok=True)
    bad = False
    for part in options.part or PARTS:
        kind = "suite" if part == "suite" else "other"
        for condition in options.condition or PREFIXES:
            row = Row.of(part, condition)
            if options.add:
                row = next((earlier for earlier in rows() if earlier.place() == row.place()), row)
            repeated(part, row, options.runs or RUNS[kind].get(condition, LEAST_RUNS[kind]))
            bad |= row.passed < row.runs
    sys.exit(bad)


if __name__ == "__main__":
    main()

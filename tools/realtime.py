"""Run the real-time checks, and print how many passed, failed and were inconclusive: `make test-realtime`.

    python tools/realtime.py [COMMAND ...]

Most checks wait for packets. Therefore those that load airpath's controllers into the kernel, which holds
only one set of them, run at the same time as the others, and so does COMMAND. Inconclusive checks then run
again alone, and only the second outcome counts. The exit code is 1 only if a check or COMMAND failed.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent
# The selection of `make test-rust`, so that both use the same build.
SELECTION: Final = ("--exclude", "airpath-py", "--test", "realtime")
MESSAGES: Final = ("--message-format", "json-render-diagnostics")
BUILD: Final = ("tools/cargo-workspace", "test", *SELECTION, "--no-run", *MESSAGES)
PYTEST: Final = (sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-m")
# Crates and markers of pytest. The checks of a group run one after the other.
GROUPS: Final = (("linux", "realtime and datapath"), ("emu", "realtime and not datapath"))
SUMMARY: Final = re.compile(r"^(?:test result: |=+ ).*\d (?:passed|failed|skipped|error).*$", re.MULTILINE)
NUMBER: Final = re.compile(r"(\d+) (passed|failed|error|ignored|skipped)")
MEANING: Final = {"error": "failed", "ignored": "skipped"}


@dataclass(frozen=True)
class Program:
    """A program that runs checks."""

    folder: Path
    all: tuple[str, ...]
    """The command that runs all its checks."""
    some: tuple[str, ...]
    """The command that runs the checks named after it."""
    inconclusive: str
    """The outcome that it reports of an inconclusive check."""


def in_python(marker: str) -> Program:
    """Return pytest with the checks of that marker."""
    return Program(ROOT, (*PYTEST, marker), (*PYTEST, "realtime"), "skipped")


def in_rust(artifacts: Iterable[str]) -> dict[str, Program]:
    """Return the program of each crate, from the messages of cargo."""
    programs = {}
    for artifact in map(json.loads, artifacts):
        if artifact.get("executable") and artifact["target"]["name"] == "realtime":
            folder = Path(artifact["manifest_path"]).parent
            command = (artifact["executable"], "--test-threads", "1")
            programs[folder.name] = Program(folder, command, (*command, "--exact"), "passed")
    return programs


def counted(output: str, code: int) -> Counter[str]:
    """Return the number of checks with each outcome; a program that did not end normally counts as failed."""
    total: Counter[str] = Counter()
    for line in SUMMARY.findall(output):
        for number, outcome in NUMBER.findall(line):
            total[MEANING.get(outcome, outcome)] += int(number)
    if code != 0 and not total["failed"]:
        total["failed"] = 1
    return total


def shown(command: tuple[str, ...], folder: Path, environment: dict[str, str]) -> tuple[str, int]:
    """Run a command, pass its output on, and return that output and the exit code."""
    sys.stdout.write(f"{' '.join(command)}\n")
    lines = []
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            sys.stdout.write(line)
            sys.stdout.flush()
            lines.append(line)
    return "".join(lines), process.returncode


def run(program: Program, command: tuple[str, ...], variable: str) -> tuple[Counter[str], list[str]]:
    """Run checks, and return the counts and the lines of the file that the environment variable names.

    An inconclusive check writes a line there, and is not counted.
    """
    with tempfile.NamedTemporaryFile("r") as file:
        output, code = shown(command, program.folder, {**os.environ, variable: file.name})
        # The body and the end of a check in Python may write a line each.
        lines = list(dict.fromkeys(file.read().splitlines()))
    total = counted(output, code)
    total[program.inconclusive] -= len(lines)
    return total, lines


def run_groups(
    groups: Iterable[list[Program]], command: tuple[str, ...]
) -> tuple[Counter[str], list[str], int]:
    """Run groups and a command, if any, at the same time, then inconclusive checks again.

    Return the counts without inconclusive checks, a line about each of these, and the command's exit code.
    """

    def run_group(group: list[Program]) -> list[tuple[Program, Counter[str], list[str]]]:
        return [(program, *run(program, program.all, "AIRPATH_AGAIN")) for program in group]

    total: Counter[str] = Counter()
    inconclusive = []
    with ThreadPoolExecutor() as threads:
        other = threads.submit(shown, command, ROOT, dict(os.environ)) if command else None
        outcomes = list(threads.map(run_group, groups))
    code = other.result()[1] if other else 0
    for program, counts, names in (outcome for group in outcomes for outcome in group):
        total.update(counts)
        if names:
            counts, lines = run(program, (*program.some, *names), "AIRPATH_INCONCLUSIVE")
            total.update(counts)
            total["failed"] += max(0, len(names) - len(lines) - counts.total())  # not run
            inconclusive += lines
    return total, inconclusive, code


def main() -> None:
    """Run all real-time checks, and a command at the same time."""
    built = subprocess.run(BUILD, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if built.returncode:
        sys.exit(built.returncode)
    rust = in_rust(built.stdout.splitlines())
    groups = [[*([rust[crate]] if crate in rust else []), in_python(marker)] for crate, marker in GROUPS]
    total, inconclusive, code = run_groups(groups, tuple(sys.argv[1:]))
    sys.stdout.writelines(f"{line}\n" for line in inconclusive)
    sys.stdout.write(
        f"real-time checks: {total['passed']} passed, {total['failed']} failed,"
        f" {len(inconclusive)} inconclusive, {total['skipped']} skipped\n"
    )
    if code:
        sys.stdout.write(f"{' '.join(sys.argv[1:])}: exit code {code}\n")
    sys.exit(code != 0 or total["failed"] > 0)


if __name__ == "__main__":
    main()

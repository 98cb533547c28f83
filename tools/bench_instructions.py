"""Check for performance regressions: compare instructions per packet-hop with tools/instructions.json.

    python tools/bench_instructions.py [--install] [--store] [--program FILE] [--figures FILE] [--only RUN]

Valgrind counts instructions inside one function, so neither start-up nor other load on the machine is
counted: a difference comes from a change of the program or of the compiler. The program is built as for
`make bench`, with the PGO profile (`tools/compiler_profile.py`) if this compiler version recorded it,
otherwise without; counts of both builds are stored. The check fails if a run takes over 10 % more than
stored. A commit that makes runs slower for a reason also stores the new counts (`--store`), where reviewers
see them. Instructions per flow of the setup of a run are compared between few and many flows: they must not
grow with the number of flows. `--install` installs valgrind if that is possible (Debian, Ubuntu, as root).
Without valgrind the check is skipped, with a message.
"""

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from compiler_profile import environment, flags

ROOT: Final = Path(__file__).parent.parent
FIGURES: Final = ROOT / "tools" / "instructions.json"
RUNS: Final = ("sack 1 100 6 100", "sack 10 100 6 100", "cubic 10 100 6 100", "sack 200 100 6 100")
TOLERANCE: Final = 1.10
COUNTED: Final = "airpath_sim::simulation::Simulation::run"
"""The function in which instructions are counted."""
SET_UP: Final = "airpath_sim::simulation::Simulation::new"
FLOWS: Final = (1000, 8000)
"""Numbers of flows for which the setup of a run is counted."""
SET_UP_GROWTH: Final = 1.5
"""Maximum ratio of the setup instructions per flow for many flows to those for few flows."""


@dataclass(frozen=True)
class Figures:
    """Instruction counts, with the compiler and machine that they belong to."""

    compiler: str
    """`rustc --version`: another compiler generates other instructions."""
    machine: str
    """The kind of processor."""
    profiled: Mapping[str, float]
    """Instructions per packet-hop of each run, built with the PGO profile."""
    plain: Mapping[str, float]
    """The same without the profile."""


def verdict(counted: Figures, stored: Figures) -> tuple[list[str], bool]:
    """Compare counts; return the lines to print, and whether the check passes."""
    said, grown = [], False
    if counted.compiler != stored.compiler:
        said.append(f"the compiler is {counted.compiler}; the stored counts are for {stored.compiler}")
    kinds = ((counted.profiled, stored.profiled), (counted.plain, stored.plain))
    pairs = [(run, count, before.get(run)) for counts, before in kinds for run, count in counts.items()]
    for run, count, before in pairs:
        if before is None:
            said.append(f"{run}: no figure is stored")
            grown = True
            continue
        change = f"stored {before:8.1f} ({count / before - 1:+.1%})"
        line = f"{run:20} {count:8.1f} instructions per packet-hop, {change}"
        if count > TOLERANCE * before:
            line, grown = f"{line}: over {TOLERANCE - 1:.0%} more", True
        elif count < before / TOLERANCE:
            line = f"{line}: store the lower count, so that it is kept"
        said.append(line)
    if grown:
        said.append(
            "find the change that made runs slower. If much code is new, or Cargo.lock has changed, record"
            " the profile again: make profile. If the growth is justified, store the counts in the same"
            " commit: python3 tools/bench_instructions.py --store"
        )
    return said, not grown


def why_not(stored: Figures) -> str | None:
    """Return the reason if nothing can be compared on this machine."""
    if platform.machine() != stored.machine:
        return f"the stored counts are for {stored.machine}, this machine is {platform.machine()}"
    if shutil.which("valgrind") is None:
        return "valgrind, which counts instructions, is not installed"
    return None


def install() -> None:
    """Install valgrind if it is missing and that is possible without interaction."""
    if shutil.which("valgrind") or shutil.which("apt-get") is None or os.geteuid() != 0:
        return
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for words in (["update"], ["install", "--yes", "--no-install-recommends", "valgrind"]):
        done = subprocess.run(
            ["apt-get", "--quiet", *words], env=environment, capture_output=True, check=False
        )
        if done.returncode != 0:
            sys.stdout.write(f"apt-get {words[0]} failed ({done.returncode})\n")
            return


def build(profiled: bool) -> Path:
    """Return the program that runs scenarios, built as for release, with or without the PGO profile."""
    command = ["cargo", "build", "--quiet", "--release", "--package", "airpath-sim", "--example", "dumbbell"]
    subprocess.run(command, cwd=ROOT, env=environment(profiled), check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return target / "release" / "examples" / "dumbbell"


def counted_in(function: str, program: Path, words: str) -> tuple[int, int]:
    """Return the instructions inside a function in a run, and the packet-hops of the run."""
    tool = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    toggle = ["--collect-atstart=no", f"--toggle-collect={function}"]
    done = subprocess.run(
        [*tool, *toggle, str(program), *words.split()], capture_output=True, text=True, check=False
    )
    counted = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or counted is None or int(counted[1]) == 0:
        sys.exit(f"valgrind counted nothing in {function} ({done.returncode}):\n{done.stderr}")
    return int(counted[1]), int(json.loads(done.stdout)["packet_hops"])


def instructions(program: Path, words: str) -> float:
    """Return the instructions per packet-hop of a run."""
    count, hops = counted_in(COUNTED, program, words)
    return count / hops


def set_up(program: Path, flows: int) -> float:
    """Return the instructions per flow of the setup of a run."""
    count, _ = counted_in(SET_UP, program, f"sack {flows} 100 1 100")
    return count / flows


def set_up_verdict(few: float, many: float) -> tuple[str, bool]:
    """Compare instructions per flow of few and of many flows; return a line, and whether the check passes."""
    said = f"setup: {few:.0f} instructions per flow with {FLOWS[0]} flows, {many:.0f} with {FLOWS[1]}"
    if many > SET_UP_GROWTH * few:
        return f"{said}: more than {SET_UP_GROWTH} times as many", False
    return said, True


def compiler() -> str:
    """Return the version of the installed compiler."""
    done = subprocess.run(["rustc", "--version"], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def main() -> None:
    """Count and compare."""
    parser = argparse.ArgumentParser(description="Compare instructions per packet-hop with stored counts.")
    parser.add_argument("--install", action="store_true", help="install valgrind if it is missing")
    parser.add_argument("--store", action="store_true", help="store the new counts")
    parser.add_argument("--program", type=Path, help="program that is already built")
    parser.add_argument("--figures", type=Path, default=FIGURES, help="file with the stored counts")
    parser.add_argument("--only", action="append", choices=RUNS, help="only this run; repeatable")
    options = parser.parse_args()
    if options.store and (options.only or options.program):
        parser.error("--store builds the programs and stores the counts of all runs")
    if options.store and not flags():
        parser.error("--store needs a profile of this compiler version: make profile")
    if options.install:
        install()
    stored = Figures(**json.loads(options.figures.read_text()))
    if reason := why_not(stored):
        sys.stdout.write(f"SKIPPED: instructions are not compared: {reason}\n")
        return

    runs = options.only or RUNS
    set_ups: dict[int, float] = {}

    def count(profiled: bool) -> dict[str, float]:
        program = options.program or build(profiled)
        # Each run is a process of its own, and its count does not depend on the others.
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            if not options.only:
                set_ups.update(
                    zip(FLOWS, threads.map(lambda flows: set_up(program, flows), FLOWS), strict=True)
                )
            counts = threads.map(lambda words: instructions(program, words), runs)
            return {words: round(one, 1) for words, one in zip(runs, counts, strict=True)}

    wanted = (True, False) if options.store else (bool(flags()),)
    profiled, plain = (count(kind) if kind in wanted else {} for kind in (True, False))
    counted = Figures(compiler(), platform.machine(), profiled, plain)
    if options.store:
        options.figures.write_text(json.dumps(asdict(counted), indent=1) + "\n")
        stored = counted
    said, is_open = verdict(counted, stored)
    if set_ups:
        line, is_linear = set_up_verdict(*(set_ups[flows] for flows in FLOWS))
        said.append(line)
        is_open = is_open and is_linear
    sys.stdout.write("".join(f"{line}\n" for line in said))
    sys.exit(not is_open)


if __name__ == "__main__":
    main()

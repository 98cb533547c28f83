"""The gate against slow growth: instructions for one packet-hop, against those in tools/instructions.json.

    python tools/bench_instructions.py [--install] [--store] [--program FILE] [--figures FILE] [--only RUN]

Valgrind counts them, inside of one function: neither start-up nor whatever else the machine does is in the
count, so a growth is a change of the program, or of the compiler. What is counted is what `make bench`
builds: with what the compiler was told of runs (`tools/compiler_profile.py`) where it is the compiler that
was told, elsewhere without; figures of both are stored. Fails where a run takes over 10 % more than stored.
Whoever makes runs dearer for a reason stores the new figures (`--store`) in the same commit, where
everybody sees them. Instructions for one flow of setting up a run are compared between few and many
flows: they must not grow with the number of flows. `--install` installs valgrind where that is possible
(Debian, Ubuntu, as root). Where it is not there the gate is skipped, and says so.
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
"""Counting begins and ends with this function."""
SET_UP: Final = "airpath_sim::simulation::Simulation::new"
FLOWS: Final = (1000, 8000)
"""Numbers of flows for which the set-up of a run is counted."""
SET_UP_GROWTH: Final = 1.5
"""Most instructions of setting up one flow of many, as a multiple of those for one flow of few."""


@dataclass(frozen=True)
class Figures:
    """What was counted, and where."""

    compiler: str
    """`rustc --version`: another one makes other instructions."""
    machine: str
    """The kind of processor."""
    profiled: Mapping[str, float]
    """Instructions for one packet-hop of each run, where the compiler was told of runs."""
    plain: Mapping[str, float]
    """The same where it was not."""


def verdict(counted: Figures, stored: Figures) -> tuple[list[str], bool]:
    """Compare what was counted; returns what is to be said, and whether the gate is open."""
    said, grown = [], False
    if counted.compiler != stored.compiler:
        said.append(f"the compiler is {counted.compiler}; the stored figures are of {stored.compiler}")
    kinds = ((counted.profiled, stored.profiled), (counted.plain, stored.plain))
    pairs = [(run, count, before.get(run)) for counts, before in kinds for run, count in counts.items()]
    for run, count, before in pairs:
        if before is None:
            said.append(f"{run}: no figure is stored")
            grown = True
            continue
        change = f"stored {before:8.1f} ({count / before - 1:+.1%})"
        line = f"{run:20} {count:8.1f} instructions a packet-hop, {change}"
        if count > TOLERANCE * before:
            line, grown = f"{line}: over {TOLERANCE - 1:.0%} more", True
        elif count < before / TOLERANCE:
            line = f"{line}: store the better figure, so that it stays"
        said.append(line)
    if grown:
        said.append(
            "find out what made runs dearer. If much is new to the compiler, or Cargo.lock has changed:"
            " make profile. If it must be, store the figures in the same commit:"
            " python3 tools/bench_instructions.py --store"
        )
    return said, not grown


def why_not(stored: Figures) -> str | None:
    """Return why nothing can be compared here, if so."""
    if platform.machine() != stored.machine:
        return f"the stored figures are of {stored.machine}, this is {platform.machine()}"
    if shutil.which("valgrind") is None:
        return "valgrind is not installed, and nothing else here counts instructions"
    return None


def install() -> None:
    """Install valgrind where it is missing and that can be done without asking."""
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
    """Return the program that runs scenarios, built as for release: the compiler is told of runs, or not."""
    command = ["cargo", "build", "--quiet", "--release", "--package", "airpath-sim", "--example", "dumbbell"]
    subprocess.run(command, cwd=ROOT, env=environment(profiled), check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return target / "release" / "examples" / "dumbbell"


def counted_in(function: str, program: Path, words: str) -> tuple[int, int]:
    """Return the instructions inside of a function in a run, and the packet-hops of the run."""
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
    """Return the instructions for one packet-hop of a run."""
    count, hops = counted_in(COUNTED, program, words)
    return count / hops


def set_up(program: Path, flows: int) -> float:
    """Return the instructions for one flow of setting up a run."""
    count, _ = counted_in(SET_UP, program, f"sack {flows} 100 1 100")
    return count / flows


def set_up_verdict(few: float, many: float) -> tuple[str, bool]:
    """Compare instructions for one flow of few and of many; return a line, and whether the gate is open."""
    said = f"set-up: {few:.0f} instructions a flow of {FLOWS[0]}, {many:.0f} of {FLOWS[1]}"
    if many > SET_UP_GROWTH * few:
        return f"{said}: more than {SET_UP_GROWTH} times as many", False
    return said, True


def compiler() -> str:
    """Return the version of the compiler that builds here."""
    done = subprocess.run(["rustc", "--version"], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def main() -> None:
    """Count and compare."""
    parser = argparse.ArgumentParser(description="Instructions for one packet-hop against stored figures.")
    parser.add_argument("--install", action="store_true", help="install valgrind if it is missing")
    parser.add_argument("--store", action="store_true", help="store what is counted")
    parser.add_argument("--program", type=Path, help="the built program, if there is one")
    parser.add_argument("--figures", type=Path, default=FIGURES, help="the stored figures")
    parser.add_argument("--only", action="append", choices=RUNS, help="this run; can be given again")
    options = parser.parse_args()
    if options.store and (options.only or options.program):
        parser.error("--store builds the programs and stores the figures of all runs")
    if options.store and not flags():
        parser.error("--store needs the compiler that was told of runs: make profile")
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
        # Each run is a process of its own, whose count does not depend on the others.
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

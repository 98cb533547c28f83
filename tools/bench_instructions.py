"""Check for performance regressions: compare instructions per packet-hop with tools/instructions.json.

    python tools/bench_instructions.py [--install | --store] [--figures FILE] [--only RUN]

Valgrind counts instructions inside one function of the engine, so neither start-up nor other load on the
machine is counted: a difference comes from a change of the engine or of the compiler. It is the engine that
Python loads, built with the PGO profile (`tools/compiler_profile.py`) if this compiler version recorded it,
otherwise without; counts of both builds are stored. The check fails if a run takes over 10 % more than
stored. A commit that makes runs slower for a reason also stores the new counts (`--store`), where reviewers
see them. Instructions per flow of the setup of a run are compared between few and many flows: they must not
grow with the number of flows. Without valgrind the check is skipped, with a message; `--install` installs it
if that is possible (Debian, Ubuntu, as root).
"""

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from compiler_profile import environment, flags

ROOT: Final = Path(__file__).parent.parent
FIGURES: Final = ROOT / "tools" / "instructions.json"
RUNS: Final = ("newreno 1", "newreno 10", "cubic 10", "newreno 200")
"""Scheme and number of flows of each run."""
TOLERANCE: Final = 1.10
COUNTED: Final = "airpath_sim::simulation::Simulation::run"
"""The function in which instructions are counted."""
SET_UP: Final = "airpath_sim::simulation::Simulation::with_components"
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
            " commit: .venv/bin/python tools/bench_instructions.py --store"
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


def installed() -> Path:
    """Return the engine that Python loads."""
    from airpath import _core

    return Path(_core.__file__)


def built(profiled: bool, folder: Path) -> Path:
    """Build the engine with or without the PGO profile, and return the library."""
    maturin = Path(sys.executable).parent / "maturin"
    command = [str(maturin), "build", "--release", "--quiet", "--out", str(folder)]
    subprocess.run(command, cwd=ROOT, env=environment(profiled), check=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as content:
        (name,) = (name for name in content.namelist() if name.endswith(".so"))
        return Path(content.extract(name, folder))


def dumbbell(scheme: str, flows: int) -> dict[str, Any]:
    """Return a scenario: flows with side links of their own over 100 Mbit/s and 60 ms."""
    bottleneck = {"rate": "100mbps", "delay": "20ms", "queue": {"kind": "drop-tail", "limit": "1bdp"}}
    flow = {"name": "flow", "scheme": scheme, "count": flows, "start": {"uniform": ["0s", "1s"]}}
    return {
        "name": "counted",
        "duration": "6s",
        "record": {"warm_up": "1s"},
        "topology": {
            "kind": "dumbbell",
            "bottleneck": bottleneck,
            "access": {"rate": "1gbps", "delay": "5ms"},
        },
        "flows": [flow],
    }


PROGRAM: Final = """
import sys
from importlib.util import module_from_spec, spec_from_file_location
spec = spec_from_file_location("_core", sys.argv[1])
core = module_from_spec(spec)
spec.loader.exec_module(core)
with open(sys.argv[2]) as plan:
    simulation = core.Simulation(plan.read(), [], 1)
if sys.argv[3] == "run":
    _, _, counts = simulation.run()
    print(counts["packet_hops"])
"""
"""Sets up a plan in an engine, and runs it, without the rest of airpath."""


def counted_in(function: str, engine: Path, scenario: dict[str, Any], what: str) -> tuple[int, str]:
    """Return the instructions inside a function of an engine, and the output of the program."""
    # Imported here, because `--install` runs before airpath is installed.
    from airpath import Scenario

    tool = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    toggle = ["--collect-atstart=no", f"--toggle-collect={function}"]
    with tempfile.NamedTemporaryFile("w", suffix=".json") as plan:
        json.dump(Scenario.from_dict(scenario).plan(), plan)
        plan.flush()
        program = [sys.executable, "-P", "-c", PROGRAM, str(engine), plan.name, what]
        done = subprocess.run([*tool, *toggle, *program], capture_output=True, text=True, check=False)
    counted = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or counted is None or int(counted[1]) == 0:
        sys.exit(f"valgrind counted nothing in {function} ({done.returncode}):\n{done.stderr}")
    return int(counted[1]), done.stdout


def instructions(engine: Path, run: str) -> float:
    """Return the instructions per packet-hop of a run."""
    scheme, flows = run.split()
    count, hops = counted_in(COUNTED, engine, dumbbell(scheme, int(flows)), "run")
    return count / int(hops)


def set_up(engine: Path, flows: int) -> float:
    """Return the instructions per flow of the setup of a run."""
    count, _ = counted_in(SET_UP, engine, dumbbell("newreno", flows), "set-up")
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
    parser.add_argument(
        "--install", action="store_true", help="install valgrind if it is missing, and count nothing"
    )
    parser.add_argument("--store", action="store_true", help="store the new counts")
    parser.add_argument("--figures", type=Path, default=FIGURES, help="file with the stored counts")
    parser.add_argument("--only", action="append", choices=RUNS, help="only this run; repeatable")
    options = parser.parse_args()
    if options.store and options.only:
        parser.error("--store builds the engines and stores the counts of all runs")
    if options.store and not flags():
        parser.error("--store needs a profile of this compiler version: make profile")
    if options.install:
        install()
        return
    stored = Figures(**json.loads(options.figures.read_text()))
    if reason := why_not(stored):
        sys.stdout.write(f"SKIPPED: instructions are not compared: {reason}\n")
        return

    runs = options.only or RUNS
    set_ups: dict[int, float] = {}

    def count(profiled: bool) -> dict[str, float]:
        with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as threads:
            engine = built(profiled, Path(folder)) if options.store else installed()
            if not options.only:
                set_ups.update(
                    zip(FLOWS, threads.map(lambda flows: set_up(engine, flows), FLOWS), strict=True)
                )
            # Each run is a process of its own, and its count does not depend on the others.
            counts = threads.map(lambda run: instructions(engine, run), runs)
            return {run: round(one, 1) for run, one in zip(runs, counts, strict=True)}

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

"""Instructions for one packet-hop, counted by valgrind, against those stored in tools/instructions.json.

    python tools/bench_instructions.py [--store]

Counts do not depend on how busy the machine is, so a growth is a change of the program, or of the compiler.
Fails where a run takes over 10 % more than stored; `--store` writes new figures. Skipped where there is no
valgrind.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent
STORED: Final = ROOT / "tools" / "instructions.json"
RUNS: Final = ("sack 1 100 6 100", "sack 10 100 6 100", "cubic 10 100 6 100", "sack 200 100 6 100")
TOLERANCE: Final = 1.10
COUNTED: Final = "airpath_sim::simulation::Simulation::run"
"""Counting begins and ends with this function."""


def instructions(program: Path, words: str) -> float:
    """Return the instructions for one packet-hop of a run."""
    tool = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    toggle = ["--collect-atstart=no", f"--toggle-collect={COUNTED}"]
    command = [*tool, *toggle, str(program), *words.split()]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    counted = re.search(r"Collected : (\d+)", done.stderr)
    if counted is None or int(counted[1]) == 0:
        sys.exit(f"valgrind counted nothing in {COUNTED}:\n{done.stderr}")
    return int(counted[1]) / int(json.loads(done.stdout)["packet_hops"])


def main() -> None:
    """Count and compare."""
    parser = argparse.ArgumentParser(description="Instructions for one packet-hop against stored figures.")
    parser.add_argument("--store", action="store_true", help="store what is counted")
    options = parser.parse_args()
    if shutil.which("valgrind") is None:
        sys.stdout.write("skipped: valgrind is not installed, and nothing else here counts instructions\n")
        return

    build = ["cargo", "build", "--quiet", "--release", "--package", "airpath-sim", "--example", "dumbbell"]
    subprocess.run(build, cwd=ROOT, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    program = target / "release" / "examples" / "dumbbell"
    counts = {words: round(instructions(program, words), 1) for words in RUNS}
    if options.store:
        STORED.write_text(json.dumps(counts, indent=1) + "\n")
    stored = json.loads(STORED.read_text())
    for words, count in counts.items():
        line = f"{words:20} {count:8.1f} instructions a packet-hop, stored {stored[words]:8.1f}"
        sys.stdout.write(f"{line}\n")
    grown = [words for words, count in counts.items() if count > TOLERANCE * stored[words]]
    if grown:
        sys.exit(f"over {TOLERANCE - 1:.0%} more than stored: {', '.join(grown)}")


if __name__ == "__main__":
    main()

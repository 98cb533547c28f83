"""Feed corrupted input to everything that parses external data, for some minutes in all.

Three programs run one after the other: the Rust targets, the daemon of the Linux datapath if it can be built,
and the Python readers. All of them take their mutations from `crates/fuzz`. The exit code is 1 if an input
failed. `docs/development/fuzzing.md` has the details.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import fuzz_readers

ROOT = Path(__file__).parent.parent
BUILD = ["cargo", "build", "--quiet", "--profile", "fuzz"]
SHARES = {"rust": 0.55, "daemon": 0.1, "python": 0.35}
"""Fraction of the time for each program."""
FOLDERS = {
    "AIRPATH_CAPTURES": "captures",
    "AIRPATH_QLOGS": "qlogs",
    "AIRPATH_TRACES": "traces",
    "AIRPATH_LINK_LOGS": "link-logs",
    "AIRPATH_PLANS": "plans",
    "AIRPATH_SCENARIOS": "scenarios",
    "AIRPATH_LOSSES": "losses",
    "AIRPATH_SETUPS": "setups",
}
"""Environment variables that name folders with further seeds, and the target of each."""


def main() -> int:
    """Build and feed; return the exit code, 1 if something failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("minutes", type=float)
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "fuzz", help="folder for failing inputs")
    options = parser.parse_args()
    out: Path = options.out.resolve()
    seeds = out / "seeds"
    fuzz_readers.write_seeds(seeds)
    more = [(name, os.environ[variable]) for variable, name in FOLDERS.items() if os.environ.get(variable)]
    for name, folder in more:
        fuzz_readers.add_seeds(seeds / name, Path(folder))

    subprocess.run([*BUILD, "-p", "airpath-fuzz", "--example", "fuzz"], cwd=ROOT, check=True)
    programs = _folder_of_programs()
    arguments: list[str | Path] = ["out", out, "seeds", "plans", seeds / "plans"]
    for name, folder in more:
        if name in ("captures", "qlogs", "traces", "link-logs"):
            arguments += ["seeds", name, Path(folder).resolve()]
    minutes = {name: share * options.minutes for name, share in SHARES.items()}
    failed = _run([programs / "fuzz", str(minutes["rust"]), *arguments])

    # Prints the reason if this machine cannot build it.
    build = [*BUILD, "-p", "airpath-linux", "--example", "fuzz_daemon"]
    subprocess.run([ROOT / "tools" / "prerequisites-linux", *build], cwd=ROOT, check=True)
    if (programs / "fuzz_daemon").exists():
        failed |= _run([programs / "fuzz_daemon", str(minutes["daemon"]), "out", out])
    failed |= not fuzz_readers.feed_all(programs / "fuzz", seeds, out, minutes["python"], [])
    return int(failed)


def _run(command: list[str | Path]) -> bool:
    return subprocess.run(command, cwd=ROOT, check=False).returncode != 0


def _folder_of_programs() -> Path:
    said = subprocess.run(
        ["cargo", "metadata", "--format-version", "1", "--no-deps"], cwd=ROOT, check=True, capture_output=True
    )
    return Path(json.loads(said.stdout)["target_directory"]) / "fuzz" / "examples"


if __name__ == "__main__":
    sys.exit(main())

"""What the compiler is told of runs: profile-guided optimisation of what `make build` and `make bench` build.

    python tools/compiler_profile.py            (`make profile`) measure anew, and store it
    python tools/compiler_profile.py --flags    the compiler's flags for release builds here

Runs then take an eighth fewer instructions. In the profile, `tools/compiler_profile/airpath.profdata`,
functions go by the names that the compiler gives them. They change with the compiler, with `Cargo.lock` and
with the features of what is built, but not with the place of the checkout. With another compiler than the
stored one nothing is used: builds are as without it. After a change of `Cargo.lock`, or of much of the
engine, measure anew; `make bench-instructions` fails before it is forgotten.

It is measured over runs of every kind, through the program that is benchmarked and through the extension that
Python loads. A function that no run calls is not in it, and is compiled as ever. What a run computes does not
depend on it.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent
STORED: Final = ROOT / "tools" / "compiler_profile"
PROFILE: Final = STORED / "airpath.profdata"
COMPILER: Final = STORED / "compiler.txt"
"""The compiler that the profile is for."""
TARGET: Final = ROOT / "target" / "profile"
FLAGS: Final = "CARGO_BUILD_RUSTFLAGS"
"""Where cargo looks for flags last, so that nobody's own are overruled."""

DUMBBELLS: Final = (
    "sack 1 100 30 100",
    "cubic 1 100 30 100",
    "sack 10 100 30 100",
    "cubic 10 100 30 100",
    "sack 100 100 20 100",
    "sack 1000 100 10 100",
    "sack 10 1000 5 100 packets",
)
COMMANDS: Final = (
    "compare newreno cubic cubic-ebe westwood+ sarbe bbr copa vegas ledbat++ xcp xcp-b xcp-ebe vcp vcp-ebe"
    " qfcp mpcp --link lte.down --reps 1 --jobs 1 --out {out}/compare",
    "run two-way --reps 1 --jobs 1 --packets --capture bottleneck --out {out}/captured",
)
EVERY: Final = 53
"""One of so many experiments of the figures is run, once."""


def flags() -> str:
    """Return the compiler's flag for release builds here; nothing where the profile does not fit.

    It is for another compiler, or somebody gives flags of their own (RUSTFLAGS), beside which cargo takes no
    others, or the path has a space, which a flag cannot have.
    """
    fits = PROFILE.is_file() and COMPILER.is_file() and COMPILER.read_text() == compiler()
    free = not os.environ.get("RUSTFLAGS") and " " not in str(PROFILE)
    return f"-Cprofile-use={PROFILE}" if fits and free else ""


def environment(profiled: bool = True) -> dict[str, str]:
    """Return the environment for release builds: what is set here, and the flag."""
    others = {name: value for name, value in os.environ.items() if name != FLAGS}
    return {**others, FLAGS: flags()} if profiled and flags() else others


def compiler() -> str:
    """Return what the compiler here says of itself."""
    try:
        return subprocess.run(
            ["rustc", "--version", "--verbose"], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""


def measure() -> None:
    """Build with counters, run, store."""
    merge = find_llvm_profdata()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        counts = TARGET / "counts"  # in the compiler's flags: of another place all would be built again
        shutil.rmtree(counts, ignore_errors=True)
        building = {
            **environment(profiled=False),
            "CARGO_TARGET_DIR": str(TARGET),
            "RUSTFLAGS": f"-Cprofile-generate={counts}",
            # Programs that run while others are built count too; nobody wants to know.
            "LLVM_PROFILE_FILE": str(folder / "ignored" / "%m.profraw"),
        }
        example = ["--package", "airpath-sim", "--example", "dumbbell"]
        call(["cargo", "build", "--release", *example], building)
        maturin = shutil.which("maturin", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
        call([maturin or "maturin", "build", "--release", "--out", str(folder)], building)
        package = folder / "package"
        zipfile.ZipFile(next(folder.glob("*.whl"))).extractall(package)

        counting = {**os.environ, "PYTHONPATH": str(package)}
        program = TARGET / "release" / "examples" / "dumbbell"
        for words in DUMBBELLS:
            call([str(program), *words.split()], counting)
        call([sys.executable, __file__, "--experiments", str(program)], counting)
        for words in COMMANDS:
            call([sys.executable, "-m", "airpath", *words.format(out=folder).split()], counting)
        captures = [str(file) for file in sorted((folder / "captured").rglob("*.pcapng"))]
        call([sys.executable, "-m", "airpath", "estimate", *captures, "--out", f"{folder}/e"], counting)

        STORED.mkdir(exist_ok=True)
        files = [str(file) for file in sorted(counts.glob("*.profraw"))]
        call([merge, "merge", "--sparse", "--output", str(PROFILE), *files], os.environ)
    COMPILER.write_text(compiler())
    sys.stdout.write(f"{PROFILE}: {PROFILE.stat().st_size / 1e6:.1f} MB\n")


def run_experiments(program: Path) -> None:
    """Run a part of the experiments of all figures, here and by the program that is benchmarked."""
    from airpath._run.workers import run_job
    from airpath_papers.kept_run import job_of
    from airpath_papers.registry import FIGURES

    experiments = {
        experiment.key(): experiment for figure in FIGURES for experiment in figure.all_experiments()
    }
    for experiment in list(experiments.values())[::EVERY]:
        job = job_of(experiment, 0)
        run_job(job)
        if not job.scenario.traces:
            with tempfile.NamedTemporaryFile("w", suffix=".json") as plan:
                json.dump(job.plan, plan)
                plan.flush()
                call([str(program), plan.name], os.environ)


def find_llvm_profdata() -> str:
    """Return the tool that merges counts, of the same version as the compiler."""
    shown = subprocess.run(
        ["rustc", "--print", "sysroot"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for file in Path(shown.stdout.strip()).glob("lib/rustlib/*/bin/llvm-profdata"):
        return str(file)
    sys.exit("llvm-profdata of the compiler's version is not there: rustup component add llvm-tools")


def call(command: Sequence[str], environment: Mapping[str, str]) -> None:
    """Run a command whose output is of interest only if it fails."""
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed ({done.returncode}):\n{done.stdout}{done.stderr}")


def main() -> None:
    """Print flags, or measure."""
    parser = argparse.ArgumentParser(description="What the compiler is told of runs.")
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--flags", action="store_true", help="print the compiler's flags for release builds here"
    )
    what.add_argument("--experiments", type=Path, help="only run experiments, also by this program")
    options = parser.parse_args()
    if options.flags:
        sys.stdout.write(f"{flags()}\n")
    elif options.experiments:
        run_experiments(options.experiments)
    else:
        measure()


if __name__ == "__main__":
    main()

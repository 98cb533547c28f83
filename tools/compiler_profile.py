"""Profile-guided optimisation (PGO) of the builds of `make build` and `make bench`.

    python tools/compiler_profile.py            (`make profile`) record a new profile, and store it
    python tools/compiler_profile.py --flags    print the compiler's flags for release builds here

With the profile, runs take an eighth fewer instructions. The profile,
`tools/compiler_profile/airpath.profdata`, identifies functions by the names that the compiler generates. They
change with the compiler, with `Cargo.lock` and with the features of the build, but not with the place of the
checkout. With another compiler than the stored one, builds do not use the profile. After a change of
`Cargo.lock`, or of much of the engine, record it again; `make bench-instructions` fails if this was
forgotten.

The profile is recorded over runs of every kind, through the benchmark program and through the extension that
Python loads. A function that no run calls is not in the profile, and is compiled as usual. Results of runs do
not depend on the profile.
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
"""The compiler version that the profile is for."""
TARGET: Final = ROOT / "target" / "profile"
FLAGS: Final = "CARGO_BUILD_RUSTFLAGS"
"""The variable that cargo reads last, so that the user's own flags take precedence."""

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
"""The step between the experiments of the figures that are run, each once."""


def flags() -> str:
    """Return the compiler's flags for release builds here; empty if the profile cannot be used.

    Functions that changed since the recording are compiled without it, and without a warning. The profile
    cannot be used if it is for another compiler, if the user sets flags (RUSTFLAGS), with which cargo ignores
    all others, or if the path contains a space, which flags do not permit.
    """
    fits = PROFILE.is_file() and COMPILER.is_file() and COMPILER.read_text() == compiler()
    free = not os.environ.get("RUSTFLAGS") and " " not in str(PROFILE)
    return f"-Cprofile-use={PROFILE} -Cllvm-args=-no-pgo-warn-mismatch" if fits and free else ""


def environment(profiled: bool = True) -> dict[str, str]:
    """Return the environment for release builds: the current one, and the flags."""
    others = {name: value for name, value in os.environ.items() if name != FLAGS}
    return {**others, FLAGS: flags()} if profiled and flags() else others


def compiler() -> str:
    """Return the version text of the installed compiler."""
    try:
        return subprocess.run(
            ["rustc", "--version", "--verbose"], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""


def measure() -> None:
    """Build with counters, run, and store the profile."""
    merge = find_llvm_profdata()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        counts = TARGET / "counts"  # a compiler flag: another place would rebuild everything
        shutil.rmtree(counts, ignore_errors=True)
        building = {
            **environment(profiled=False),
            "CARGO_TARGET_DIR": str(TARGET),
            "RUSTFLAGS": f"-Cprofile-generate={counts}",
            # Programs that run during the build are instrumented too; their counts are ignored.
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
    """Run a part of the experiments of all figures, here and with the benchmark program."""
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
    """Return the tool that merges counts, in the compiler's version."""
    shown = subprocess.run(
        ["rustc", "--print", "sysroot"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for file in Path(shown.stdout.strip()).glob("lib/rustlib/*/bin/llvm-profdata"):
        return str(file)
    sys.exit("found no llvm-profdata of the compiler's version; install it: rustup component add llvm-tools")


def call(command: Sequence[str], environment: Mapping[str, str]) -> None:
    """Run a command; print its output only if it fails."""
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed ({done.returncode}):\n{done.stdout}{done.stderr}")


def main() -> None:
    """Print flags, or record a profile."""
    parser = argparse.ArgumentParser(description="Record the PGO profile, or print the flags that use it.")
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--flags", action="store_true", help="print the compiler's flags for release builds here"
    )
    what.add_argument("--experiments", type=Path, help="only run the experiments, also with this program")
    options = parser.parse_args()
    if options.flags:
        sys.stdout.write(f"{flags()}\n")
    elif options.experiments:
        run_experiments(options.experiments)
    else:
        measure()


if __name__ == "__main__":
    main()

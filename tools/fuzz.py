"""Fuzz everything that parses external data with libFuzzer, for some minutes in all: `make fuzz`.

The targets in Rust are in `crates/fuzz`, those in Python in `tools/fuzz_readers.py`. As many run at the same
time as there are processors, each for an equal time. The exit code is 1 if an input failed.
`docs/development/fuzzing.md` has the details.
"""

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import fuzz_readers

ROOT: Final = Path(__file__).parent.parent
COVERAGE: Final = (
    "-Cpasses=sancov-module",
    *(
        f"-Cllvm-args=-sanitizer-coverage-{part}"
        for part in ("level=4", "inline-8bit-counters", "pc-table", "trace-compares")
    ),
)
"""Options of the compiler for libFuzzer's measurement of coverage."""
LIMITS: Final = ("-timeout=120", "-report_slow_units=120", "-rss_limit_mb=2048", "-max_len=131072")
"""Limits of an input: elapsed seconds, memory of the process, bytes."""
FOLDERS: Final = {
    "AIRPATH_QLOGS": "qlogs",
    "AIRPATH_TRACES": "traces",
    "AIRPATH_LINK_LOGS": "link-logs",
    "AIRPATH_PLANS": "plans",
    "AIRPATH_SCENARIOS": "scenarios",
    "AIRPATH_LOSSES": "losses",
    "AIRPATH_SETUPS": "setups",
}
"""Environment variables that name folders with further seeds, and the target of each. The target of captures
reads its own, because they may be compressed.
"""
WORD: Final = re.compile(rb"[A-Za-z_][\w.-]{2,30}|\d+(?:\.\d+)?(?:e-?\d+)?[A-Za-z]{0,6}")
NUMBERS: Final = """
0 1 -1 2 0.5 -0.0 1.0 1e-13 5e-324 1e-320 1e308 1e309 -1e308 nan inf -inf null true [] {} 255 65536
1000000000 2147483648 4294967295 4294967296 9007199254740993 9223372036854775807
18446744073709551615 18446744073709551616
99999999999999999999999999999999999999
"""
"""Values that parsers often mishandle, separated by spaces."""
REPEATED: Final = ("[", "{", "(", '{"a":', "[[", "9", "a.", " ", "\n", "ü")
"""Pieces that nest, and pieces that make input long."""
TIMES: Final = 4096
"""How often a long seed repeats a piece."""


@dataclass(frozen=True)
class Target:
    """A program that libFuzzer runs."""

    name: str
    command: tuple[str | Path, ...]
    environment: Mapping[str, str]


def main() -> int:
    """Build and fuzz; return the exit code, 1 if something failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("minutes", type=float)
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "fuzz", help="folder for failing inputs")
    parser.add_argument("--only", action="append", help="only this target; repeatable")
    options = parser.parse_args()
    out: Path = options.out.resolve()
    seeds = out / "seeds"
    fuzz_readers.write_seeds(seeds)
    for variable, name in FOLDERS.items():
        if folder := os.environ.get(variable):
            fuzz_readers.add_seeds(seeds / name, Path(folder))
    targets = [*in_rust(seeds), *in_python(seeds)]
    for target in targets:
        write_long_seeds(seeds / target.name)
    if options.only:
        targets = [target for target in targets if target.name in options.only]
    at_once = os.cpu_count() or 1
    seconds = max(1, round(60 * options.minutes * min(at_once, len(targets)) / len(targets)))
    sys.stdout.write(f"{'target':14} {'inputs':>9} {'coverage':>9} {'slowest':>9}\n")
    with ThreadPoolExecutor(at_once) as pool:
        passed = list(pool.map(lambda target: fuzz(target, seconds, seeds, out), targets))
    return int(not all(passed))


def in_rust(seeds: Path) -> list[Target]:
    """Build the targets in Rust, write their seeds, and return them."""
    # Prints the reason if this machine cannot build the Linux datapath.
    has_daemon = "yes" in _output("tools/prerequisites-linux", "echo", "yes").split()
    host = re.search(r"^host: (.*)$", _output("rustc", "--version", "--verbose"), re.MULTILINE)
    assert host is not None
    built = ROOT / "target" / "fuzz"
    build: list[str | Path] = ["cargo", "build", "--quiet", "--profile", "fuzz", "--target-dir", built]
    build += ["--package", "airpath-fuzz", "--features", "libfuzzer,daemon" if has_daemon else "libfuzzer"]
    build += ["--target", host[1]]  # if there is one, build scripts and macros are not instrumented
    flags = {"CARGO_ENCODED_RUSTFLAGS": "\x1f".join(COVERAGE)}
    subprocess.run(build, cwd=ROOT, check=True, env={**os.environ, **flags})
    program, own = built / host[1] / "fuzz" / "airpath-fuzz", seeds / "rust"
    writing = {**os.environ, "AIRPATH_FUZZ_SEEDS": str(own)}
    subprocess.run([program], check=True, env=writing, capture_output=True)
    for folder in sorted(own.iterdir()):
        fuzz_readers.add_seeds(seeds / folder.name, folder)
    names = sorted(folder.name for folder in own.iterdir())
    return [Target(name, (program,), {"AIRPATH_FUZZ_TARGET": name}) for name in names]


def in_python(seeds: Path) -> list[Target]:
    """Return the targets in Python."""
    script = Path(__file__).with_name("fuzz_reader.py")
    return [Target(name, (sys.executable, script, name, seeds), {}) for name in fuzz_readers.TARGETS]


def fuzz(target: Target, seconds: int, seeds: Path, out: Path) -> bool:
    """Run a target, print the result, and return whether no input failed."""
    corpus, dictionary, log = (out / part / target.name for part in ("corpus", "words", "logs"))
    for folder in (corpus, dictionary.parent, log.parent):
        folder.mkdir(parents=True, exist_ok=True)
    dictionary.write_text(words(seeds / target.name))
    command = [*target.command, corpus, seeds / target.name, *LIMITS, f"-max_total_time={seconds}"]
    command += [f"-dict={dictionary}", f"-artifact_prefix={out / target.name}-", "-print_final_stats=1"]
    with log.open("wb") as output:
        done = subprocess.run(
            command, env={**os.environ, **target.environment}, stdout=output, stderr=output, check=False
        )
    said = log.read_text(errors="replace")
    inputs, slowest = (
        next(iter(re.findall(rf"stat::{name}:\s*(\d+)", said)), "?")
        for name in ("number_of_executed_units", "slowest_unit_time_sec")
    )
    coverage = (re.findall(r"\bcov: (\d+)", said) or ["?"])[-1]
    failed = f"  failed: {log}" if done.returncode else ""
    sys.stdout.write(f"{target.name:14} {inputs:>9} {coverage:>9} {slowest:>7} s{failed}\n")
    sys.stdout.flush()
    if done.returncode:
        sys.stderr.write(said[-3000:])
    return done.returncode == 0


def write_long_seeds(folder: Path) -> None:
    """Add seeds whose first value is a piece repeated many times; only to seeds that are text."""
    for content in texts(folder)[:1]:
        begin = re.search(rb"[=:]\s*|\n|$", content)
        assert begin is not None
        for number, piece in enumerate(REPEATED):
            long = content[: begin.end()] + piece.encode() * TIMES + content[begin.end() :]
            (folder / f"long-{number}").write_bytes(long)


def texts(folder: Path) -> list[bytes]:
    """Return the seeds that are text, without the long ones."""
    contents = [file.read_bytes() for file in sorted(folder.iterdir()) if not file.name.startswith("long-")]
    return [content for content in contents if b"\0" not in content]


def words(folder: Path) -> str:
    """Return libFuzzer's dictionary of the words and numbers of some seeds."""
    found = {number.encode() for number in NUMBERS.split()}
    for content in texts(folder):
        found.update(WORD.findall(content[:20_000]))
    return "".join(f'"{word.decode()}"\n' for word in sorted(found))


def _output(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


if __name__ == "__main__":
    sys.exit(main())

"""Time short commands: `make bench-commands`.

    python tools/bench_commands.py [--runs COUNT]

Prints the seconds from the start of each command until its table is printed and until it ends.
"""

import argparse
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Final

COMMANDS: Final = (
    "--help",
    "list",
    "validate lte-download",
    "compare cubic bbr --link 12mbps --duration 30s --no-report",
    "compare newreno vegas cubic cubic-ebe westwood+ sarbe bbr copa xcp xcp-ebe vcp-ebe --link lte.down"
    " --no-report",
    "compare cubic bbr --link 20mbps --loss 1% --reps 5",
)
LAST_LINE: Final = b"goodput is known"
"""Start of the last line that a comparison prints before it writes tables."""


def timed(command: str, folder: str) -> tuple[float, float]:
    """Return the seconds until the table of a command is printed and until the command ends."""
    began_s = time.perf_counter()
    table_s = None
    arguments = [sys.executable, "-m", "airpath", *shlex.split(command)]
    with subprocess.Popen(
        arguments, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=folder
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith(LAST_LINE):
                table_s = time.perf_counter() - began_s
    ended_s = time.perf_counter() - began_s
    if process.returncode != 0:
        sys.exit(f"airpath {command}: exit code {process.returncode}")
    return (ended_s if table_s is None else table_s), ended_s


def main() -> None:
    """Print the median and the minimum time of each command."""
    parser = argparse.ArgumentParser(description="Time short commands.")
    parser.add_argument("--runs", type=int, default=5, help="runs of each command (5)")
    runs = parser.parse_args().runs
    sys.stdout.write("table: median (minimum), end: median (minimum), in seconds\n")
    with tempfile.TemporaryDirectory() as folder:
        for command in COMMANDS:
            tables, ends = zip(*(timed(command, folder) for _ in range(runs)), strict=True)
            cells = (f"{statistics.median(times):.2f} ({min(times):.2f})" for times in (tables, ends))
            sys.stdout.write(f"{'  '.join(cells)}  airpath {command}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()

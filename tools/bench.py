"""What whole runs cost, and what the same runs cost in ns-2: writes bench.json, prints a table.

    python tools/bench.py [--runs N] [--large] [--out bench.json]

Each scenario runs in a process of its own, N times (5) and, where `ns` is installed, in turns with ns-2 on
the script `tools/ns2/dumbbell.tcl`. Figures are medians. CPU is that of the whole process from start to end,
set-up included, as the kernel counts it; `ratio_to_ns2` is ns-2's over ours. A packet-hop is one packet over
one link, data and acknowledgments alike. `--large` adds 10 000 flows over 1 Gbit/s and 10^9 packet-hops,
which take minutes, in ns-2 longer.
"""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parent.parent
SCRIPT: Final = ROOT / "tools" / "ns2" / "dumbbell.tcl"
SERIES_MS: Final = 100
"""Width of a row of the series, as in every scenario by default."""


HEADER: Final = (
    "scheme  flows  Mbps series  packet-hops    CPU s  setup ms peak MiB  Mhop/s  ns2 CPU  ns2 MiB  ratio\n"
)


@dataclass(frozen=True)
class Dumbbell:
    """One scenario."""

    scheme: str
    flows: int
    mbps: int = 100
    seconds: int = 60
    interval_ms: int = SERIES_MS
    large: bool = False
    ns2: bool = True
    """Whether ns-2 runs it too."""


DUMBBELLS: Final = (
    *(Dumbbell(scheme, flows) for scheme in ("sack", "cubic") for flows in (1, 10, 100, 1000)),
    Dumbbell("sack", 10, mbps=1000),
    # Without a series (one row at the end of the warm-up and five more), to see what the series costs.
    *(Dumbbell("sack", flows, interval_ms=10_000, ns2=False) for flows in (1, 10, 100, 1000)),
    Dumbbell("sack", 10_000, mbps=1000, large=True),
    Dumbbell("sack", 10, mbps=1000, seconds=2700, interval_ms=1000, large=True, ns2=False),
)


@dataclass
class Cost:
    """What one process cost, or the medians of several."""

    packet_hops: float
    cpu_s: float
    setup_s: float
    peak_mib: float


def run(command: Sequence[str]) -> Cost:
    """Run a command that writes an object of JSON; its CPU time is the kernel's count."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        # Whatever else ns-2 writes may stand in the same line.
        found = re.search(r"\{[^{}]*\}", process.stdout.read())
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0 or found is None:
        sys.exit(f"{' '.join(command)} failed ({process.returncode})")
    said: dict[str, Any] = json.loads(found[0])
    cpu_s = usage.ru_utime + usage.ru_stime
    return Cost(said["packet_hops"], cpu_s, said["setup_wall_s"], said["peak_mib"])


def medians(costs: Sequence[Cost]) -> Cost:
    """Return the median of each figure."""
    columns = zip(*(astuple(cost) for cost in costs), strict=True)
    return Cost(*(statistics.median(column) for column in columns))


def measure(dumbbell: Dumbbell, ours: Path, ns: str | None, runs: int) -> dict[str, Any]:
    """Run one scenario here and in ns-2 in turns; one row of the file."""
    words = [dumbbell.scheme, *map(str, (dumbbell.flows, dumbbell.mbps, dumbbell.seconds))]
    here: list[Cost] = []
    there: list[Cost] = []
    for _ in range(runs):
        here.append(run([str(ours), *words, str(dumbbell.interval_ms)]))
        if ns and dumbbell.ns2:
            there.append(run([ns, str(SCRIPT), *words]))
    return {
        "scheme": dumbbell.scheme,
        "flows": dumbbell.flows,
        "mbps": dumbbell.mbps,
        "seconds": dumbbell.seconds,
        "series_ms": dumbbell.interval_ms,
        "runs": runs,
        **figures(medians(here)),
        "cpu_s_all": sorted(round(cost.cpu_s, 4) for cost in here),
        "ns2": figures(medians(there)) if there else None,
        "ratio_to_ns2": round(medians(there).cpu_s / medians(here).cpu_s, 2) if there else None,
    }


def figures(cost: Cost) -> dict[str, float]:
    """Return the figures of one side."""
    rounded = {name: round(value, 6) for name, value in asdict(cost).items()}
    return {**rounded, "hops_per_s": round(cost.packet_hops / cost.cpu_s)}


def show(row: dict[str, Any]) -> None:
    """Print one row of the table."""
    here = (
        f"{row['scheme']:6} {row['flows']:6d} {row['mbps']:5d} {row['series_ms']:6d}"
        f" {row['packet_hops']:12.0f} {row['cpu_s']:8.3f} {row['setup_s'] * 1e3:9.2f}"
        f" {row['peak_mib']:8.1f} {row['hops_per_s'] / 1e6:7.1f}"
    )
    theirs = row["ns2"]
    there = f" {theirs['cpu_s']:8.3f} {theirs['peak_mib']:8.1f} {row['ratio_to_ns2']:6.1f}" if theirs else ""
    sys.stdout.write(f"{here}{there}\n")
    sys.stdout.flush()


def main() -> None:
    """Build, run, write."""
    parser = argparse.ArgumentParser(description="What whole runs cost, and what they cost in ns-2.")
    parser.add_argument("--runs", type=int, default=5, help="runs of each scenario (5)")
    parser.add_argument("--large", action="store_true", help="also 10 000 flows and 10^9 packet-hops")
    parser.add_argument("--out", type=Path, default=ROOT / "bench.json", help="where the rows go")
    options = parser.parse_args()

    build = ["cargo", "build", "--quiet", "--release", "--package", "airpath-sim", "--example", "dumbbell"]
    subprocess.run(build, cwd=ROOT, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    ours = target / "release" / "examples" / "dumbbell"
    ns = shutil.which("ns")
    if ns is None:
        sys.stdout.write("ns-2 is not installed (make bench-peers): only our side is measured\n")
    sys.stdout.write(HEADER)
    rows = []
    for dumbbell in DUMBBELLS:
        if dumbbell.large and not options.large:
            continue
        rows.append(measure(dumbbell, ours, ns, 1 if dumbbell.large else options.runs))
        show(rows[-1])
        options.out.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()

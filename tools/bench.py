"""Measure the cost of whole runs, and of the same runs in ns-2: write bench.json, print a table.

    python tools/bench.py [--runs N] [--large] [--only WORD] [--out bench.json]

Each scenario (`tools/bench_scenarios.py`) runs in a process of its own, N times (5). If `ns` is installed,
dumbbells alternate with ns-2 on the script `tools/ns2/dumbbell.tcl`. Values are medians. CPU time is that of
the whole process including setup, as counted by the kernel; `ratio_to_ns2` is the time of ns-2 divided by
ours. Ratios are medians over pairs of consecutive runs, because a temporary slowdown of the machine affects
both runs of a pair. A packet-hop is one packet over one link, data and acknowledgments alike. The cost of
telemetry (`ratio_to_less_telemetry`) comes from runs that alternate with the same scenario with rows every 10
s, or without a row for each packet. `--large` adds 10 000 flows over 1 Gbit/s and 10^9 packet-hops, which
take minutes, and longer in ns-2. The scenarios of papers need airpath itself (`make build`).
"""

import argparse
import importlib.util
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from typing import Any, Final

from bench_scenarios import Scenario, dumbbells, of_papers
from compiler_profile import environment

ROOT: Final = Path(__file__).parent.parent
SCRIPT: Final = ROOT / "tools" / "ns2" / "dumbbell.tcl"

HEADER: Final = (
    f"{'scenario':24} {'scheme':16} flows  Mbps series packets  packet-hops    CPU s setup ms"
    " peak MiB  Mhop/s  less tel.  ns2 CPU  ns2 MiB  ratio\n"
)


@dataclass
class Cost:
    """The cost of one process, or the medians of several."""

    flows: float
    packet_hops: float
    cpu_s: float
    setup_s: float
    peak_mib: float


def run(command: Sequence[str]) -> Cost:
    """Run a command that prints a JSON object; the CPU time is the kernel's count."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        # ns-2 may print other text on the same line.
        found = re.search(r"\{[^{}]*\}", process.stdout.read())
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0 or found is None:
        sys.exit(f"{' '.join(command)} failed ({process.returncode})")
    said: dict[str, Any] = json.loads(found[0])
    cpu_s = usage.ru_utime + usage.ru_stime
    return Cost(said.get("flows", 0), said["packet_hops"], cpu_s, said["setup_wall_s"], said["peak_mib"])


def medians(costs: Sequence[Cost]) -> Cost:
    """Return the median of each value."""
    columns = zip(*(astuple(cost) for cost in costs), strict=True)
    return Cost(*(statistics.median(column) for column in columns))


def measure(scenario: Scenario, ours: Path, ns: str | None, runs: int) -> dict[str, Any]:
    """Run one scenario here, with less telemetry and in ns-2, alternately; return a row of the file."""
    here: list[Cost] = []
    less: list[Cost] = []
    there: list[Cost] = []
    for _ in range(runs):
        here.append(run([str(ours), *scenario.words]))
        if scenario.beside:
            less.append(run([str(ours), *scenario.beside.words]))
        if ns and scenario.ns2:
            there.append(run([ns, str(SCRIPT), *scenario.ns2]))
    cost = figures(medians(here))
    to_less = ratios(here, less) if less else []
    to_ns2 = ratios(there, here) if there else []
    return {
        "scenario": scenario.name,
        "scheme": scenario.scheme,
        "flows": int(cost.pop("flows")),
        "mbps": scenario.mbps,
        "seconds": scenario.seconds,
        "series_ms": scenario.series_ms,
        "packets": scenario.packets,
        "runs": runs,
        **cost,
        "cpu_s_all": sorted(round(cost.cpu_s, 4) for cost in here),
        "ratio_to_less_telemetry": middle(to_less),
        "ratio_to_less_telemetry_all": to_less,
        "ns2": figures(medians(there)) if there else None,
        "ratio_to_ns2": middle(to_ns2),
        "ratio_to_ns2_all": to_ns2,
    }


def ratios(one: Sequence[Cost], other: Sequence[Cost]) -> list[float]:
    """Return the ratios of CPU times of consecutive runs, in ascending order."""
    return sorted(round(mine.cpu_s / yours.cpu_s, 3) for mine, yours in zip(one, other, strict=True))


def middle(values: Sequence[float]) -> float | None:
    """Return the median; `None` without values."""
    return round(statistics.median(values), 3) if values else None


def figures(cost: Cost) -> dict[str, float]:
    """Return the values of one simulator."""
    rounded = {name: round(value, 6) for name, value in asdict(cost).items()}
    return {**rounded, "hops_per_s": round(cost.packet_hops / cost.cpu_s)}


def show(row: dict[str, Any]) -> None:
    """Print one row of the table."""
    less, theirs = row["ratio_to_less_telemetry"], row["ns2"]
    here = (
        f"{row['scenario']:24} {row['scheme'].partition(':')[0]:16} {row['flows']:5d} {row['mbps'] or '-':>5}"
        f" {row['series_ms']:6d} {'each' if row['packets'] else '-':>7} {row['packet_hops']:12.0f}"
        f" {row['cpu_s']:8.3f} {row['setup_s'] * 1e3:8.2f} {row['peak_mib']:8.1f}"
        f" {row['hops_per_s'] / 1e6:7.1f} {less or '-':>10}"
    )
    there = f" {theirs['cpu_s']:8.3f} {theirs['peak_mib']:8.1f} {row['ratio_to_ns2']:6.1f}" if theirs else ""
    sys.stdout.write(f"{here}{there}\n")
    sys.stdout.flush()


def scenarios(plans: Path) -> Iterator[Scenario]:
    """Yield all scenarios; those of papers only if airpath is installed."""
    yield from dumbbells()
    if importlib.util.find_spec("airpath"):
        yield from of_papers(plans)
    else:
        sys.stdout.write(
            "airpath is not installed for this Python (make build): scenarios of papers are skipped\n"
        )


def main() -> None:
    """Build, run, and write the results."""
    parser = argparse.ArgumentParser(
        description="Measure the cost of whole runs, and of the same runs in ns-2."
    )
    parser.add_argument("--runs", type=int, default=5, help="runs of each scenario (5)")
    parser.add_argument("--large", action="store_true", help="also 10 000 flows and 10^9 packet-hops")
    parser.add_argument("--only", default="", help="only scenarios whose name contains this word")
    parser.add_argument("--out", type=Path, default=ROOT / "bench.json", help="file for the rows")
    options = parser.parse_args()

    build = ["cargo", "build", "--quiet", "--release", "--package", "airpath-sim", "--example", "dumbbell"]
    subprocess.run(build, cwd=ROOT, env=environment(), check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    ours = target / "release" / "examples" / "dumbbell"
    ns = shutil.which("ns")
    if ns is None:
        sys.stdout.write("ns-2 is not installed (make bench-peers): only airpath is measured\n")
    sys.stdout.write(HEADER)
    rows = []
    with tempfile.TemporaryDirectory() as plans:
        for scenario in scenarios(Path(plans)):
            if options.only not in scenario.name or (scenario.large and not options.large):
                continue
            rows.append(measure(scenario, ours, ns, 1 if scenario.large else options.runs))
            show(rows[-1])
            options.out.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()

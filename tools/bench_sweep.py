"""Measure the efficiency of the workers of a sweep, independently of other load on the machine.

    python tools/bench_sweep.py [--runs N] [--jobs N] [--seconds S] [--rate RATE]

Runs one sweep with one worker, then with several. The kernel reports for each process how long it computed
and how long it was ready but waited for a processor (`schedstat`); for the rest of the elapsed time it was
idle. With the CPU time of a run,

    efficiency = fraction of time in which workers were not idle x CPU time of a run alone / with several

This is the throughput on free cores divided by the number of cores times the throughput of one worker, if the
process that distributes the runs does not need the cores too; its CPU time is printed as well. Linux only.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil

SCENARIO: Final = """
name = "bench"
duration = "{seconds}s"

[topology]
kind = "dumbbell"

[topology.bottleneck]
rate = "{rate}"
delay = "20ms"
queue = {{ kind = "drop-tail", limit = "1bdp" }}

[[flows]]
name = "flow"
scheme = "cubic"
"""
SWEEP: Final = 'name = "bench"\nscenario = "bench.toml"\nrepetitions = {runs}\n'
FIRST, LAST = 0.1, 0.9
"""The measurement lasts while the fraction of completed runs is between these."""


@dataclass
class Measured:
    """Measurements of one sweep."""

    runs: int
    wall_s: float
    worker_cpu_s: float
    busy: float
    """Fraction of elapsed time in which workers computed or waited for a processor, mean over the workers."""
    coordinator_cpu_s: float


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Measure the efficiency of the workers of a sweep.")
    parser.add_argument("--runs", type=int, default=200, help="runs of a sweep (200)")
    parser.add_argument("--jobs", type=int, default=2, help="workers of the second sweep (2)")
    parser.add_argument("--seconds", type=int, default=20, help="simulated length of a run (20)")
    parser.add_argument("--rate", default="100mbps", help="rate of the link (100mbps)")
    options = parser.parse_args()
    alone, several = (
        measure(jobs, options.runs, options.seconds, options.rate) for jobs in (1, options.jobs)
    )
    for jobs, one in ((1, alone), (options.jobs, several)):
        sys.stdout.write(
            f"{jobs} worker{'s' if jobs > 1 else ''}: {1e3 * one.worker_cpu_s / one.runs:.1f} ms of CPU"
            f" time per run, busy {one.busy:.1%}; coordination"
            f" {1e3 * one.coordinator_cpu_s / one.runs:.1f} ms per run; {one.runs / one.wall_s:.1f} runs/s\n"
        )
    dearer = (several.worker_cpu_s / several.runs) / (alone.worker_cpu_s / alone.runs)
    sys.stdout.write(
        f"efficiency {several.busy / dearer:.3f} (a run takes {dearer:.3f} times its CPU time alone)\n"
    )


def measure(jobs: int, runs: int, seconds: int, rate: str) -> Measured:
    """Run a sweep and observe its processes."""
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        (here / "bench.toml").write_text(SCENARIO.format(seconds=seconds, rate=rate))
        (here / "sweep.toml").write_text(SWEEP.format(runs=runs))
        command = [sys.executable, "-m", "airpath", "sweep", str(here / "sweep.toml")]
        command += ["--out", str(here / "out"), "--jobs", str(jobs)]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            return watch(process, here / "out", jobs, runs)


def watch(process: "subprocess.Popen[bytes]", out: Path, jobs: int, runs: int) -> Measured:
    """Read the kernel's counters at the fractions `FIRST` and `LAST` of the runs."""
    begun: tuple[float, int, dict[int, tuple[float, float]]] | None = None
    while process.poll() is None:
        done = len(list(out.glob("parts/*/*.arrow")))
        if begun is None and done >= FIRST * runs:
            begun = time.monotonic(), done, counts(process.pid)
        elif begun and done >= LAST * runs:
            at, before, first = begun
            wall_s, last = time.monotonic() - at, counts(process.pid)
            spent = {pid: (last[pid][0] - first[pid][0], last[pid][1] - first[pid][1]) for pid in first}
            coordinator_cpu_s, _ = spent.pop(process.pid)
            # The other processes help to start workers, and then sleep.
            workers = sorted(spent.values(), reverse=True)[:jobs]
            cpu_s = sum(cpu for cpu, _ in workers)
            busy = sum(cpu + wait for cpu, wait in workers) / wall_s / jobs
            process.wait()
            return Measured(done - before, wall_s, cpu_s, busy, coordinator_cpu_s)
        time.sleep(0.01)
    sys.exit(f"the sweep ended before it was measured ({process.returncode}); use more --runs")


def counts(coordinator: int) -> dict[int, tuple[float, float]]:
    """Return the seconds for which each process of a sweep computed, and waited for a processor."""
    found = {}
    for one in (psutil.Process(coordinator), *psutil.Process(coordinator).children(recursive=True)):
        cpu_s = wait_s = 0.0
        for thread in Path(f"/proc/{one.pid}/task").glob("*/schedstat"):
            cpu_ns, wait_ns, _ = map(int, thread.read_text().split())
            cpu_s, wait_s = cpu_s + cpu_ns / 1e9, wait_s + wait_ns / 1e9
        found[one.pid] = cpu_s, wait_s
    return found


if __name__ == "__main__":
    main()

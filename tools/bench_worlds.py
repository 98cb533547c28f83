"""Compare the kernel's CUBIC and Reno over emulated links with the simulator's: goodput and mean queue.

    python tools/bench_worlds.py [--runs N] [--only WORD]

Runs three scenarios under two schemes, each N times (3) for 30 s in both backends, with the same seeds. This
takes nine minutes, and more on a busy machine, because invalid runs are repeated. Prints a table with the
differences of means and their 95 % intervals (Welch). The exit code is 1 if means differ by more than the
tolerances of the emulator (`airpath.gap.TOLERANCES`), or if too few runs were valid.
"""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final, TextIO

import airpath
from airpath.gap import Difference, differences
from airpath.gap.differences import difference_text
from airpath.results import Results, RunResult

SCHEMES: Final = {"cubic": "CUBIC", "newreno": "NewReno, Reno"}
"""Schemes of the simulator, and display names of both implementations."""
METRICS: Final = ("goodput_mbps", "queue_mean_bytes")
ATTEMPTS: Final = 4
"""The maximum number of attempts to get a valid run."""

_ONE_BDP: Final = {"rate": "10mbps", "delay": "20ms", "queue": {"kind": "drop-tail", "limit": "1bdp"}}
_MOVING: Final = {
    "rate": {"kind": "sequence", "rates": ["10mbps", "20mbps", "5mbps", "1mbps", "12mbps"], "hold": "5s"},
    "delay": "20ms",
    "queue": {"kind": "drop-tail", "limit": "50kB"},
}
SCENARIOS: Final[dict[str, tuple[dict[str, Any], int]]] = {
    "10 Mbit/s, 40 ms, 1 BDP": (_ONE_BDP, 1),
    "the same, two flows": (_ONE_BDP, 2),
    "10, 20, 5, 1, 12 Mbit/s, 5 s each, 50 kB": (_MOVING, 1),
}
"""For each scenario its bottleneck and its number of flows."""


@dataclass(frozen=True)
class Compared:
    """One scheme in one scenario in both backends."""

    differences: tuple[Difference, ...]
    """The differences in `METRICS`; empty if no run of the emulator was valid."""
    runs: int
    """The number of valid runs of the emulator."""
    rejected: tuple[str, ...]
    """The reasons why other runs were rejected."""


def scenario(name: str, scheme: str, duration: str = "30s") -> airpath.Scenario:
    """Return one of `SCENARIOS`, measured from 5 s."""
    bottleneck, flows = SCENARIOS[name]
    return airpath.Scenario.from_dict(
        {
            "name": "worlds",
            "title": name,
            "duration": duration,
            "record": {"warm_up": "5s"},
            "topology": {"kind": "dumbbell", "bottleneck": bottleneck},
            "flows": [
                {"name": "long", "scheme": scheme, "count": flows, "start": {"uniform": ["0s", "500ms"]}}
            ],
        }
    )


def compare(one: airpath.Scenario, runs: int, attempts: int = ATTEMPTS) -> Compared:
    """Run a scenario in both backends with the seeds 1 to `runs`; repeat runs of the emulator until valid."""
    simulated = airpath.run(one, seed=1, repetitions=runs, progress=False).runs
    valid: list[RunResult] = []
    rejected: list[str] = []
    for seed in range(1, runs + 1):
        for _ in range(attempts):
            (run,) = airpath.run(one, seed=seed, repetitions=1, progress=False, world="emulate").runs
            if run.record.valid:
                run.record = replace(run.record, repetition=seed - 1)  # pairs it by seed
                valid.append(run)
                break
            rejected.append("; ".join((run.record.validity or {})["problems"]))
    if not valid:
        return Compared((), 0, tuple(rejected))
    found = differences(Results([*simulated, *valid]), simulated[0].record.scheme, valid[0].record.scheme)
    return Compared(tuple(d for d in found if d.metric in METRICS), len(valid), tuple(rejected))


def is_within(difference: Difference) -> bool:
    """Return whether the means differ by no more than the tolerance of the emulator."""
    return abs(difference.difference) <= difference.tolerance.share


def say(text: str, to: TextIO = sys.stdout) -> None:
    """Write a line and flush it."""
    to.write(f"{text}\n")
    to.flush()


def _cell(difference: Difference) -> str:
    scale, unit = (1e-3, "kB") if difference.metric == "queue_mean_bytes" else (1.0, "Mbit/s")
    means = f"{difference.simulated * scale:.4g} → {difference.other * scale:.4g} {unit}"
    return f"{means} ({difference_text(difference)})"


def _table(runs: int, only: str) -> Iterator[bool]:
    """Print the table; yield for each line whether everything was measured and is within its tolerance."""
    say("| scenario | scheme | goodput, simulated → kernel | mean queue, simulated → kernel | not valid |")
    say("|---|---|---|---|---|")
    for name in SCENARIOS:
        for scheme, title in SCHEMES.items():
            if only not in f"{name} {scheme}":
                continue
            compared = compare(scenario(name, scheme), runs)
            cells = [_cell(difference) for difference in compared.differences] or ["not measured"] * 2
            rejected = f"{len(compared.rejected)} of {len(compared.rejected) + compared.runs}"
            say(f"| {name} | {title} | {' | '.join(cells)} | {rejected} |")
            for reason in dict.fromkeys(compared.rejected):
                say(f"not valid: {reason}", sys.stderr)
            beyond = [one.metric for one in compared.differences if not is_within(one)]
            if beyond:
                say(f"{name}, {title}: outside its tolerance: {', '.join(beyond)}", sys.stderr)
            yield compared.runs == runs and not beyond


def main() -> int:
    """Compare the selected scenarios and schemes."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=3, help="runs of each scenario in each backend")
    parser.add_argument(
        "--only", default="", metavar="WORD", help="only scenarios and schemes that contain this word"
    )
    arguments = parser.parse_args()
    good = list(_table(arguments.runs, arguments.only))
    if not good:
        sys.exit(f'--only: no scenario or scheme contains "{arguments.only}"')
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())

"""The scenarios whose cost `tools/bench.py` measures."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

SERIES_MS: Final = 100
"""Width of a row of the series, as in every scenario by default."""
HARDLY_ANY_MS: Final = 10_000
"""Interval so long that a series costs nothing: one row at the end of the warm-up and five more."""
ROUTER_SCHEMES: Final = ("xcp", "xcp-ebe", "vcp", "vcp-ebe")


@dataclass(frozen=True)
class Scenario:
    """One scenario, as the arguments of the program that runs it (`crates/sim/examples/dumbbell.rs`)."""

    name: str
    scheme: str
    words: tuple[str, ...]
    seconds: float
    mbps: int | None = None
    series_ms: int = SERIES_MS
    packets: bool = False
    large: bool = False
    ns2: tuple[str, ...] | None = None
    """Arguments of the script for ns-2, if it runs there too."""
    beside: "Scenario | None" = None
    """The same scenario with less telemetry, alternating with it."""


def dumbbell(
    scheme: str,
    flows: int,
    *,
    mbps: int = 100,
    seconds: int = 60,
    series_ms: int = SERIES_MS,
    packets: bool = False,
    large: bool = False,
    ns2: bool = True,
    beside: Scenario | None = None,
) -> Scenario:
    """Return the dumbbell with which other simulators are measured."""
    words = (scheme, *map(str, (flows, mbps, seconds)))
    return Scenario(
        name=f"dumbbell, {flows} flow{'s' if flows > 1 else ''}",
        scheme=scheme,
        words=(*words, str(series_ms), *(["packets"] if packets else [])),
        seconds=seconds,
        mbps=mbps,
        series_ms=series_ms,
        packets=packets,
        large=large,
        ns2=words if ns2 else None,
        beside=beside,
    )


def dumbbells() -> Iterator[Scenario]:
    """Yield the dumbbells: those compared with ns-2, with and without telemetry, and large ones."""
    for scheme in ("sack", "cubic"):
        for flows in (1, 10, 100, 1000):
            yield dumbbell(scheme, flows)
    yield dumbbell("sack", 10, mbps=1000)
    for flows in (1, 10, 100, 1000):
        bare = dumbbell("sack", flows, series_ms=HARDLY_ANY_MS, ns2=False)
        yield dumbbell("sack", flows, ns2=False, beside=bare)
    for flows in (1, 10, 100, 1000):
        yield dumbbell("sack", flows, packets=True, ns2=False, beside=dumbbell("sack", flows))
    yield dumbbell("sack", 10_000, mbps=1000, large=True)
    yield dumbbell("sack", 10, mbps=1000, seconds=2700, series_ms=1000, large=True, ns2=False)


def of_papers(folder: Path) -> Iterator[Scenario]:
    """Yield EBE's dumbbell and parking lot, and VCP-W's satellite parking lot with 270 flows.

    Their plans are written into `folder`.
    """
    from airpath_papers.experiment import Experiment
    from airpath_papers.settings import dumbbell as ebe_dumbbell
    from airpath_papers.settings import parking_lot

    experiments = [ebe_dumbbell("T", scheme, 1) for scheme in ROUTER_SCHEMES]
    experiments += [parking_lot(20, scheme, 1) for scheme in ROUTER_SCHEMES]
    experiments += [
        Experiment("vcpw-parking-lot", scheme) for scheme in ("xcp", "vcp:additive_scaling=linear")
    ]
    for number, experiment in enumerate(experiments):
        plan = experiment.resolve().plan()
        file = folder / f"{number}.json"
        file.write_text(json.dumps(plan), encoding="utf-8")
        yield Scenario(
            name=experiment.scenario,
            scheme=experiment.scheme,
            words=(str(file),),
            seconds=plan["duration_ns"] * 1e-9,
            series_ms=plan["record"]["interval_ns"] // 1_000_000,
        )

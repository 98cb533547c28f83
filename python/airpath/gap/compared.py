"""Running one scenario in several worlds."""

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from airpath._backends import BACKENDS, BPF_HOSTS, REAL_TIME, BackendName
from airpath._backends.bpf import BpfHosts
from airpath.errors import AirpathError, ScenarioError, UsageError
from airpath.gap.differences import Difference, differences
from airpath.gap.kernel_modules import in_kernel, with_ticks_of_kernel
from airpath.results import Results, RunResult
from airpath.runner import Interrupted, refuse_schemes, run_all, scheme_label
from airpath.scenario import Scenario
from airpath.scenario.refusals import Refusal
from airpath.schemes import label_of

OURS: Final = "vcp-ebe"
"""What a scenario runs too if no scheme is asked for and our datapath has none of its own."""


@dataclass(frozen=True)
class Compared:
    """One scheme of the scenario in the worlds that have it."""

    scheme: str
    """The name of the scheme."""
    labels: dict[BackendName, str]
    """What its runs are called in each world where it ran."""
    missing: dict[BackendName, str]
    """Why it did not run in the others."""
    differences: dict[BackendName, list[Difference]]
    """How far each world is from the simulator."""
    departures: tuple[str, ...] = ()
    """What the kernel or quinn decided otherwise than the scenario says, in any world, and the clock that
    modules of Linux took from the kernel.
    """


@dataclass(frozen=True)
class Gap:
    """One scenario in several worlds."""

    results: Results
    """All runs; those of other worlds than the simulator carry the names of the schemes there."""
    compared: tuple[Compared, ...]
    """Each scheme."""
    elapsed_s: float
    """Seconds by the clock that all runs together took, with what they need before and after."""
    scenarios: Mapping[str, Scenario]
    """The simulated scenario of each scheme, by its name."""


def gap(
    scenario: Scenario,
    schemes: Sequence[str] = (),
    *,
    worlds: Sequence[BackendName] = ("sim", "quic", "emulate", "datapath", "routers"),
    repetitions: int | None = None,
    jobs: int | None = None,
    progress: bool | None = None,
) -> Gap:
    """Run a scenario in several worlds and compare them.

    Worlds over the kernel go by the real clock, one run after another. A world that is not there
    is left out, and the result says why.

    Parameters
    ----------
    scenario
        The scenario.
    schemes
        Schemes that all controlled flows take in turn; by default those of the scenario, as they stand, and
        `vcp-ebe` if our datapath has none of them, a world with it is among the worlds, and the scenario has
        routers for it.
    worlds
        Where to run; the simulator is always among them.
    repetitions
        How many runs of each; by default what the scenario says.
    jobs, progress
        As for `airpath.run`; `jobs` counts for worlds in simulated time.

    Raises
    ------
    ScenarioError, UsageError
        If the scenario cannot be simulated, or there is no such world.
    Interrupted
        On Ctrl-C; holds the finished runs of all worlds.
    """
    started = time.perf_counter()
    if unknown := [world for world in worlds if world not in BACKENDS]:
        raise UsageError(f"worlds: found {unknown[0]!r}; accepted: {', '.join(BACKENDS)}")
    controlled = any(flow.scheme is not None for flow in scenario.document.flows)
    if schemes and not controlled:
        problem = f'none has a scheme that "{schemes[0]}" could stand in for; accepted: no schemes'
        raise scenario.refusal(Refusal("", "", "flows", problem))
    variants = {label_of(scheme): _with_scheme(scenario, scheme) for scheme in refuse_schemes(schemes)} or {
        "": scenario
    }
    with_bpf = any(isinstance(BACKENDS[world], BpfHosts) for world in worlds)
    if not schemes and controlled and with_bpf and not BPF_HOSTS.has_controller(scenario):
        # Nobody asked for it: a scenario without routers does without.
        with suppress(ScenarioError):
            ours = _with_scheme(scenario, OURS)
            ours.plan()
            variants[OURS] = ours
    in_order: list[BackendName] = list(dict.fromkeys(("sim", *worlds)))
    remarks: dict[str, tuple[str, ...]] = {}
    if REAL_TIME.intersection(in_order):
        for name, variant in variants.items():
            variants[name], remarks[name] = with_ticks_of_kernel(variant)
    left_out = {name: _left_out(variant, in_order) for name, variant in variants.items()}
    runs: list[RunResult] = []
    compared: list[tuple[str, str, dict[BackendName, str], dict[BackendName, str]]] = []
    for name, variant in variants.items():
        labels: dict[BackendName, str] = {}
        missing = left_out[name]
        for world in in_order:
            if world in missing:
                continue
            there = _in_world(variant, world)
            wanted = {name or scheme_label(variant): there}
            # Schemes that differ in their routers have the same controllers, and datagrams one name.
            taken = {run.record.scheme for run in runs}
            apart = f" for {name}" if name else f" in {world}"
            apart = apart if BACKENDS[world].place(there).label in taken else ""
            try:
                done = run_all(
                    wanted,
                    repetitions=repetitions,
                    jobs=None if world in REAL_TIME else jobs,
                    progress=progress,
                    world=world,
                    apart=apart,
                )
            except AirpathError as error:
                if world == "sim":
                    raise
                missing[world] = str(error)
                continue
            except Interrupted as interrupted:
                places = sum(len(in_order) - len(missing) for missing in left_out.values())
                results = Results([*runs, *interrupted.results.runs])
                raise Interrupted(results, interrupted.asked * places) from None
            runs += done.runs
            labels[world] = done.runs[0].record.scheme
        compared.append((labels["sim"], name, labels, missing))
    results = Results(runs)
    return Gap(
        results,
        tuple(
            Compared(
                name,
                labels,
                missing,
                {
                    world: differences(results, labels["sim"], label)
                    for world, label in labels.items()
                    if world != "sim"
                },
                (*remarks.get(variant, ()), *_departures(results, labels)),
            )
            for name, variant, labels, missing in compared
        ),
        time.perf_counter() - started,
        {name: variants[variant] for name, variant, _, _ in compared},
    )


def _departures(results: Results, labels: dict[BackendName, str]) -> tuple[str, ...]:
    records = [results.run(label).record for label in labels.values()]
    said = (text for record in records for text in (record.validity or {}).get("departures", ()))
    return tuple(dict.fromkeys(said))


def _left_out(scenario: Scenario, worlds: Sequence[BackendName]) -> dict[BackendName, str]:
    """Say in which worlds a scenario cannot run, and why, as far as that is known beforehand."""
    missing: dict[BackendName, str] = {}
    taken: dict[str | None, BackendName] = {}
    for world in worlds:
        if world == "sim":
            continue
        if (reason := BACKENDS[world].missing()) is not None:
            missing[world] = reason
            continue
        try:
            label = BACKENDS[world].place(_in_world(scenario, world)).label
        except AirpathError as error:
            missing[world] = str(error)
            continue
        if label in taken:
            missing[world] = (
                f"it would be the same as in world {taken[label]}, without any controller of ours"
            )
        taken.setdefault(label, world)
    return missing


def _in_world(scenario: Scenario, world: BackendName) -> Scenario:
    """Return the scenario as a world runs it: the kernel has modules of Linux of its own."""
    return in_kernel(scenario) if world in REAL_TIME else scenario


def _with_scheme(scenario: Scenario, scheme: str) -> Scenario:
    """Return the scenario in which all controlled flows run a scheme."""
    controlled = [number for number, flow in enumerate(scenario.document.flows) if flow.scheme is not None]
    return scenario.override({f"flows.{number}.scheme": scheme for number in controlled})


def world_title(world: BackendName) -> str:
    """Return what a world is called in tables."""
    return f"{world} ({BACKENDS[world].description})"

"""Running one scenario on several backends."""

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
from airpath.runner import Interrupted, RunsFailed, refuse_schemes, run_all, scheme_label
from airpath.scenario import Scenario
from airpath.scenario.refusals import Refusal
from airpath.schemes import label_of

OURS: Final = "vcp-ebe"
"""The additional scheme of a scenario if none is requested and airpath's datapath has none of its own."""


@dataclass(frozen=True)
class Compared:
    """One scheme of the scenario on the backends that have it."""

    scheme: str
    """The name of the scheme."""
    labels: dict[BackendName, str]
    """The label of its runs on each backend where all of them finished."""
    missing: dict[BackendName, str]
    """Reason why it is not compared, for each of the others: it did not run there, or runs failed."""
    differences: dict[BackendName, list[Difference]]
    """Differences of each backend from the simulator."""
    departures: tuple[str, ...] = ()
    """Settings of the scenario that the kernel or quinn replaced on any backend, and the clock that modules
    of Linux took from the kernel.
    """


@dataclass(frozen=True)
class Gap:
    """One scenario on several backends."""

    results: Results
    """All runs; those on backends other than the simulator have the names of the schemes there."""
    compared: tuple[Compared, ...]
    """Each scheme."""
    elapsed_s: float
    """Real time of all runs together, including preparation and clean-up, in seconds."""
    scenarios: Mapping[str, Scenario]
    """The simulated scenario of each scheme, by its name."""
    failures: tuple[str, ...] = ()
    """The errors of runs that code of the user ended. Their scheme is not compared on that backend."""


class GapFailed(RunsFailed):
    """Code of the user failed in some runs; the text contains the failures, separated by line breaks.

    Attributes
    ----------
    gap
        The comparison of the schemes and backends without failures, and all finished runs.
    """

    def __init__(self, gap: Gap, asked: int) -> None:
        super().__init__(gap.results, asked, gap.failures)
        self.gap = gap


def gap(
    scenario: Scenario,
    schemes: Sequence[str] = (),
    *,
    worlds: Sequence[BackendName] = ("sim", "quic", "emulate", "datapath", "routers"),
    repetitions: int | None = None,
    jobs: int | None = None,
    progress: bool | None = None,
    isolate: bool = False,
) -> Gap:
    """Run a scenario on several backends and compare them.

    Backends with the kernel run in real time, one run after another. A backend that is not available is left
    out, with the reason in the result.

    Parameters
    ----------
    scenario
        The scenario.
    schemes
        Schemes that all controlled flows use in turn; by default those of the scenario, unchanged, and
        `vcp-ebe` if airpath's datapath has none of them, a backend with the datapath is among the backends,
        and the scenario has routers for it.
    worlds
        The backends; the simulator is always among them.
    repetitions
        Number of runs of each; by default that of the scenario.
    jobs, progress, isolate
        As for `airpath.run`; `jobs` applies to backends in simulated time.

    Raises
    ------
    ScenarioError, UsageError
        If the scenario cannot be simulated, or there is no such backend.
    GapFailed
        If code of the user fails; raised at the end, with all finished runs and the comparison of the schemes
        and backends without failures. A scheme that fails in the simulator runs on no other backend.
    Interrupted
        On Ctrl-C; contains the finished runs of all backends.
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
        # The scheme was not requested, so a scenario without routers runs without it.
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
    places = sum(len(in_order) - len(missing) for missing in left_out.values())
    runs: list[RunResult] = []
    compared: list[tuple[str, str, dict[BackendName, str], dict[BackendName, str]]] = []
    simulated: dict[str, Scenario] = {}
    failures: list[str] = []
    for name, variant in variants.items():
        labels: dict[BackendName, str] = {}
        missing = left_out[name]
        label = name or scheme_label(variant)
        simulated[label] = variant
        for world in in_order:
            if world in missing:
                continue
            there = _in_world(variant, world)
            wanted = {label: there}
            # Schemes that differ only in their routers have the same controllers, and all datagrams have one
            # name.
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
                    isolate=isolate,
                    apart=apart,
                )
            except RunsFailed as failed:
                runs += failed.results.runs
                failures += failed.failures
                missing[world] = f"{len(failed.failures)} of {failed.asked} runs failed"
                if world == "sim":
                    others = [other for other in in_order if other not in missing]
                    missing |= dict.fromkeys(others, "it did not run, because simulated runs failed")
                    break
                continue
            except AirpathError as error:
                if world == "sim":
                    raise
                missing[world] = str(error)
                continue
            except Interrupted as interrupted:
                results = Results([*runs, *interrupted.results.runs])
                failures += interrupted.failures
                raise Interrupted(results, interrupted.asked * places, failures) from None
            runs += done.runs
            labels[world] = done.runs[0].record.scheme
        compared.append((label, name, labels, missing))
    results = Results(runs)
    found = Gap(
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
        simulated,
        tuple(failures),
    )
    if failures:
        raise GapFailed(found, places * (scenario.repetitions if repetitions is None else repetitions))
    return found


def _departures(results: Results, labels: dict[BackendName, str]) -> tuple[str, ...]:
    records = [results.run(label).record for label in labels.values()]
    said = (text for record in records for text in (record.validity or {}).get("departures", ()))
    return tuple(dict.fromkeys(said))


def _left_out(scenario: Scenario, worlds: Sequence[BackendName]) -> dict[BackendName, str]:
    """Return the backends on which a scenario cannot run, with the reasons, as far as known beforehand."""
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
                f"it would be the same as on backend {taken[label]}, without any controller of airpath"
            )
        taken.setdefault(label, world)
    return missing


def _in_world(scenario: Scenario, world: BackendName) -> Scenario:
    """Return the scenario as a backend runs it: the kernel has its own modules of Linux."""
    return in_kernel(scenario) if world in REAL_TIME else scenario


def _with_scheme(scenario: Scenario, scheme: str) -> Scenario:
    """Return the scenario in which all controlled flows use a scheme."""
    controlled = [number for number, flow in enumerate(scenario.document.flows) if flow.scheme is not None]
    return scenario.override({f"flows.{number}.scheme": scheme for number in controlled})


def world_title(world: BackendName) -> str:
    """Return the name of a backend in tables."""
    return f"{world} ({BACKENDS[world].description})"

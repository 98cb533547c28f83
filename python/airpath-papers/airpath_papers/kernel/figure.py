"""A figure on real kernels: its experiments, each with its simulated twin."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from airpath._backends import BACKENDS, BPF_HOSTS
from airpath._backends.kernel import (
    KERNEL_DELAYED_ACK,
    KERNEL_INITIAL_WINDOW,
    KERNEL_MINIMUM_RTO_NS,
    kernel_congestion_controls,
)
from airpath.errors import ScenarioError, UsageError
from airpath_papers.claim import Claim
from airpath_papers.experiment import Experiment
from airpath_papers.figure import Figure
from airpath_papers.kernel.form import KernelForm
from airpath_papers.kernel.schemes import in_kernel

KERNEL: Final = "kernel"
"""The name of choices on real kernels."""
SIMULATED: Final = "simulated"
"""The name of their simulated twins."""
REPETITIONS: Final = 1
"""Default number of runs of each experiment, because they run in real time."""

TRANSPORT: Final = {
    "transport.initial_window": f"{KERNEL_INITIAL_WINDOW} packets",
    "transport.delayed_ack_segments": KERNEL_DELAYED_ACK,
    "transport.min_rto": f"{KERNEL_MINIMUM_RTO_NS // 1_000_000}ms",
}
"""Settings that the kernel decides itself, for the simulated twin."""


@dataclass(frozen=True)
class _Twins:
    """An experiment on a kernel, and its simulated twin."""

    real: Experiment
    simulated: Experiment
    departures: tuple[str, ...]


def on_kernel(figure: Figure) -> Figure:
    """Return a figure on real kernels: the choices of its form there, then their simulated twins.

    Claims are evaluated by the kernel's runs; the twins' numbers are shown for comparison.

    Raises
    ------
    UsageError
        If the figure has no such form, or this system lacks something that it needs.
    """
    form = figure.kernel
    if form is None:
        raise UsageError(f"{figure.id} cannot run on real kernels")
    try:
        twins = {
            choice: {label: _twins(figure.experiments[of][label], form.runs[label]) for label in form.runs}
            for choice, of in form.choices.items()
        }
    except (ScenarioError, UsageError) as error:
        raise UsageError(f"{figure.id} cannot run on this system's kernel: {error}") from None
    claims = [claim for claim in figure.claims if claim.name not in form.without]
    departures = dict.fromkeys(
        text for by_label in twins.values() for one in by_label.values() for text in one.departures
    )
    return replace(
        figure,
        title=f"{figure.title}: on real kernels, and simulated",
        experiments={
            **{
                _named(KERNEL, choice): {label: one.real for label, one in by_label.items()}
                for choice, by_label in twins.items()
            },
            **{
                _named(SIMULATED, choice): {label: one.simulated for label, one in by_label.items()}
                for choice, by_label in twins.items()
            },
        },
        readings={},
        claims=tuple(placed for claim in claims if (placed := _placed(claim, form)) is not None),
        notes=(
            *_run_notes(form),
            *(f"Departure: {text}." for text in departures),
            *_left_out(figure, form),
            *(f"Note of the simulated figure: {note}" for note in figure.notes),
        ),
    )


def _named(world: str, choice: str) -> str:
    return f"{world}, {choice}" if choice else world


def _twins(experiment: Experiment, duration: str) -> _Twins:
    available = kernel_congestion_controls()
    departures: list[str] = []

    def translated(scheme: str) -> str:
        there = in_kernel(scheme, available)
        departures.extend(there.departures)
        return there.scheme

    changes: dict[str, Any] = {
        key: translated(value) if re.fullmatch(r"flows\.\d+\.scheme", key) else value
        for key, value in experiment.changes.items()
    }
    changes["duration"] = duration
    real = replace(experiment, scheme=translated(experiment.scheme), changes=changes, repetitions=REPETITIONS)
    scenario = real.resolve()
    real = replace(real, world="datapath" if BPF_HOSTS.has_controller(scenario) else "emulate")
    departures.extend(BACKENDS[real.world].place(scenario).departures)
    simulated = replace(real, changes={**changes, **TRANSPORT}, world="sim")
    return _Twins(real, simulated, tuple(departures))


def _placed(claim: Claim, form: KernelForm) -> Claim | None:
    """Return a claim about the choices that run; `None` if it concerns others."""
    choices = [name for name, of in form.choices.items() if not claim.choices or of in claim.choices]
    if not choices:
        return None
    return replace(
        claim,
        choices=tuple(_named(KERNEL, choice) for choice in choices),
        beside=tuple(_named(SIMULATED, choice) for choice in choices),
    )


def _run_notes(form: KernelForm) -> Iterator[str]:
    lengths = dict.fromkeys(form.runs.values())
    runs = "; ".join(
        f"{length}: {', '.join(label for label, other in form.runs.items() if other == length)}"
        for length in lengths
    )
    yield (
        f"Duration of runs: {runs}. Longer spans end there. VCP and XCP are airpath's controllers in the"
        " kernel, over the simulator's routers; TCP is the kernel's."
    )
    yield (
        "“simulated” has the same senders, and the kernel's initial window, delayed acknowledgments and"
        " smallest timeout."
    )


def _left_out(figure: Figure, form: KernelForm) -> Iterator[str]:
    """Yield remarks on the experiments and claims of the figure that are left out."""
    available = kernel_congestion_controls()
    for of in form.choices.values():
        missing = {label: one for label, one in figure.experiments[of].items() if label not in form.runs}
        impossible = {label: reason for label, one in missing.items() if (reason := _reason(one, available))}
        for label, reason in impossible.items():
            yield f"Not run: {label} ({reason})."
        if slow := len(missing) - len(impossible):
            yield f"Not run because of their duration: {slow} more of the experiments of “{of}”."
    if others := [name for name in figure.experiments if name not in form.choices.values()]:
        yield f"Not run: {', '.join(f'“{name}”' for name in others)}."
    for claim in figure.claims:
        if claim.name in form.without:
            yield f"Not evaluated: {claim.statement} ({form.without[claim.name]})."


def _reason(experiment: Experiment, available: Sequence[str]) -> str:
    """Return the reason why a kernel cannot run an experiment; empty if it can."""
    try:
        in_kernel(experiment.scheme, available)
    except UsageError as error:
        return str(error)
    return ""

"""Results of a fit: as text, for scenarios, and for machines."""

import math
from dataclasses import asdict, dataclass
from typing import Any, Literal

from airpath.loss_fit.gilbert import Gilbert, Test
from airpath.loss_fit.gilbert_elliott import GilbertElliott
from airpath.loss_fit.in_time import InTime
from airpath.units import format_duration

Unit = Literal["packets", "steps"]
"""The items of a sequence."""

LEAST_STAY = 1000
"""Smallest mean time in a state, in ns, that the engine accepts for a chain in time."""

TIME_STEP_NS = 1_000_000
"""Step of a chain in time that is fitted to packets."""


@dataclass(frozen=True, slots=True)
class LossFit:
    """A loss chain fitted to one sequence: a flow of a capture, a trace of losses, steps of a trace.

    Attributes
    ----------
    source
        The file, or `losses` for a sequence of numbers.
    what
        Description of the fitted sequence.
    unit
        The items of the sequence: `packets`, or `steps` of time.
    step_ns
        The length of such a step, nanoseconds; `None` for packets.
    count, lost, bursts
        Number of items, number of lost items, and number of bursts that touch neither end.
    missing
        Reason why there is no chain; empty if there is one.
    gilbert
        Gilbert's chain.
    independence
        Likelihood ratio of that chain to independent losses.
    lengths
        Chi-square of the lengths of bursts against the geometric distribution; `None` if there are too few.
    general
        Gilbert and Elliott's chain, with losses in both states; `None` if it was not or could not be fitted.
    general_lengths
        Chi-square of the lengths of bursts against that chain.
    general_is_better
        Whether the general chain has the smaller Bayesian information criterion.
    in_time
        Gilbert's chain in time, if the time of each packet is known and packets are close enough.
    ended_early
        Where and why reading a capture stopped early; empty if it was read to its end.
    """

    source: str
    what: str
    unit: Unit
    step_ns: int | None
    count: int
    lost: int
    bursts: int
    missing: str = ""
    gilbert: Gilbert | None = None
    independence: Test | None = None
    lengths: Test | None = None
    general: GilbertElliott | None = None
    general_lengths: Test | None = None
    general_is_better: bool = False
    in_time: InTime | None = None
    ended_early: str = ""

    @property
    def netem(self) -> str | None:
        """The better chain as arguments of `tc qdisc … netem`; `None` for steps of time (not in netem)."""
        if self.gilbert is None or self.unit == "steps":
            return None
        if self.general is not None and self.general_is_better:
            one = self.general
            numbers = (one.leave_good.value, one.leave_bad.value, one.loss_bad.value, one.loss_good.value)
        else:
            numbers = (self.gilbert.leave_good.value, self.gilbert.leave_bad.value, 1.0, 0.0)
        return "loss gemodel " + " ".join(f"{100 * number:.6g}%" for number in numbers)

    @property
    def toml(self) -> str | None:
        """The better chain as a line of a scenario, below the table of a link."""
        if self.gilbert is None:
            return None
        if self.general is not None and self.general_is_better:
            one = self.general
            return (
                f'loss = {{ kind = "gilbert-elliott", gamma = {_number(1 - one.leave_good.value)},'
                f" beta = {_number(1 - one.leave_bad.value)}, eps_good = {_number(one.loss_good.value)},"
                f" eps_bad = {_number(one.loss_bad.value)} }}"
            )
        clock = "" if self.step_ns is None else f' clock = "time", step = "{format_duration(self.step_ns)}",'
        loss, burst = _number(self.gilbert.mean_loss.value), _number(self.gilbert.mean_burst.value)
        return f'loss = {{ kind = "gilbert",{clock} mean_loss = {loss}, mean_burst = {burst} }}'

    @property
    def toml_in_time(self) -> str | None:
        """The chain in time as a line of a scenario; `None` if its states are too short."""
        if self.in_time is None:
            return None
        odds = 1 / self.in_time.mean_loss.value - 1
        if self.in_time.mean_burst_s.value * 1e9 * min(odds, 1) < LEAST_STAY:
            return None
        burst = self.in_time.mean_burst_s.value * 1e9 / TIME_STEP_NS
        step = TIME_STEP_NS
        while burst < 1 / (1 - self.in_time.mean_loss.value) and step > 1:
            burst, step = burst * 10, step // 10
        return (
            f'loss = {{ kind = "gilbert", clock = "time", step = "{format_duration(step)}",'
            f" mean_loss = {_number(self.in_time.mean_loss.value)}, mean_burst = {_number(burst)} }}"
        )

    def as_machine_reads(self) -> dict[str, Any]:
        """Return everything as plain values for JSON; missing numbers are null."""
        lines = {"netem": self.netem, "toml": self.toml, "toml_in_time": self.toml_in_time}
        return {**_plain(asdict(self)), **lines}


def _number(value: float) -> str:
    """Format a number so that TOML reads it as a float."""
    text = f"{value:.8g}"
    return text if any(mark in text for mark in ".e") else f"{text}.0"


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value

"""A statement of a paper as something that can be judged: what is measured, the rule, the verdict.

A claim is measured under one or more named choices of what the paper leaves open. The first is the headline.
The verdict is **reproduced** if the rule holds there; **reproduced in part** if it holds under another choice
only, which is then named; else **not reproduced**, with the reason as far as it is known.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from airpath.papers.rules import Rule
from airpath.papers.run_data import RunData
from airpath.papers.sample import Sample


class Runs(Protocol):
    """The runs of one choice."""

    def __call__(self, scheme: str) -> Sequence[RunData]:
        """Return the repetitions of the experiment with this label, by seed."""


class Verdict(StrEnum):
    """What came of a claim."""

    REPRODUCED = "reproduced"
    IN_PART = "reproduced in part"
    NOT_REPRODUCED = "not reproduced"


@dataclass(frozen=True)
class Claim:
    """One statement of a paper."""

    name: str
    """Its name within the figure."""
    statement: str
    """What the paper says."""
    rule: Rule
    """When the measured number agrees with it."""
    measured: str
    """What is measured, in words."""
    measure: Callable[[Runs], Sample]
    """From the runs of a choice to the number, one value for each repetition."""
    choices: tuple[str, ...] = ()
    """The choices under which it is measured, headline first; all of the figure if empty."""
    beside: tuple[str, ...] = ()
    """Choices whose numbers are shown beside and say nothing of the claim: the same in another world."""
    unit: str = ""
    """Unit of the number."""
    reason: str = ""
    """Why the headline does not agree with the paper, as far as it is known; shown only where it does not."""


@dataclass(frozen=True)
class Judgement:
    """A claim after measuring."""

    claim: Claim
    samples: Mapping[str, Sample]
    """The numbers under each choice, headline first, then those beside."""

    @property
    def judged(self) -> dict[str, Sample]:
        """The numbers under the choices that count, headline first."""
        return {name: numbers for name, numbers in self.samples.items() if name not in self.claim.beside}

    @property
    def beside(self) -> dict[str, Sample]:
        """The numbers that are shown beside."""
        return {name: self.samples[name] for name in self.claim.beside}

    @property
    def headline(self) -> Sample:
        """The numbers under the first choice."""
        return next(iter(self.samples.values()))

    @property
    def agreeing(self) -> list[str]:
        """The choices under which the rule holds."""
        return [choice for choice, sample in self.judged.items() if self.claim.rule.holds(sample)]

    def verdict_under(self, choice: str) -> Verdict:
        """Return what the rule says under one choice: reproduced there, or not."""
        return Verdict.REPRODUCED if choice in self.agreeing else Verdict.NOT_REPRODUCED

    @property
    def verdict(self) -> Verdict:
        """The verdict."""
        agreeing = self.agreeing
        if next(iter(self.samples)) in agreeing:
            return Verdict.REPRODUCED
        return Verdict.IN_PART if agreeing else Verdict.NOT_REPRODUCED

    @property
    def note(self) -> str:
        """What must be known beside the verdict: under which choice it holds, the reason, what is missing."""
        parts = []
        first = next(iter(self.samples))
        if self.verdict is Verdict.IN_PART:
            parts.append(f"holds under {_join(self.agreeing)}, not under {first}")
        elif self.verdict is Verdict.REPRODUCED:
            against = [choice for choice in self.judged if choice not in self.agreeing]
            if against:
                parts.append(f"holds under {_join(self.agreeing)}, not under {_join(against)}")
        if self.verdict is not Verdict.REPRODUCED and self.claim.reason:
            parts.append(self.claim.reason)
        if math.isnan(self.headline.mean):
            parts.append("no run had a value")
        elif self.headline.n < 2:
            parts.append("a single run: no interval, no significance")
        return "; ".join(parts)


def judge(claim: Claim, runs: Mapping[str, Runs]) -> Judgement:
    """Measure a claim.

    Parameters
    ----------
    claim
        The claim.
    runs
        The runs of every choice of its figure, headline first.
    """
    choices = (*(claim.choices or tuple(runs)), *claim.beside)
    return Judgement(claim, {choice: claim.measure(runs[choice]) for choice in choices})


def _join(names: Sequence[str]) -> str:
    return ", ".join(f"“{name}”" for name in names)

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

from airpath_papers.rules import Rule
from airpath_papers.run_data import RunData
from airpath_papers.sample import FewerRuns, Sample


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
        obstacle = self.claim.rule.obstacle(self.headline)
        parts = (self._where(), self._too_few(), obstacle, self._reason(), self._missing())
        return "; ".join(part for part in parts if part)

    @property
    def unsettled(self) -> FewerRuns | None:
        """Of how many runs the verdict is, if they are fewer than usual and too few to tell."""
        counts = [self.headline] if self.verdict is Verdict.REPRODUCED else list(self.judged.values())
        few = [one.fewer for one in counts if one.fewer is not None and not self.claim.rule.settled(one)]
        return few[0] if few else None

    def _where(self) -> str:
        """Say under which choices it holds, where there are others."""
        if self.verdict is Verdict.IN_PART:
            return f"holds under {_join(self.agreeing)}, not under {next(iter(self.samples))}"
        against = [choice for choice in self.judged if choice not in self.agreeing]
        if self.verdict is Verdict.REPRODUCED and against:
            return f"holds under {_join(self.agreeing)}, not under {_join(against)}"
        return ""

    def _too_few(self) -> str:
        few = self.unsettled
        return "" if few is None else f"judged from {few.done} of {few.usual} runs, too few to tell"

    def _missing(self) -> str:
        """Say where runs had no value; a mean of the others says nothing of them."""
        if math.isnan(self.headline.mean):
            few = self.headline.n > 0
            return "of so few runs there is no such number" if few else "no run had a value"
        shown = {"": self.headline}
        if self.verdict is Verdict.IN_PART:
            shown |= {f" under “{choice}”": self.samples[choice] for choice in self.agreeing}
        said = []
        for under, numbers in shown.items():
            without = sum(map(math.isnan, numbers.values))
            if 0 < without < len(numbers.values):
                said.append(f"{without} of {len(numbers.values)} runs had no value{under}")
        return "; ".join(said)

    def _reason(self) -> str:
        """Give the known reason, which is about the usual number of runs."""
        if self.verdict is Verdict.REPRODUCED or not self.claim.reason:
            return ""
        few = self.unsettled
        return self.claim.reason if few is None else f"what is known of {few.usual} runs: {self.claim.reason}"


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

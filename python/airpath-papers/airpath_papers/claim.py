"""A statement of a paper as a claim that can be evaluated: the measured number, the rule, the verdict.

A claim is measured under one or more named choices of settings that the paper leaves open. The first is the
headline. The verdict is **reproduced** if the rule holds there; **reproduced in part** if it holds only under
another choice, which is then named; otherwise **not reproduced**, with the reason if it is known.

Some figures group their choices into readings of the paper (`airpath_papers.figure.Figure.readings`). Each
reading then has a verdict of its own from its own choices, and the verdict of the claim is that of the first
reading for which it is measured.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
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
    """The verdict on a claim."""

    REPRODUCED = "reproduced"
    IN_PART = "reproduced in part"
    NOT_REPRODUCED = "not reproduced"


@dataclass(frozen=True)
class Claim:
    """One statement of a paper."""

    name: str
    """Its name within the figure."""
    statement: str
    """The paper's statement."""
    rule: Rule
    """The rule that decides whether the measured number agrees with the statement."""
    measured: str
    """Description of the measured number."""
    measure: Callable[[Runs], Sample]
    """A function from the runs of a choice to the number, one value for each repetition."""
    choices: tuple[str, ...] = ()
    """The choices under which it is measured, headline first; if empty, all of the figure's."""
    beside: tuple[str, ...] = ()
    """Choices whose numbers are shown for comparison without affecting the verdict: the same on another
    backend.
    """
    unit: str = ""
    """Unit of the number."""
    reason: str = ""
    """Reason why the headline, or another reading, does not agree with the paper, if known; shown only in
    case of disagreement.
    """


@dataclass(frozen=True)
class Judgement:
    """A measured claim."""

    claim: Claim
    samples: Mapping[str, Sample]
    """The numbers under each choice: headline first, those for comparison last."""
    readings: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The choices of each reading of the figure, headline first; empty if the figure has no readings."""

    @property
    def judged(self) -> dict[str, Sample]:
        """The numbers under the choices that affect the verdict, headline first."""
        return {name: numbers for name, numbers in self.samples.items() if name not in self.claim.beside}

    @property
    def beside(self) -> dict[str, Sample]:
        """The numbers shown for comparison."""
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
        """Return the verdict under one choice: reproduced, or not."""
        return Verdict.REPRODUCED if choice in self.agreeing else Verdict.NOT_REPRODUCED

    @property
    def by_reading(self) -> dict[str, Verdict]:
        """The verdict under each reading for which the claim is measured, headline first."""
        judged = self.judged
        mine = {
            reading: [choice for choice in judged if choice in choices]
            for reading, choices in self.readings.items()
        }
        return {reading: self._verdict_among(choices) for reading, choices in mine.items() if choices}

    @property
    def decisive(self) -> list[str]:
        """The choices that decide the verdict: those of the headline reading, or all; headline first."""
        head = next(iter(self.by_reading), None)
        return [choice for choice in self.judged if head is None or choice in self.readings[head]]

    @property
    def verdict(self) -> Verdict:
        """The verdict, under the headline reading if there are several."""
        return self._verdict_among(self.decisive)

    def _verdict_among(self, choices: Sequence[str]) -> Verdict:
        agreeing = [choice for choice in choices if choice in self.agreeing]
        if choices[0] in agreeing:
            return Verdict.REPRODUCED
        return Verdict.IN_PART if agreeing else Verdict.NOT_REPRODUCED

    @property
    def note(self) -> str:
        """Remarks on the verdict: the choice under which it holds, the reason, missing values."""
        obstacle = self.claim.rule.obstacle(self.headline)
        parts = (self._where(), self._too_few(), obstacle, self._reason(), self._missing())
        return "; ".join(part for part in parts if part)

    @property
    def unsettled(self) -> FewerRuns | None:
        """Numbers of runs, if there are fewer than usual and too few for a verdict."""
        decisive = self.decisive[:1] if self.verdict is Verdict.REPRODUCED else self.decisive
        counts = [self.samples[choice] for choice in decisive]
        few = [one.fewer for one in counts if one.fewer is not None and not self.claim.rule.settled(one)]
        return few[0] if few else None

    def _where(self) -> str:
        """Return the choices under which it holds, if there are others."""
        agreeing = self.agreeing
        against = [choice for choice in self.judged if choice not in agreeing]
        if not agreeing or not against:
            return ""
        if self.verdict is not Verdict.REPRODUCED:
            return f"holds under {_join(agreeing)}, not under {against[0]}"
        return f"holds under {_join(agreeing)}, not under {_join(against)}"

    def _too_few(self) -> str:
        few = self.unsettled
        return (
            "" if few is None else (f"evaluated from {few.done} of {few.usual} runs, too few for a verdict")
        )

    def _missing(self) -> str:
        """Return a remark on runs without a value, which a mean of the other runs does not cover."""
        if math.isnan(self.headline.mean):
            few = self.headline.n > 0
            return "undefined for so few runs" if few else "no run had a value"
        shown = {"": self.headline}
        if self.verdict is not Verdict.REPRODUCED:
            shown |= {f" under “{choice}”": self.samples[choice] for choice in self.agreeing}
        said = []
        for under, numbers in shown.items():
            without = sum(map(math.isnan, numbers.values))
            if 0 < without < len(numbers.values):
                said.append(f"{without} of {len(numbers.values)} runs had no value{under}")
        return "; ".join(said)

    def _reason(self) -> str:
        """Return the known reason, which applies to the usual number of runs."""
        verdicts = (self.verdict, *self.by_reading.values())
        if not self.claim.reason or all(verdict is Verdict.REPRODUCED for verdict in verdicts):
            return ""
        few = self.unsettled
        return self.claim.reason if few is None else f"reason for {few.usual} runs: {self.claim.reason}"


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

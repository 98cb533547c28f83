"""Rules that decide whether a measured number agrees with a paper's statement."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Final, Protocol

from airpath_papers.sample import Sample

SIGNIFICANCE = 0.01
"""The level of significance of the papers (EBE-J, section IV-C)."""

SURELY: Final = ", the whole interval"
"""Suffix of the text of a rule about the whole interval."""


class Rule(Protocol):
    """A rule; its text is the expectation in the table of verdicts."""

    def holds(self, sample: Sample) -> bool:
        """Return whether the number agrees; false for a missing number."""

    def settled(self, sample: Sample) -> bool:
        """Return whether more runs would hardly change the result: it agrees, or certainly does not."""

    def obstacle(self, sample: Sample) -> str:
        """Return what so few runs can never show; empty if they are enough."""

    def __str__(self) -> str:
        """Return the rule as text."""


def _only_signs(sample: Sample) -> bool:
    """Return whether all differences are equal, nonzero, and too few for their signs to be significant."""
    return (
        sample.p is None and sample.deviation == 0.0 and sample.mean != 0.0 and sample.p_value >= SIGNIFICANCE
    )


class _OfTheMean(ABC):
    """A rule about the position of the mean."""

    @abstractmethod
    def holds(self, sample: Sample) -> bool:
        """Return whether the number agrees; false for a missing number."""

    @property
    @abstractmethod
    def ends(self) -> tuple[float, float]:
        """The range of the mean."""

    def settled(self, sample: Sample) -> bool:
        """Return whether the rule holds, or the whole interval of the mean is outside its range."""
        low, high = sample.interval
        least, most = self.ends
        return self.holds(sample) or (sample.varies and (high < least or low > most))

    def obstacle(self, sample: Sample) -> str:
        """Return what a single run cannot show."""
        return "a single run: no interval, no significance" if sample.n == 1 else ""


class _OfSignificance(ABC):
    """A rule about a difference, which one run cannot show."""

    @abstractmethod
    def holds(self, sample: Sample) -> bool:
        """Return whether the number agrees; false for a missing number."""

    def settled(self, sample: Sample) -> bool:
        """Return whether the difference is significant; otherwise, there may be too few runs."""
        return sample.p_value < SIGNIFICANCE

    def obstacle(self, sample: Sample) -> str:
        """Return the reason why so few runs cannot show a difference; empty if they can."""
        if sample.n == 1:
            return "one run shows no significance"
        if sample.n > 1 and math.isnan(sample.p_value):
            return "this number has no test"
        if sample.least_p >= SIGNIFICANCE:
            return f"with so few runs the test cannot fall below p = {sample.least_p:.2g}"
        if _only_signs(sample):
            return f"all runs have the same difference: their signs alone give p = {sample.p_value:.2g}"
        return ""


@dataclass(frozen=True)
class Near(_OfTheMean):
    """The mean is near a published number."""

    target: float
    """The published number."""
    relative: float
    """Largest distance of the mean, relative to the number."""

    @property
    def ends(self) -> tuple[float, float]:
        """The smallest and the largest accepted mean."""
        half = self.relative * abs(self.target)
        return self.target - half, self.target + half

    def holds(self, sample: Sample) -> bool:
        """Return whether the mean is near enough."""
        return abs(sample.mean - self.target) <= self.relative * abs(self.target)

    def __str__(self) -> str:
        return f"{self.target:g} ± {self.relative * 100:g} %"


@dataclass(frozen=True)
class Between(_OfTheMean):
    """The mean is in a range."""

    low: float
    high: float

    @property
    def ends(self) -> tuple[float, float]:
        """The range."""
        return self.low, self.high

    def holds(self, sample: Sample) -> bool:
        """Return whether the mean is in the range, ends included."""
        return self.low <= sample.mean <= self.high

    def __str__(self) -> str:
        return f"{self.low:g} to {self.high:g}"


@dataclass(frozen=True)
class AtLeast(_OfTheMean):
    """The mean is not below a number."""

    bound: float
    surely: bool = False
    """Whether the whole 95 % interval must not be below; for numbers that vary much between runs."""

    @property
    def ends(self) -> tuple[float, float]:
        """The number, and infinity."""
        return self.bound, math.inf

    def holds(self, sample: Sample) -> bool:
        """Return whether the mean is not below the bound; with `surely`, false for single or equal runs."""
        if self.surely:
            return sample.varies and sample.interval[0] >= self.bound
        return sample.mean >= self.bound

    def __str__(self) -> str:
        return f"≥ {self.bound:g}{SURELY if self.surely else ''}"


@dataclass(frozen=True)
class AtMost(_OfTheMean):
    """The mean is not above a number."""

    bound: float
    surely: bool = False
    """Whether the whole 95 % interval must not be above; for numbers that vary much between runs."""

    @property
    def ends(self) -> tuple[float, float]:
        """Minus infinity, and the number."""
        return -math.inf, self.bound

    def holds(self, sample: Sample) -> bool:
        """Return whether the mean is not above the bound; with `surely`, false for single or equal runs."""
        if self.surely:
            return sample.varies and sample.interval[1] <= self.bound
        return sample.mean <= self.bound

    def __str__(self) -> str:
        return f"≤ {self.bound:g}{SURELY if self.surely else ''}"


@dataclass(frozen=True)
class Positive(_OfSignificance):
    """The mean (of a difference) is significantly above zero, at `SIGNIFICANCE`."""

    def holds(self, sample: Sample) -> bool:
        """Return whether the mean is significantly positive; false for a single run, or without a test."""
        return sample.mean > 0 and sample.p_value < SIGNIFICANCE

    def __str__(self) -> str:
        return f"> 0, significant at {SIGNIFICANCE:g}"


@dataclass(frozen=True)
class NotSignificant(_OfSignificance):
    """The mean (of a difference) does not differ significantly from zero, at `SIGNIFICANCE`."""

    def holds(self, sample: Sample) -> bool:
        """Return whether there is no significant difference; false for one run, or few equal differences."""
        return sample.p_value >= SIGNIFICANCE and not _only_signs(sample)

    def __str__(self) -> str:
        return f"not different from 0 at {SIGNIFICANCE:g}"

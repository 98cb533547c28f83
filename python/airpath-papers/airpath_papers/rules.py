"""Rules: when a measured number agrees with what a paper says."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Final, Protocol

from airpath_papers.sample import Sample

SIGNIFICANCE = 0.01
"""The level of the papers (EBE-J, section IV-C)."""

SURELY: Final = ", the whole interval"
"""How a rule about the interval is written."""


class Rule(Protocol):
    """A rule; its text stands in the table of verdicts as what is expected."""

    def holds(self, sample: Sample) -> bool:
        """Tell whether the number agrees; never for one that is missing."""

    def settled(self, sample: Sample) -> bool:
        """Tell whether more runs would hardly say otherwise: it agrees, or surely does not."""

    def obstacle(self, sample: Sample) -> str:
        """Return what so few runs cannot show, whatever they are like; nothing if they are enough."""

    def __str__(self) -> str:
        """Return the rule for people."""


def _only_signs(sample: Sample) -> bool:
    """Tell whether all differences are the same, not zero, and too few for their signs to be significant."""
    return (
        sample.p is None and sample.deviation == 0.0 and sample.mean != 0.0 and sample.p_value >= SIGNIFICANCE
    )


class _OfTheMean(ABC):
    """A rule about where the mean is."""

    @abstractmethod
    def holds(self, sample: Sample) -> bool:
        """Tell whether the number agrees; never for one that is missing."""

    @property
    @abstractmethod
    def ends(self) -> tuple[float, float]:
        """Where the mean must be."""

    def settled(self, sample: Sample) -> bool:
        """Tell whether it holds, or the whole interval is elsewhere."""
        low, high = sample.interval
        least, most = self.ends
        return self.holds(sample) or (sample.varies and (high < least or low > most))

    def obstacle(self, sample: Sample) -> str:
        """Return what a single run lacks."""
        return "a single run: no interval, no significance" if sample.n == 1 else ""


class _OfSignificance(ABC):
    """A rule about a difference, which one run cannot show."""

    @abstractmethod
    def holds(self, sample: Sample) -> bool:
        """Tell whether the number agrees; never for one that is missing."""

    def settled(self, sample: Sample) -> bool:
        """Tell whether the difference is significant; that it is not may be for want of runs."""
        return sample.p_value < SIGNIFICANCE

    def obstacle(self, sample: Sample) -> str:
        """Return why so few runs cannot show a difference; nothing if they can."""
        if sample.n == 1:
            return "one run shows no significance"
        if sample.n > 1 and math.isnan(sample.p_value):
            return "there is no test of this number"
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
    """How far the mean may be, as a part of it."""

    @property
    def ends(self) -> tuple[float, float]:
        """As far below the number as it may be, and as far above."""
        half = self.relative * abs(self.target)
        return self.target - half, self.target + half

    def holds(self, sample: Sample) -> bool:
        """Tell whether the mean is as near as that."""
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
        """Tell whether it is; the ends belong to it."""
        return self.low <= sample.mean <= self.high

    def __str__(self) -> str:
        return f"{self.low:g} to {self.high:g}"


@dataclass(frozen=True)
class AtLeast(_OfTheMean):
    """The mean is not below a number."""

    bound: float
    surely: bool = False
    """Its whole 95 % interval is not; for numbers that differ much from run to run."""

    @property
    def ends(self) -> tuple[float, float]:
        """The number, and no other end."""
        return self.bound, math.inf

    def holds(self, sample: Sample) -> bool:
        """Tell whether it is not; never surely of a single run, nor of equal ones: they have no interval."""
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
    """Its whole 95 % interval is not; for numbers that differ much from run to run."""

    @property
    def ends(self) -> tuple[float, float]:
        """The number, and no other end."""
        return -math.inf, self.bound

    def holds(self, sample: Sample) -> bool:
        """Tell whether it is not; never surely of a single run, nor of equal ones: they have no interval."""
        if self.surely:
            return sample.varies and sample.interval[1] <= self.bound
        return sample.mean <= self.bound

    def __str__(self) -> str:
        return f"≤ {self.bound:g}{SURELY if self.surely else ''}"


@dataclass(frozen=True)
class Positive(_OfSignificance):
    """The mean (of a difference) is above zero, significantly at `SIGNIFICANCE`."""

    def holds(self, sample: Sample) -> bool:
        """Tell whether it is; never of a single run, nor without a test."""
        return sample.mean > 0 and sample.p_value < SIGNIFICANCE

    def __str__(self) -> str:
        return f"> 0, significant at {SIGNIFICANCE:g}"


@dataclass(frozen=True)
class NotSignificant(_OfSignificance):
    """The mean (of a difference) cannot be told from zero at `SIGNIFICANCE`."""

    def holds(self, sample: Sample) -> bool:
        """Tell whether it cannot; never of a single run, nor of few equal differences, which show nothing."""
        return sample.p_value >= SIGNIFICANCE and not _only_signs(sample)

    def __str__(self) -> str:
        return f"not different from 0 at {SIGNIFICANCE:g}"

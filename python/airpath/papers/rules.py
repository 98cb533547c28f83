"""Rules: when a measured number agrees with what a paper says."""

import math
from dataclasses import dataclass
from typing import Final, Protocol

from airpath.papers.sample import Sample

SIGNIFICANCE = 0.01
"""The level of the papers (EBE-J, section IV-C)."""

SURELY: Final = ", the whole interval"
"""How a rule about the interval is written."""


class Rule(Protocol):
    """A rule; its text stands in the table of verdicts as what is expected."""

    def holds(self, sample: Sample) -> bool:
        """Tell whether the number agrees; never for one that is missing."""

    def __str__(self) -> str:
        """Return the rule for people."""


@dataclass(frozen=True)
class Near:
    """The mean is near a published number."""

    target: float
    """The published number."""
    relative: float
    """How far the mean may be, as a part of it."""

    def holds(self, sample: Sample) -> bool:
        """Tell whether the mean is as near as that."""
        return abs(sample.mean - self.target) <= self.relative * abs(self.target)

    def __str__(self) -> str:
        return f"{self.target:g} ± {self.relative * 100:g} %"


@dataclass(frozen=True)
class Between:
    """The mean is in a range."""

    low: float
    high: float

    def holds(self, sample: Sample) -> bool:
        """Tell whether it is; the ends belong to it."""
        return self.low <= sample.mean <= self.high

    def __str__(self) -> str:
        return f"{self.low:g} to {self.high:g}"


@dataclass(frozen=True)
class AtLeast:
    """The mean is not below a number."""

    bound: float
    surely: bool = False
    """Its whole 95 % interval is not; for numbers that differ much from run to run."""

    def holds(self, sample: Sample) -> bool:
        """Tell whether it is not; of a single run, which has no interval, never surely."""
        return (sample.interval[0] if self.surely else sample.mean) >= self.bound

    def __str__(self) -> str:
        return f"≥ {self.bound:g}{SURELY if self.surely else ''}"


@dataclass(frozen=True)
class AtMost:
    """The mean is not above a number."""

    bound: float
    surely: bool = False
    """Its whole 95 % interval is not; for numbers that differ much from run to run."""

    def holds(self, sample: Sample) -> bool:
        """Tell whether it is not; of a single run, which has no interval, never surely."""
        return (sample.interval[1] if self.surely else sample.mean) <= self.bound

    def __str__(self) -> str:
        return f"≤ {self.bound:g}{SURELY if self.surely else ''}"


@dataclass(frozen=True)
class Positive:
    """The mean (of a difference) is above zero, significantly at `SIGNIFICANCE` if there are repetitions."""

    def holds(self, sample: Sample) -> bool:
        """Tell whether it is; of a single run only the sign counts, which the note of the verdict says."""
        if not sample.mean > 0:
            return False
        return math.isnan(sample.p_value) or sample.p_value < SIGNIFICANCE

    def __str__(self) -> str:
        return f"> 0, significant at {SIGNIFICANCE:g}"


@dataclass(frozen=True)
class NotSignificant:
    """The mean (of a difference) cannot be told from zero at `SIGNIFICANCE`."""

    def holds(self, sample: Sample) -> bool:
        """Tell whether it cannot; never of a single run, which shows nothing."""
        return sample.p_value >= SIGNIFICANCE

    def __str__(self) -> str:
        return f"not different from 0 at {SIGNIFICANCE:g}"

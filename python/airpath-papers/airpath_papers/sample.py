"""A measured number with its repetitions: mean, interval, test against zero."""

import math
import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy import stats

from airpath.metrics import mean_interval
from airpath.results.formatting import mean_and_half_width
from airpath.statistics.paired import sign_test


@dataclass(frozen=True)
class FewerRuns:
    """Marks a number from fewer runs than its experiments have by default."""

    done: int
    """Number of executed runs of each experiment."""
    usual: int
    """Its default number of runs."""


@dataclass(frozen=True)
class Sample:
    """One number for each repetition; of a comparison, the paired differences."""

    values: tuple[float, ...]
    """The numbers; NaN if a run has no value."""
    p: float | None = None
    """The p value of the paper's own test; by default, that of a t test against zero."""
    runs: int | None = None
    """Number of runs behind a single number (the smallest); `None` if each run has its own."""
    least_p: float = 0.0
    """The smallest p value that the paper's test can have for so few numbers."""
    fewer: FewerRuns | None = None
    """The numbers of runs, if they are fewer than usual."""

    @cached_property
    def _numbers(self) -> tuple[float, float, int, float, float]:
        """Mean, deviation, count and interval, cached because they are used often."""
        return mean_interval(self.values)

    def __str__(self) -> str:
        """Return the mean ± half-width of the 95 % interval; of a single run, the number alone."""
        low, high = self.interval
        return mean_and_half_width({"mean": self.mean, "ci95_low": low, "ci95_high": high})

    @property
    def mean(self) -> float:
        """Their mean; NaN without any."""
        return self._numbers[0]

    @property
    def deviation(self) -> float:
        """Their sample standard deviation; NaN for fewer than two."""
        return self._numbers[1]

    @property
    def n(self) -> int:
        """Number of runs with a value."""
        return self._numbers[2] if self.runs is None else self.runs

    @property
    def interval(self) -> tuple[float, float]:
        """Ends of the 95 % confidence interval of the mean (Student's t); NaN for fewer than two."""
        return self._numbers[3:]

    @property
    def varies(self) -> bool:
        """Whether the interval has a width; without one, values may be equal by chance."""
        low, high = self.interval
        return low < high

    @cached_property
    def p_value(self) -> float:
        """Two-sided p value of "the mean is zero"; NaN for fewer than two values.

        Values that do not vary have no t; the p value is then that of the sign test
        (`airpath.statistics.paired.sign_test`).
        """
        if self.p is not None:
            return self.p
        if len(self.values) < 2 or self.n < 2:
            return math.nan
        if self.deviation == 0.0:
            return 1.0 if self.mean == 0.0 else sign_test(self.n)
        t = self.mean / (self.deviation / math.sqrt(self.n))
        return float(2 * stats.t.sf(abs(t), self.n - 1))


def sample(values: Sequence[float] | npt.NDArray[np.float64]) -> Sample:
    """Return the sample of these numbers."""
    return Sample(tuple(float(value) for value in values))


def cell(values: Sequence[float] | Sample) -> str:
    """Return the mean ± half-width of the 95 % interval as text."""
    return str(values if isinstance(values, Sample) else sample(values))


def difference(one: Sequence[float], other: Sequence[float]) -> Sample:
    """Return the paired differences `one` - `other`: number k of both comes from the same seed."""
    return sample(np.subtract(one, other))


def least_sure(samples: Iterable[Sample]) -> Sample:
    """Return the sample that is least certainly above zero, by its test; for single runs, the smallest mean.

    A sample without a value is the least certain.
    """

    def surety(one: Sample) -> float:
        if math.isnan(one.mean):
            return -math.inf
        if math.isnan(one.p_value):
            return one.mean
        return math.copysign(-math.log(one.p_value) if one.p_value > 0 else math.inf, one.mean)

    return min(samples, key=surety)


def least(values: Sequence[float]) -> Sample:
    """Return the smallest of some numbers, each of one run: without interval and test."""
    return Sample((min(values),), runs=len(values))


def deviation(values: Sequence[float]) -> Sample:
    """Return the sample standard deviation of numbers with its uncertainty, by the jackknife.

    No value for fewer than three numbers.
    """
    return _jackknife(lambda chosen: float(chosen[0].std(ddof=1)), values)


def ratio_of_means(one: Sequence[float], other: Sequence[float]) -> Sample:
    """Return the mean of `one` over the mean of `other` with its uncertainty, by the jackknife.

    Unlike the mean of ratios, it is not inflated by runs in which `other` happens to be small.
    """
    return of_means(operator.truediv, one, other)


def of_means(
    statistic: Callable[[float, float], float], one: Sequence[float], other: Sequence[float]
) -> Sample:
    """Return a function of two means with its uncertainty, by the jackknife.

    Number k of both comes from the same run; runs in which one has no value are ignored. It has no interval
    for fewer than three runs, and no value if it divides by zero.
    """
    pairs = np.array([pair for pair in zip(one, other, strict=True) if not math.isnan(sum(pair))])
    if not len(pairs):
        return Sample(())

    def value(chosen: npt.NDArray[np.float64]) -> float:
        try:
            return statistic(float(chosen[0].mean()), float(chosen[1].mean()))
        except ZeroDivisionError:
            return math.nan

    if len(pairs) < 3:
        return Sample((value(pairs.T),), runs=len(pairs))
    return _jackknife(value, *pairs.T)


def _jackknife(
    statistic: Callable[[npt.NDArray[np.float64]], float], *values: Sequence[float] | npt.NDArray[np.float64]
) -> Sample:
    """Return a statistic of runs with its uncertainty; each of `values` has one number for each run.

    The sample contains the pseudo-values n s - (n - 1) s(k), where s(k) is the statistic without run k
    (Quenouille, Tukey); their mean is the statistic without its first-order bias. No value for fewer than
    three runs.
    """
    x = np.asarray(values, dtype=np.float64)
    n = x.shape[1]
    if n < 3:
        return Sample((math.nan,), runs=n)
    whole = statistic(x)
    without = [statistic(np.delete(x, run, axis=1)) for run in range(n)]
    if not all(map(math.isfinite, without)):
        return Sample((whole,), runs=n)  # a single run prevents a division by zero: no interval
    return sample([n * whole - (n - 1) * one for one in without])

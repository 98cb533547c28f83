"""Expectations of a metric, and their evaluation."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from airpath.errors import UnitError
from airpath.metrics import METRICS
from airpath.results.formatting import mean_and_half_width, number
from airpath.statistics import MeanDifference, MeanEstimate, mean_difference
from airpath.units import parse_duration, parse_rate, parse_size

Values = Mapping[int, float]
"""Value of a metric by seed; NaN if a run has none."""

_IN_UNIT: Final = {
    "Mbit/s": lambda text: parse_rate(text) / 1e6,
    "ms": lambda text: parse_duration(text) / 1e6,
    "s": lambda text: parse_duration(text) / 1e9,
    "B": lambda text: float(parse_size(text)),
}
"""Conversion of text to a number in the unit of a metric."""


def in_unit(metric: str, value: float | str) -> float:
    """Return a limit in the unit of a metric.

    Raises
    ------
    UnitError
        If it is text that is not a quantity of this unit.
    """
    if not isinstance(value, str):
        return float(value)
    unit = METRICS[metric].unit
    if unit not in _IN_UNIT:
        raise UnitError(f'found "{value}"; accepted: a number{f" ({unit})" if unit else ""}')
    return float(_IN_UNIT[unit](value))


def mean_text(estimate: MeanEstimate) -> str:
    """Format a mean and the half-width of its interval, as summaries do."""
    return mean_and_half_width({"mean": estimate.mean, "ci95_low": estimate.low, "ci95_high": estimate.high})


@dataclass(frozen=True, slots=True)
class Judged:
    """One expectation and its outcome.

    Attributes
    ----------
    metric
        The metric, of `airpath.metrics.METRICS`.
    expected
        The expectation, in words.
    measured
        The measured value, in words.
    passed
        Whether the expectation is met.
    remark
        Reason for a failure, or another remark; may be empty.
    difference
        The measured value minus its reference, for expectations with a reference.
    skipped
        Whether there was no reference, which is not a failure.
    """

    metric: str
    expected: str
    measured: MeanEstimate
    passed: bool
    remark: str = ""
    difference: MeanDifference | None = None
    skipped: bool = False

    @property
    def name(self) -> str:
        """Metric and expectation in words: the name of a test."""
        return f"{self.metric} {self.expected}"


@dataclass(frozen=True, slots=True)
class Bound:
    """The expectation that the mean is at least, or at most, a number.

    Attributes
    ----------
    metric
        The metric.
    is_lower
        Whether it is a lower bound.
    limit
        The number, in the unit of the metric.
    """

    metric: str
    is_lower: bool
    limit: float

    def judge(self, values: Values) -> Judged:
        """Evaluate the mean of the values; the interval only shows the reader how close it is.

        A run without a value fails the expectation (nothing arrived, for example), because the mean of the
        other runs would hide it.
        """
        measured = MeanEstimate.of(values)
        unit = METRICS[self.metric].unit
        expected = f"at {'least' if self.is_lower else 'most'} {self.limit:g}{f' {unit}' if unit else ''}"
        if not measured.n:
            return Judged(self.metric, expected, measured, passed=False, remark=NO_VALUE_REMARK)
        passed = measured.mean >= self.limit if self.is_lower else measured.mean <= self.limit
        near = measured.low < self.limit < measured.high
        remark = _joined(_gone(values), NEAR_REMARK if near else "")
        return Judged(self.metric, expected, measured, passed and not _gone(values), remark)


@dataclass(frozen=True, slots=True)
class RelativeBound:
    """The expectation that the mean is at least, or at most, a multiple of another scheme's, paired by seed.

    Attributes
    ----------
    metric
        The metric.
    is_lower
        Whether it is a lower bound.
    factor
        The factor.
    of
        The other scheme.
    """

    metric: str
    is_lower: bool
    factor: float
    of: str

    def judge(self, values: Values, others: Values) -> Judged:
        """Evaluate the mean difference from the factor times the other's value, seed by seed.

        A run without a value fails the expectation; runs of the other scheme without a value are not
        compared.
        """
        measured, other = MeanEstimate.of(values), MeanEstimate.of(others)
        expected = f"at {'least' if self.is_lower else 'most'} {self.factor:g} of {self.of}"
        limits = {seed: self.factor * value for seed, value in others.items()}
        difference = mean_difference(values, limits)
        if math.isnan(difference.difference):
            remark = f"no run of {self.of} has a value" if measured.n else NO_VALUE_REMARK
            return Judged(self.metric, expected, measured, passed=False, remark=remark)
        passed = difference.difference >= 0.0 if self.is_lower else difference.difference <= 0.0
        near = difference.low < 0.0 < difference.high
        remark = _joined(f"{self.of} has {mean_text(other)}", _gone(values), NEAR_REMARK if near else "")
        return Judged(self.metric, expected, measured, passed and not _gone(values), remark, difference)


@dataclass(frozen=True, slots=True)
class Envelope:
    """The expectation that the mean is not worse than a baseline.

    Attributes
    ----------
    metric
        The metric.
    tolerance
        How much worse it may be: a share of the baseline's mean, or, if `absolute`, in the unit of the
        metric.
    absolute
        Whether `tolerance` is in the unit of the metric.
    """

    metric: str
    tolerance: float
    absolute: bool

    @property
    def expected(self) -> str:
        """The expectation, in words."""
        if self.absolute:
            return f"as the baseline within {self.tolerance:g} {METRICS[self.metric].unit}"
        return f"as the baseline within {100 * self.tolerance:g} %"

    def learned(self, values: Values) -> Judged:
        """Return the outcome for values that have just become the baseline."""
        return Judged(self.metric, self.expected, MeanEstimate.of(values), passed=True, remark="learned")

    def unknown(self, values: Values, why: str, *, skipped: bool) -> Judged:
        """Return the outcome without a baseline: a failure, or skipped."""
        measured = MeanEstimate.of(values)
        return Judged(self.metric, self.expected, measured, passed=skipped, remark=why, skipped=skipped)

    def judge(self, values: Values, baseline: Values) -> Judged:
        """Evaluate the difference from the baseline.

        A difference counts if its interval excludes zero and it is larger than the tolerance; between single
        values, which have no interval, if it is larger. A change for the better passes if the metric has a
        better direction; otherwise changes in both directions fail. A run without a value fails if the
        baseline has one of its seed.
        """
        measured, then = MeanEstimate.of(values), MeanEstimate.of(baseline)
        difference = mean_difference(values, baseline)
        if not measured.n and not then.n:
            return Judged(self.metric, self.expected, measured, passed=True, remark="no value, as before")
        if not measured.n or not then.n:
            what = "no run has a value now" if then.n else "the baseline has no value"
            return Judged(self.metric, self.expected, measured, passed=False, remark=what)
        by = difference.difference
        most = self.tolerance if self.absolute else self.tolerance * abs(then.mean)
        single = math.isnan(difference.low)
        counts = abs(by) > most and (single or difference.is_sure)
        gone = _gone({seed: value for seed, value in values.items() if seed in baseline})
        better = METRICS[self.metric].better
        is_better = bool(better) and (by > 0.0) == (better == "higher")
        remark = f"baseline {mean_text(then)}"
        if by:
            interval = "" if single else f" [{number(difference.low)}, {number(difference.high)}]"
            remark += f", difference {number(by)}{interval}"
        if counts and is_better:
            remark += "; better: --update keeps it"
        elif abs(by) > most and not counts:
            remark += "; the interval holds zero: not sure"
        passed = (not counts or is_better) and not gone
        return Judged(self.metric, self.expected, measured, passed, _joined(remark, gone), difference)


Expectation = Bound | RelativeBound | Envelope


def _gone(values: Values) -> str:
    """Return a remark on the number of runs without a value; empty if all have one."""
    gone = sum(math.isnan(value) for value in values.values())
    return f"no value in {gone} of {len(values)} runs" if gone else ""


def _joined(*remarks: str) -> str:
    return "; ".join(filter(None, remarks))


NO_VALUE_REMARK: Final = "no run has a value"
NEAR_REMARK: Final = "the limit is within the interval: more repetitions would make it sure"

"""The ranks of the entries of a leaderboard."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from airpath.leaderboard.document import OF_SCORE, SCORE
from airpath.leaderboard.scores import Scores
from airpath.metrics import METRICS, mean_interval

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Interval:
    """A mean over seeds and the half-width of its 95 % confidence interval."""

    mean: float
    half: float

    @classmethod
    def of(cls, values: Numbers) -> "Interval":
        """Return the interval of one value for each seed."""
        mean, _, _, low, high = mean_interval(values)
        return cls(mean, (high - low) / 2)


@dataclass(frozen=True)
class Standing:
    """One entry of a leaderboard, over all ranked cases.

    Attributes
    ----------
    rank
        1, 2, …; 0 if the entry has no value in a ranked case.
    entry
        Its name.
    values
        Each column of the leaderboard, over cases (`over_cases`) and seeds.
    behind
        How far the first column is worse than that of the first entry, over the same seeds.
    on_front
        Whether no other entry is better in both axes of the figure.
    missing
        The ranked cases without values.
    """

    rank: int
    entry: str
    values: dict[str, Interval]
    behind: Interval
    on_front: bool
    missing: tuple[str, ...]


def standings(scores: Scores) -> list[Standing]:
    """Return the entries by rank, then those that have no rank."""
    columns = scores.document.columns
    whole = [entry for entry in scores.entries if not scores.missing(entry)]
    values = {
        entry: {column: over_cases(scores, scores.ranked, entry, column) for column in columns}
        for entry in scores.entries
    }
    first = columns[0]
    sign = 1.0 if higher_is_better(first) else -1.0

    def key(entry: str) -> float:
        mean = Interval.of(values[entry][first]).mean
        return math.inf if math.isnan(mean) else -sign * mean

    whole.sort(key=key)
    front = pareto_front(scores, {entry: values[entry] for entry in whole})
    leader = values[whole[0]][first] if whole else np.full(scores.repetitions, math.nan)
    return [
        Standing(
            rank,
            entry,
            {column: Interval.of(values[entry][column]) for column in columns},
            Interval.of(sign * (leader - values[entry][first])),
            entry in front,
            scores.missing(entry),
        )
        for rank, entry in [
            *enumerate(whole, 1),
            *((0, entry) for entry in scores.entries if entry not in whole),
        ]
    ]


def axes_of(scores: Scores) -> tuple[str, str]:
    """Return the columns on the axes of the figure, x and y: the third and the second one."""
    columns = [column for column in scores.document.columns if column != SCORE]
    return columns[1], columns[0]


def higher_is_better(column: str) -> bool:
    """Return whether the higher value of a column is the better one."""
    return column == SCORE or METRICS[column].better == "higher"


def over_cases(scores: Scores, cases: Sequence[str], entry: str, column: str) -> Numbers:
    """Return one value of a column for each seed, over the cases that have the metric.

    It is the median of delays and times, of which one case can be hundreds of times that of the others, the
    geometric mean of scores, which are products of ratios, and the mean of all others.
    """
    values = np.array([of_case(scores, case, entry, column) for case in cases])
    # Without fairness, say, in cases with a single flow.
    values = values[~np.isnan(values).all(axis=1)]
    if not len(values):
        return np.full(scores.repetitions, math.nan)
    if column == SCORE:
        with np.errstate(divide="ignore"):
            product: Numbers = np.exp(np.log(values).mean(axis=0))
        return product
    is_time = METRICS[column].unit in ("ms", "s")
    combined: Numbers = np.median(values, axis=0) if is_time else values.mean(axis=0)
    return combined


def of_case(scores: Scores, case: str, entry: str, column: str) -> Numbers:
    """Return the value of a column for each seed of a case.

    The utilisation is relative to that of the bound with the same seed. The score is this utilisation, times
    Jain's index if there are several flows, divided by the ratio of the p95 one-way delay to the mean one-way
    delay without queueing: the power of Giessler et al. (1978), 1 for a sender that fills the link without a
    queue.
    """
    if column == SCORE:
        _, jain, p95, mean, queueing = (np.array(scores.of(case, entry, name)) for name in OF_SCORE)
        used = of_case(scores, case, entry, "utilisation")
        power: Numbers = used * np.where(np.isnan(jain), 1.0, jain) * (mean - queueing) / p95
        # A run in which nothing arrived has no delay.
        return np.where(np.isnan(power) & ~np.isnan(used), 0.0, power)
    found = np.array(scores.of(case, entry, column))
    bound = scores.document.bound
    if column == "utilisation" and bound is not None:
        found = found / np.array(scores.of(case, bound, column))
    return found


def pareto_front(scores: Scores, values: dict[str, dict[str, Numbers]]) -> set[str]:
    """Return the entries for which no other is at least as good in both axes of the figure and not equal."""
    points = {}
    for entry, columns in values.items():
        means = [Interval.of(columns[axis]).mean for axis in axes_of(scores)]
        if not any(map(math.isnan, means)):
            signs = (1.0 if higher_is_better(axis) else -1.0 for axis in axes_of(scores))
            points[entry] = [sign * mean for sign, mean in zip(signs, means, strict=True)]
    return {
        entry
        for entry, point in points.items()
        if not any(
            other != point and all(theirs >= ours for theirs, ours in zip(other, point, strict=True))
            for other in points.values()
        )
    }

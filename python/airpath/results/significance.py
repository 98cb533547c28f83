"""One sentence on the significant differences between schemes."""

import math
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
import pyarrow as pa

from airpath.metrics import mean_interval

Compared = Sequence[tuple[str, str, str, bool]]
"""The metrics of a sentence: name, human-readable name, unit, and whether more is better."""

COMPARED: Final[Compared] = (
    ("throughput_mbps", "throughput", "Mbit/s", True),
    ("queueing_p95_ms", "p95 queueing delay", "ms", False),
)
"""The metrics of the sentence at the terminal."""


def significant_differences(summary: pa.Table) -> list[str]:
    """Return the significant differences between schemes as one sentence, or nothing for a single scheme.

    Schemes are compared seed by seed. A difference counts if its 95 % interval (Student's t) excludes zero;
    the level is not adjusted for the number of pairs.

    Parameters
    ----------
    summary
        One row for each run (`airpath.results.Results.summary`).
    """
    parts = Differences(summary, COMPARED).sentences()
    return ["; ".join(parts)] if parts else []


class Differences:
    """Differences between schemes in some metrics, seed by seed.

    Parameters
    ----------
    summary
        One row for each run.
    compared
        The metrics.
    name
        Returns the name of a scheme in sentences.
    """

    def __init__(self, summary: pa.Table, compared: Compared, name: Callable[[str], str] = str) -> None:
        self._compared, self._name = compared, name
        self._values: dict[str, dict[int, tuple[float, ...]]] = {}
        names = [metric for metric, *_ in compared]
        for row in summary.select(["scheme", "seed", *names]).to_pylist():
            of_scheme = self._values.setdefault(row["scheme"], {})
            of_scheme[row["seed"]] = tuple(row[metric] for metric in names)

    @property
    def schemes(self) -> list[str]:
        """The schemes, in the order of the runs."""
        return list(self._values)

    @property
    def is_repeated(self) -> bool:
        """Whether a scheme has more than one seed."""
        return any(len(seeds) > 1 for seeds in self._values.values())

    def sentences(self) -> list[str]:
        """Return a sentence for each metric that has values; none for a single scheme."""
        if len(self._values) < 2:
            return []
        if not self.is_repeated:
            return ["one seed for each scheme: whether they differ by more than chance is not known (--reps)"]
        sentence = self._pair if len(self._values) == 2 else self._best
        return [text for column in range(len(self._compared)) if (text := sentence(column))]

    def beats(self, first: str, second: str) -> bool:
        """Whether the first scheme is significantly better than the second in every metric."""
        for column, (*_, more_is_better) in enumerate(self._compared):
            difference, is_sure = self._difference(first, second, column)
            if not is_sure or (difference > 0) != more_is_better:
                return False
        return True

    def _pair(self, column: int) -> str:
        (first, second), (_, title, unit, more_is_better) = self._values, self._compared[column]
        difference, is_sure = self._difference(first, second, column)
        if math.isnan(difference):
            return ""
        if not is_sure:
            return f"{self._name(first)} and {self._name(second)} do not differ significantly in {title}"
        winner = self._name(first if (difference > 0) == more_is_better else second)
        return f"{winner} has {_three(abs(difference))} {unit} {'more' if more_is_better else 'less'} {title}"

    def _best(self, column: int) -> str:
        _, title, unit, more_is_better = self._compared[column]
        means = {
            scheme: float(np.mean([numbers[column] for numbers in seeds.values()]))
            for scheme, seeds in self._values.items()
        }
        known = {scheme: mean for scheme, mean in means.items() if not math.isnan(mean)}
        if not known:
            return ""
        best = (max if more_is_better else min)(known, key=lambda scheme: known[scheme])
        alike = [one for one in known if one != best and not self._difference(best, one, column)[1]]
        text = f"{self._name(best)} has the {'most' if more_is_better else 'least'} {title}"
        text += f" ({_three(known[best])} {unit})"
        than = f"not significantly {'more' if more_is_better else 'less'} than"
        return f"{text}, {than} {listed([self._name(one) for one in alike])}" if alike else text

    def _difference(self, first: str, second: str, column: int) -> tuple[float, bool]:
        """Return the mean of the first minus the second, and whether its interval excludes zero."""
        ours, theirs = self._values[first], self._values[second]
        mean, _, n, low, high = mean_interval(
            [ours[seed][column] - theirs[seed][column] for seed in ours if seed in theirs]
        )
        return mean, n > 1 and (low > 0.0 or high < 0.0)


def _three(value: float) -> str:
    """Format a number with three significant digits, or as an integer."""
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:#.3g}".rstrip(".")


def listed(names: Sequence[str]) -> str:
    """Return names as a list in a sentence."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"

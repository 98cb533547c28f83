"""The precision that a user requests, which determines the number of repetitions."""

import math
import re
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Final, Self

from airpath._nearest import suggestion
from airpath.errors import UsageError
from airpath.metrics import METRICS
from airpath.precision.group_sequential import nominal_level

DEFAULT_METRIC: Final = "goodput_mbps"
"""The metric whose precision is evaluated by default."""
DEFAULT_LEAST: Final = 10
"""Smallest number of repetitions: with fewer, the standard deviation is hardly known."""
DEFAULT_MOST: Final = 100
"""Largest number of repetitions."""
CONFIDENCE: Final = 0.95
"""Joint confidence of all intervals of a scheme."""
LARGEST_MOST: Final = 1_000_000

_SHARE: Final = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*%\s*", re.ASCII)
_ACCEPTED_SHARE: Final = 'a share of the mean above 0 % and below 100 %, as in "2%"'


@dataclass(frozen=True, slots=True)
class PrecisionRule:
    """A rule that adds repetitions in rounds until means, or differences, are known precisely enough.

    The rounds are fixed before the first run: `looks`. All intervals of all rounds together contain the true
    mean with 95 % (`airpath.precision.group_sequential`), so stopping at one of them does not reduce the
    confidence.

    Attributes
    ----------
    precision
        Largest half-width of the interval of every scheme's mean, as a share of the mean, above 0 and below
        1; means are not checked if `None`.
    difference
        Every paired difference of two schemes must be significant, or known to be smaller than this share of
        the mean of both, above 0 and below 1; differences are not checked if `None`.
    metric
        Name of the metric, in `airpath.metrics.METRICS`.
    min_repetitions, max_repetitions
        Smallest and largest number of repetitions, 2 to 1 000 000.

    Raises
    ------
    UsageError
        If a number is out of range, there is no such metric, or neither precision nor difference is given.
    """

    precision: float | None = None
    difference: float | None = None
    metric: str = DEFAULT_METRIC
    min_repetitions: int = DEFAULT_LEAST
    max_repetitions: int = DEFAULT_MOST

    def __post_init__(self) -> None:
        if self.precision is None and self.difference is None:
            raise UsageError(f"precision: nothing was given; accepted: {_ACCEPTED_SHARE}")
        for name in ("precision", "difference"):
            share = getattr(self, name)
            if share is not None and not (_is_number(share) and 0.0 < share < 1.0):
                raise UsageError(f"{name}: found {share!r}; accepted: a number above 0 and below 1")
        if self.metric not in METRICS:
            raise UsageError(f'metric: found "{self.metric}"; {suggestion(str(self.metric), METRICS)}')
        for name, count, fewest in (
            ("min_repetitions", self.min_repetitions, 2),
            ("max_repetitions", self.max_repetitions, self.min_repetitions),
        ):
            if not _is_whole(count) or not fewest <= count <= LARGEST_MOST:
                raise UsageError(
                    f"{name}: found {count!r}; accepted: {fewest} to {LARGEST_MOST} repetitions, a whole"
                    " number"
                )

    @classmethod
    def parse(
        cls,
        precision: str | None = None,
        *,
        difference: str | None = None,
        metric: str = DEFAULT_METRIC,
        min_repetitions: int | None = None,
        max_repetitions: int = DEFAULT_MOST,
    ) -> Self:
        """Parse a rule from texts.

        Parameters
        ----------
        precision, difference
            Shares with their unit, as in ``2%``.
        metric
            Name of a metric; an unambiguous abbreviation is enough (`goodput`).
        min_repetitions, max_repetitions
            As the attributes; by default the minimum is 10, or the maximum if that is smaller.

        Raises
        ------
        UsageError
            If a text is not valid.
        """
        if min_repetitions is None:
            few = _is_whole(max_repetitions) and 2 <= max_repetitions < DEFAULT_LEAST
            min_repetitions = max_repetitions if few else DEFAULT_LEAST
        return cls(
            None if precision is None else _share("precision", precision),
            None if difference is None else _share("difference", difference),
            metric_called(metric),
            min_repetitions,
            max_repetitions,
        )

    def refuse_too_few(self, schemes: int) -> None:
        """Refuse to request differences if there is only one scheme.

        Raises
        ------
        UsageError
            If differences are requested and there are fewer than two schemes.
        """
        if self.difference is not None and schemes < 2:
            raise UsageError("difference: found a single scheme; accepted: two or more")

    def facts(self) -> dict[str, Any]:
        """Return the attributes, for JSON."""
        return {
            "precision": None if self.precision is None else float(self.precision),
            "difference": None if self.difference is None else float(self.difference),
            "metric": self.metric,
            "min_repetitions": int(self.min_repetitions),
            "max_repetitions": int(self.max_repetitions),
        }

    @property
    def looks(self) -> tuple[int, ...]:
        """Number of repetitions of every scheme at each look.

        The looks are at `min_repetitions`, at half as many again each time, and at `max_repetitions`. A look
        is left out if the last one follows within a quarter: so few additional repetitions are not worth
        wider intervals.
        """
        found, following = [], int(self.min_repetitions)
        while 4 * self.max_repetitions >= 5 * following:
            found.append(following)
            following = -(-3 * following // 2)
        return (*found, int(self.max_repetitions))

    @property
    def level(self) -> float:
        """1 - the confidence of an interval at one look."""
        return nominal_level(self.looks, CONFIDENCE)


def metric_called(name: str) -> str:
    """Return the metric with this name, or the only one whose name continues it (with its unit, for example).

    Without such a metric the name is returned unchanged, for a message.
    """
    longer = [metric for metric in METRICS if metric.startswith(f"{name}_")]
    return longer[0] if name not in METRICS and len(longer) == 1 else name


def _share(name: str, text: object) -> float:
    found = _SHARE.fullmatch(text) if isinstance(text, str) else None
    share = float(found[1]) / 100 if found else math.nan
    if not 0.0 < share < 1.0:
        raise UsageError(f'{name}: found "{text}"; accepted: {_ACCEPTED_SHARE}')
    return share


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)

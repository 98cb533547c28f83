"""Links that vary between episodes: the sampled values and their ranges."""

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np

from airpath.errors import UnitError, UsageError
from airpath.sweeps.ranges import common_kind

HELP: Final = (
    '"LOW..HIGH" (each value alike), "LOW..HIGH log" (each ratio alike), such as "5mbps..50mbps log", or'
    " a list of values"
)

Draw = Callable[[np.random.Generator], Any]
"""A function that samples a value of a scenario."""


class Variation:
    """Values of a scenario that are sampled for each episode.

    Parameters
    ----------
    ranges
        Mapping from keys of a scenario to a range as text, or to a list of values.

    Raises
    ------
    UsageError
        If a value is neither.
    """

    def __init__(self, ranges: Mapping[str, object]) -> None:
        self._draws = {key: _draw(key, given) for key, given in ranges.items()}

    def __bool__(self) -> bool:
        return bool(self._draws)

    def values(self, generator: np.random.Generator) -> dict[str, Any]:
        """Sample a value for each key, in the order of the mapping."""
        return {key: draw(generator) for key, draw in self._draws.items()}


def _draw(key: str, given: object) -> Draw:
    if isinstance(given, str) and ".." in given:
        return _between(key, given)
    if isinstance(given, Sequence) and not isinstance(given, str) and given:
        values = list(given)
        return lambda generator: values[int(generator.integers(len(values)))]
    raise UsageError(f"vary.{key}: found {given!r}; accepted: {HELP}")


def _between(key: str, text: str) -> Draw:
    low_text, _, rest = text.partition("..")
    logarithmic = rest.rstrip().endswith(" log")
    high_text = rest.rstrip().removesuffix(" log")
    ends = [low_text.strip(), high_text.strip()]
    write: Callable[[Fraction], Any]
    if (kind := common_kind(ends)) is not None:
        low, high = (kind.read(end) for end in ends)
        write, whole = kind.write, kind.whole
    else:
        low, high = (_number(key, end, text) for end in ends)
        write, whole = float, False
    if low > high or (logarithmic and low <= 0):
        problem = "its lower end is not above zero" if low <= high else "it does not rise"
        raise UsageError(f'vary.{key}: found "{text}": {problem}; accepted: {HELP}')

    def draw(generator: np.random.Generator) -> Any:
        share = generator.random()
        if logarithmic:
            drawn = Fraction(float(low) * math.exp(math.log(high / low) * share))
        else:
            drawn = low + (high - low) * Fraction(share)
        # Rounding must not leave the range.
        return write(min(max(Fraction(round(drawn)) if whole else drawn, low), high))

    try:
        write(low), write(high)
    except UnitError as error:
        raise UsageError(f'vary.{key}: found "{text}": {error}') from None
    return draw


def _number(key: str, text: str, whole: str) -> Fraction:
    try:
        return Fraction(float(text))
    except (ValueError, OverflowError):
        raise UsageError(f'vary.{key}: found "{whole}"; accepted: {HELP}') from None

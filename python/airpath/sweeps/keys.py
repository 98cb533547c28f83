"""The keys of a scenario that a sweep sets: each may be set by one part only."""

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Final

from airpath.errors import ScenarioError

OF_THE_SWEEP: Final = ("seed", "repetitions")
"""Keys of the scenario that the sweep replaces by its own keys."""

Steps = tuple[str, ...]


def steps(path: str) -> Steps:
    """Return the steps of a path, with list indices normalised: `flows.00.count` is `flows.0.count`."""
    return tuple(str(int(step)) if step.isdecimal() else step for step in path.split("."))


def refuse_shared_keys(varied: Sequence[str], fixed: Sequence[str], source: str) -> None:
    """Refuse keys of which one would overwrite another.

    A fixed key may contain a varied one, because varied keys are set later.

    Parameters
    ----------
    varied, fixed
        Paths set by axes, and by `set`.
    source
        The name of the sweep in messages.

    Raises
    ------
    ScenarioError
        If a key is set twice, or a key that contains it is also set.
    """
    for path in (*varied, *fixed):
        if path in OF_THE_SWEEP:
            raise ScenarioError(
                f'{source}: "{path}" cannot be varied or set; a sweep has "seed", "repetitions" and'
                ' "seeds" of its own, at its top'
            )
    paths = [*((path, False) for path in fixed), *((path, True) for path in varied)]
    for (one, one_varies), (other, other_varies) in combinations(paths, 2):
        if one == other:
            raise ScenarioError(f'{source}: "{one}" is set twice; an axis or "set", once')
        if steps(one) == steps(other):
            raise ScenarioError(
                f'{source}: "{one}" and "{other}" are the same key, which is set twice;'
                ' an axis or "set", once'
            )
        in_order = one_varies == other_varies or not is_above(one, other)
        if in_order and (is_above(one, other) or is_above(other, one)):
            upper, lower = sorted((one, other), key=lambda path: len(steps(path)))
            raise ScenarioError(
                f'{source}: "{upper}" would replace "{lower}", which is set too; accepted: one of them'
            )


def refuse_keys_of_schemes(
    varied: Iterable[str], fixed: Iterable[str], flows: Iterable[int], source: str
) -> None:
    """Refuse keys that `schemes` sets in the flows under test.

    Raises
    ------
    ScenarioError
        If an axis sets the scheme of such a flow or the flow as a whole, or `set` its scheme.
    """
    for scheme in (f"flows.{number}.scheme" for number in flows):
        clashing = [path for path in varied if steps(path) == steps(scheme) or is_above(path, scheme)]
        clashing += [path for path in fixed if steps(path) == steps(scheme)]
        if clashing:
            raise ScenarioError(
                f'{source}: "{clashing[0]}" is set twice, since "schemes" sets "{scheme}"; accepted: one of'
                ' them, or other flows under test under "flows"'
            )


def is_above(upper: str, lower: str) -> bool:
    """Return whether one key is a table or list that contains another."""
    outer, inner = steps(upper), steps(lower)
    return len(outer) < len(inner) and inner[: len(outer)] == outer

"""One sentence on the significant differences between schemes."""

import math
from typing import Final

import numpy as np
import pyarrow as pa

from airpath.metrics import mean_interval

COMPARED: Final = (
    ("throughput_mbps", "throughput", "Mbit/s", True),
    ("queueing_p95_ms", "p95 queueing delay", "ms", False),
)
"""The metrics of the sentence: name, what people call it, unit, and whether more is better."""


def significant_differences(summary: pa.Table) -> list[str]:
    """Return the significant differences between schemes as one sentence, or nothing for a single scheme.

    Schemes are compared seed by seed. A difference counts if its 95 % interval (Student's t) excludes zero;
    the level is not adjusted for the number of pairs.

    Parameters
    ----------
    summary
        One row for each run (`airpath.results.Results.summary`).
    """
    values = _values(summary)
    if len(values) < 2:
        return []
    if all(len(seeds) < 2 for seeds in values.values()):
        return ["one seed for each scheme: whether they differ by more than chance is not known (--reps)"]
    parts = [
        _pair(values, column) if len(values) == 2 else _best(values, column)
        for column in range(len(COMPARED))
    ]
    return ["; ".join(part for part in parts if part)] if any(parts) else []


Values = dict[str, dict[int, tuple[float, ...]]]
"""The compared metrics of each scheme and seed."""


def _values(summary: pa.Table) -> Values:
    names = [name for name, *_ in COMPARED]
    values: Values = {}
    for row in summary.select(["scheme", "seed", *names]).to_pylist():
        values.setdefault(row["scheme"], {})[row["seed"]] = tuple(row[name] for name in names)
    return values


def _pair(values: Values, column: int) -> str:
    (first, second), (_, title, unit, more_is_better) = values, COMPARED[column]
    difference, is_sure = _difference(values, first, second, column)
    if math.isnan(difference):
        return ""
    if not is_sure:
        return f"{first} and {second} do not differ significantly in {title}"
    winner = first if (difference > 0) == more_is_better else second
    return f"{winner} has {_three(abs(difference))} {unit} {'more' if more_is_better else 'less'} {title}"


def _best(values: Values, column: int) -> str:
    _, title, unit, more_is_better = COMPARED[column]
    means = {
        scheme: float(np.mean([numbers[column] for numbers in seeds.values()]))
        for scheme, seeds in values.items()
    }
    known = {scheme: mean for scheme, mean in means.items() if not math.isnan(mean)}
    if not known:
        return ""
    best = (max if more_is_better else min)(known, key=lambda scheme: known[scheme])
    alike = [one for one in known if one != best and not _difference(values, best, one, column)[1]]
    text = f"{best} has the {'most' if more_is_better else 'least'} {title}"
    text += f" ({_three(known[best])} {unit})"
    than = f"not significantly {'more' if more_is_better else 'less'} than"
    return f"{text}, {than} {_listed(alike)}" if alike else text


def _difference(values: Values, first: str, second: str, column: int) -> tuple[float, bool]:
    """Return the mean of the first less the second, seed by seed, and whether its interval excludes zero."""
    ours, theirs = values[first], values[second]
    mean, _, n, low, high = mean_interval(
        [ours[seed][column] - theirs[seed][column] for seed in ours if seed in theirs]
    )
    return mean, n > 1 and (low > 0.0 or high < 0.0)


def _three(value: float) -> str:
    """Return a number with three significant digits, or whole."""
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:#.3g}".rstrip(".")


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"

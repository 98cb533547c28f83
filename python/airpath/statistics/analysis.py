"""The complete statistical analysis of one metric of several schemes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import pyarrow as pa

from airpath.metrics import METRICS
from airpath.statistics.anova import Anova, WelchAnova, one_way, welch
from airpath.statistics.comparisons import PairComparison, games_howell, tukey_hsd
from airpath.statistics.effects import eta_squared, hedges_g, omega_squared
from airpath.statistics.groups import Group
from airpath.statistics.paired import PairedComparison, paired


@dataclass(frozen=True, slots=True)
class Analysis:
    """The whole analysis of one metric.

    Attributes
    ----------
    title
        Title of the measured quantity.
    unit
        Its unit, empty for a plain number.
    alpha
        Level of significance; intervals have the confidence 1 - alpha.
    groups
        Descriptives of each scheme.
    anova
        One-way analysis of variance.
    tukey
        Tukey's comparisons of all ordered pairs.
    welch
        Welch's analysis of variance; ``None`` if a group has a single sample.
    games_howell
        Games and Howell's comparisons of all ordered pairs; empty if a group has a single sample.
    eta_squared, omega_squared
        Effect sizes.
    hedges_g
        Hedges' g of each pair, by names.
    pairs
        Paired comparisons over equal seeds; empty if seeds are not known.
    """

    title: str
    unit: str
    alpha: float
    groups: tuple[Group, ...]
    anova: Anova
    tukey: tuple[PairComparison, ...]
    welch: WelchAnova | None
    games_howell: tuple[PairComparison, ...]
    eta_squared: float
    omega_squared: float
    hedges_g: dict[tuple[str, str], float]
    pairs: tuple[PairedComparison, ...] = ()


def analyse(
    title: str,
    groups: Sequence[Group],
    *,
    unit: str = "",
    alpha: float = 0.01,
    pairs: Sequence[PairedComparison] = (),
) -> Analysis:
    """Analyse groups of samples.

    Parameters
    ----------
    title, unit
        Title and unit of the measured quantity.
    groups
        The groups (`Group.of`).
    alpha
        Level of significance.
    pairs
        Paired comparisons, if there are any.

    Raises
    ------
    ValueError
        If there are fewer than two groups, or no group has two samples.
    """
    anova = one_way(groups)
    enough = all(group.n >= 2 for group in groups)
    return Analysis(
        title=title,
        unit=unit,
        alpha=alpha,
        groups=tuple(groups),
        anova=anova,
        tukey=tuple(tukey_hsd(groups, alpha)),
        welch=welch(groups) if enough else None,
        games_howell=tuple(games_howell(groups, alpha)) if enough else (),
        eta_squared=eta_squared(anova),
        omega_squared=omega_squared(anova),
        hedges_g={(a.name, b.name): hedges_g(a, b) for a, b in combinations(groups, 2)},
        pairs=tuple(pairs),
    )


def analyse_metric(
    summary: pa.Table, metric: str, *, schemes: Sequence[str] | None = None, alpha: float = 0.01
) -> Analysis:
    """Analyse one metric of a summary: schemes are groups, repetitions samples, equal seeds pairs.

    Parameters
    ----------
    summary
        One row for each run (`airpath.results.Results.summary`).
    metric
        Name of the metric: one of `airpath.metrics.METRICS`.
    schemes
        The schemes to compare, in this order; by default all, in the order of the summary.
    alpha
        Level of significance.

    Raises
    ------
    KeyError
        If there is no such metric.
    ValueError
        If a scheme has no values, or there are too few to compare.
    """
    definition = METRICS[metric]
    values = _by_seed(summary, metric)
    names = list(values) if schemes is None else list(schemes)
    groups = [Group.of(name, values.get(name, {}).values()) for name in names]
    pairs = _pairs(values, names, alpha)
    return analyse(definition.title, groups, unit=definition.unit, alpha=alpha, pairs=pairs)


def paired_metric(
    summary: pa.Table, metric: str, *, schemes: Sequence[str] | None = None, alpha: float = 0.01
) -> list[PairedComparison]:
    """Compare all pairs of schemes by one metric, seed by seed; pairs without a common seed are left out.

    Parameters
    ----------
    summary, metric, schemes, alpha
        As those of `analyse_metric`.

    Raises
    ------
    KeyError
        If there is no such metric.
    """
    return _pairs(_by_seed(summary, metric), schemes, alpha)


def _by_seed(summary: pa.Table, metric: str) -> dict[str, dict[int, float]]:
    """Return the values of a metric by scheme and seed."""
    values: dict[str, dict[int, float]] = {}
    for row in summary.select(["scheme", "seed", metric]).to_pylist():
        values.setdefault(row["scheme"], {})[row["seed"]] = row[metric]
    return values


def _pairs(
    values: dict[str, dict[int, float]], schemes: Sequence[str] | None, alpha: float
) -> list[PairedComparison]:
    names = list(values) if schemes is None else schemes
    return [
        paired(a, b, (values[a], values[b]), alpha)
        for a, b in combinations(names, 2)
        if _common(values[a], values[b])
    ]


def _common(ours: dict[int, float], theirs: dict[int, float]) -> bool:
    return any(seed in theirs and not math.isnan(ours[seed] - theirs[seed]) for seed in ours)

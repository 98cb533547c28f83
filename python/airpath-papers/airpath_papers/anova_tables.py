"""Analysis of variance of a number over the runs of several schemes, in the paper's layout."""

from collections.abc import Mapping, Sequence
from itertools import combinations

from airpath.statistics import Group, TextTable, analyse, analysis_tables, paired, tukey_hsd
from airpath_papers.rules import SIGNIFICANCE


def tukey_p(groups: Mapping[str, Sequence[float]], one: str, other: str) -> float:
    """Return the p value of Tukey's honestly significant difference of two groups among these.

    NaN if no group has two samples.
    """
    if not _enough(groups):
        return float("nan")
    pairs = tukey_hsd([Group.of(name, values) for name, values in groups.items()], SIGNIFICANCE)
    return next(pair.p for pair in pairs if (pair.first, pair.second) == (one, other))


def anova_tables(title: str, unit: str, groups: Mapping[str, Sequence[float]]) -> list[TextTable]:
    """Return the tables of EBE-J, figures 11 and 12, and additional tests.

    Descriptives, analysis of variance, Tukey's comparisons; then Welch's analysis, Games and Howell's
    comparisons, effect sizes, and paired comparisons over equal seeds. Empty for single runs.
    """
    if not _enough(groups):
        return []
    by_seed = {name: dict(enumerate(values)) for name, values in groups.items()}
    analysis = analyse(
        title,
        [Group.of(name, values) for name, values in groups.items()],
        unit=unit,
        alpha=SIGNIFICANCE,
        pairs=[
            paired(one, other, (by_seed[one], by_seed[other]), SIGNIFICANCE)
            for one, other in combinations(groups, 2)
        ],
    )
    return analysis_tables(analysis)


def _enough(groups: Mapping[str, Sequence[float]]) -> bool:
    return all(len(values) >= 2 for values in groups.values())

"""Statistics tables as the paper prints them, and what a statistician would print beside them."""

from collections.abc import Mapping, Sequence

from scipy import stats

from airpath.papers.figure import TextTable


def tukey_p(groups: Mapping[str, Sequence[float]], one: str, other: str) -> float:
    """Return the p value of Tukey's honestly significant difference of two of these groups; NaN of single runs."""
    if min(map(len, groups.values())) < 2:
        return float("nan")
    names = list(groups)
    result = stats.tukey_hsd(*groups.values())
    return float(result.pvalue[names.index(one), names.index(other)])


def anova_tables(title: str, groups: Mapping[str, Sequence[float]]) -> list[TextTable]:
    """Return nothing yet."""
    return []

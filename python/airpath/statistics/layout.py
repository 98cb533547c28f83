"""An analysis as text tables, in the layout of SPSS and EBE-J."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from airpath.statistics.analysis import Analysis
from airpath.statistics.comparisons import PairComparison
from airpath.statistics.groups import total


@dataclass(frozen=True, slots=True)
class TextTable:
    """One table of text.

    Attributes
    ----------
    title
        Its title.
    head
        Titles of the columns.
    rows
        Cells, row by row.
    note
        Note below the table; empty for none.
    """

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""

    def __str__(self) -> str:
        """Return the table with columns of equal width: names left-aligned, numbers right-aligned."""
        widths = [max(len(row[i]) for row in (self.head, *self.rows)) for i in range(len(self.head))]
        left = _names(self.head)
        lines = [
            "  ".join(
                cell.ljust(width) if i < left else cell.rjust(width)
                for i, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in (self.head, *self.rows)
        ]
        rule = "-" * (sum(widths) + 2 * (len(widths) - 1))
        return "\n".join([self.title, lines[0], rule, *lines[1:], *([self.note] if self.note else [])])


def analysis_text(analysis: Analysis) -> str:
    """Return all tables of an analysis, for a terminal."""
    return "\n\n".join(str(table) for table in analysis_tables(analysis)) + "\n"


def analysis_tables(analysis: Analysis) -> list[TextTable]:
    """Return the tables that EBE-J prints, then those for unequal variances, effect sizes and pairs."""
    tables = [descriptives_table(analysis), anova_table(analysis)]
    tables.append(
        _comparisons(f"Multiple Comparisons: Tukey HSD, {_what(analysis)}", analysis.tukey, analysis)
    )
    if analysis.welch is not None:
        tables.append(welch_table(analysis))
        title = f"Multiple Comparisons: Games-Howell, {_what(analysis)}"
        tables.append(_comparisons(title, analysis.games_howell, analysis))
    tables.append(effects_table(analysis))
    if analysis.pairs:
        tables.append(paired_table(analysis))
    return tables


def descriptives_table(analysis: Analysis) -> TextTable:
    """Return N, mean, standard deviation and standard error of each group and of all."""
    groups = (*analysis.groups, total(analysis.groups))
    return TextTable(
        f"Descriptives: {_what(analysis)}",
        ("", "N", "Mean", "Std. Deviation", "Std. Error"),
        tuple((g.name, str(g.n), _number(g.mean), _number(g.sd), _number(g.standard_error)) for g in groups),
    )


def anova_table(analysis: Analysis) -> TextTable:
    """Return the table of the one-way analysis of variance."""
    a = analysis.anova
    no_spread = "Within the groups nothing varies: F is infinite, however small the difference."
    return TextTable(
        f"ANOVA: {_what(analysis)}",
        ("", "Sum of Squares", "df", "Mean Square", "F", "Sig."),
        (
            (
                "Between Groups",
                _number(a.ss_between),
                str(a.df_between),
                _number(a.ms_between),
                _statistic(a.f),
                _significance(a.p),
            ),
            ("Within Groups", _number(a.ss_within), str(a.df_within), _number(a.ms_within), "", ""),
            ("Total", _number(a.ss_total), str(a.df_total), "", "", ""),
        ),
        no_spread if math.isinf(a.f) else "",
    )


def welch_table(analysis: Analysis) -> TextTable:
    """Return Welch's analysis of variance, as SPSS's robust tests of equality of means."""
    w = analysis.welch
    assert w is not None
    return TextTable(
        f"Robust Tests of Equality of Means: {_what(analysis)}",
        ("", "Statistic", "df1", "df2", "Sig."),
        (("Welch", _statistic(w.f), str(w.df_between), _statistic(w.df_within), _significance(w.p)),),
    )


def effects_table(analysis: Analysis) -> TextTable:
    """Return eta squared, omega squared, and Hedges' g of each pair."""
    rows = [
        ("eta squared", _statistic(analysis.eta_squared)),
        ("omega squared", _statistic(analysis.omega_squared)),
        *((f"Hedges' g, {a} - {b}", _statistic(g)) for (a, b), g in analysis.hedges_g.items()),
    ]
    return TextTable(f"Effect Sizes: {_what(analysis)}", ("", "Value"), tuple(rows))


def paired_table(analysis: Analysis) -> TextTable:
    """Return the paired comparisons over equal seeds, as SPSS's paired samples test."""
    confidence = _confidence(analysis)
    return TextTable(
        f"Paired Comparisons over Equal Seeds: {_what(analysis)}",
        (
            "(I)",
            "(J)",
            "N",
            "Mean Difference (I-J)",
            "Std. Deviation",
            f"{confidence} CI Lower",
            "Upper",
            "t",
            "df",
            "Sig.",
            "Hedges' g",
        ),
        tuple(
            (
                pair.first,
                pair.second,
                str(pair.n),
                _number(pair.difference),
                _number(pair.sd),
                _number(pair.low),
                _number(pair.high),
                _statistic(pair.t),
                str(pair.df),
                _significance(pair.p),
                _statistic(pair.g),
            )
            for pair in analysis.pairs
        ),
        "Each pair by itself: the level is not adjusted for their number.",
    )


def _comparisons(title: str, pairs: Sequence[PairComparison], analysis: Analysis) -> TextTable:
    return TextTable(
        title,
        (
            "(I)",
            "(J)",
            "Mean Difference (I-J)",
            "Std. Error",
            "Sig.",
            f"{_confidence(analysis)} CI Lower",
            "Upper",
        ),
        tuple(_comparison_rows(pairs)),
        f"* The mean difference is significant at the {_level(analysis.alpha)} level.",
    )


def _comparison_rows(pairs: Sequence[PairComparison]) -> Iterator[tuple[str, ...]]:
    for pair in pairs:
        yield (
            pair.first,
            pair.second,
            _number(pair.difference) + ("*" if pair.significant else " "),
            _number(pair.standard_error),
            _significance(pair.p),
            _number(pair.low),
            _number(pair.high),
        )


def _names(head: Sequence[str]) -> int:
    """Return the number of columns at the left that contain names."""
    return 2 if head[:2] == ("(I)", "(J)") else 1


def _what(analysis: Analysis) -> str:
    return f"{analysis.title} ({analysis.unit})" if analysis.unit else analysis.title


def _confidence(analysis: Analysis) -> str:
    return f"{100 * (1 - analysis.alpha):g}%"


def _level(alpha: float) -> str:
    return f"{alpha:g}".removeprefix("0")


def _number(value: float) -> str:
    """Format nine significant digits, as many as EBE-J's tables print."""
    if math.isnan(value):
        return ""
    return f"{value:#.9g}" if value else "0"


def _statistic(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.3f}"


def _significance(p: float) -> str:
    """Format three decimals without the zero before the point; .000 means below .0005."""
    if math.isnan(p):
        return ""
    text = f"{p:.3f}"
    return text.removeprefix("0")

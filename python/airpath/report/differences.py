"""Differences between schemes, seed by seed: for the report, and for the terminal."""

import math
from collections.abc import Callable, Sequence
from typing import Final

import pyarrow as pa
from rich.table import Table
from rich.text import Text

from airpath.metrics import METRICS
from airpath.results.formatting import NO_VALUE, SAME, mean_and_half_width
from airpath.statistics import PairedComparison, paired_metric

COMPARED: Final = ("throughput_mbps", "delay_p95_ms")
"""The metrics that schemes are compared by."""
ALPHA: Final = 0.05
"""One less the confidence of the intervals."""
HEAD: Final = ("schemes", "difference", "n", "p")
NOTE: Final = (
    "The first scheme less the second, mean over equal seeds ± half-width of the 95 % confidence interval; n"
    f" pairs; p of the paired t test, or “same” where the difference is {SAME}. Each pair by itself: the"
    " level is not adjusted for their number."
)
LOOKED_AT: Final = (
    "Repetitions were added until there were enough. Intervals and p of this section take no account of it;"
    " those under “Enough repetitions?” do."
)
"""What to say of them where a rule said how many repetitions there were."""


def differences(summary: pa.Table) -> dict[str, list[PairedComparison]]:
    """Compare all pairs of schemes of which at least two seeds have values, by metric.

    Parameters
    ----------
    summary
        One row for each run (`airpath.results.Results.summary`).
    """
    compared = {
        metric: [pair for pair in paired_metric(summary, metric, alpha=ALPHA) if pair.n >= 2]
        for metric in COMPARED
    }
    return {metric: pairs for metric, pairs in compared.items() if pairs}


def difference_rows(
    pairs: Sequence[PairedComparison], name: Callable[[str], str] = str
) -> list[tuple[str, str, str, str]]:
    """Return the rows of a table under `HEAD`; `name` gives a scheme the name that people know."""
    return [
        (f"{name(pair.first)} less {name(pair.second)}", _difference(pair), str(pair.n), _p(pair))
        for pair in pairs
    ]


def differences_table(summary: pa.Table) -> Table | None:
    """Return for a terminal how the first scheme differs from each of the others.

    Nothing of a single scheme or of single runs.
    """
    compared = differences(summary)
    if not compared:
        return None
    first = summary["scheme"][0].as_py()
    table = Table(caption=Text(NOTE), caption_justify="left")
    for title in (HEAD[0], ""):
        table.add_column(title)
    for title in HEAD[1:]:
        table.add_column(title, justify="right")
    for metric, pairs in compared.items():
        for row in difference_rows([pair for pair in pairs if pair.first == first]):
            table.add_row(Text(row[0]), METRICS[metric].heading, *row[1:])
    return table


def _difference(pair: PairedComparison) -> str:
    return mean_and_half_width({"mean": pair.difference, "ci95_low": pair.low, "ci95_high": pair.high})


def _p(pair: PairedComparison) -> str:
    if pair.sd == 0.0:
        return "same"
    if math.isnan(pair.p):
        return NO_VALUE
    return "< 0.001" if pair.p < 0.001 else f"{pair.p:.3f}"

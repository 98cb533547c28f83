"""The table of schemes, the points of the trade-off, and the differences between pairs of schemes."""

import math
from collections.abc import Sequence
from typing import Final

from airpath.metrics import METRICS
from airpath.results import Results
from airpath.results.formatting import UNITS
from airpath.results.terminal import SHORT_TITLES, cell_text
from airpath.statistics import paired_metric
from airpath.views.model import Cell, Column, Pair, Pairs

MAIN: Final = ("throughput_mbps", "utilisation", "delay_p95_ms", "loss_rate", "retransmitted_packets")
"""Metrics whose columns are shown at first."""
NARROW: Final = ("throughput_mbps", "delay_p95_ms")
"""Metrics whose columns are shown on a narrow screen."""
PAIRED: Final = (
    "throughput_mbps",
    "delay_p95_ms",
    "queueing_p95_ms",
    "utilisation",
    "loss_rate",
    "jain_index",
    "completion_p95_s",
)
"""Metrics by which schemes are compared in pairs."""
ALPHA: Final = 0.05
"""One minus the confidence level of intervals."""
LOOKED_AT: Final = (
    "Repetitions were added until the requested precision was reached. The intervals and p values here do not"
    " account for that; those under “Enough repetitions?” do."
)
"""Note on pairs of results whose number of repetitions followed from a rule."""
MOST_SCHEMES_IN_PAIRS: Final = 24
"""The largest number of schemes with pairs: the matrix of more schemes would not be readable."""


def table(results: Results) -> list[Column]:
    """Return the columns of the metrics that have a value, the main ones first."""
    rows: dict[str, dict[str, dict[str, float]]] = {}
    for row in results.statistics.to_pylist():
        rows.setdefault(row["metric"], {})[row["scheme"]] = row
    names = [*MAIN, *(name for name in METRICS if name not in MAIN)]
    return [
        _column(name, [rows[name][scheme] for scheme in results.schemes])
        for name in names
        if name in rows and any(row["n"] for row in rows[name].values())
    ]


def _column(name: str, rows: Sequence[dict[str, float]]) -> Column:
    metric = METRICS[name]
    unit, factor = UNITS.get(name, (metric.unit, 1.0))
    cells = [
        Cell(
            factor * row["mean"],
            factor * row["ci95_low"],
            factor * row["ci95_high"],
            cell_text(name, row),
        )
        for row in rows
    ]
    title = SHORT_TITLES.get(name, metric.title)
    return Column(name, title, unit, metric.definition, factor, name in MAIN, name in NARROW, cells)


def note(results: Results) -> str:
    """Return how to read the cells."""
    if not results.is_repeated:
        return "One seed, so without intervals."
    return "Mean ± half-width of the 95 % confidence interval over seeds; without ±: the same in all seeds."


def points(results: Results, seeds: Sequence[int]) -> list[tuple[int, int, float, float]]:
    """Return scheme, seed, p95 one-way delay (ms) and throughput (Mbit/s) of each run that has both."""
    schemes, names = list(results.schemes), ("delay_p95_ms", "throughput_mbps")
    rows = results.summary.select(["scheme", "seed", *names]).to_pylist()
    return [
        (schemes.index(row["scheme"]), seeds.index(row["seed"]), *(row[name] for name in names))
        for row in rows
        if all(math.isfinite(row[name]) for name in names)
    ]


def pairs(results: Results) -> list[Pairs]:
    """Return the differences in each metric for which two schemes share two seeds and differ at all."""
    schemes = list(results.schemes)
    if not 2 <= len(schemes) <= MOST_SCHEMES_IN_PAIRS:
        return []
    found = []
    for name in PAIRED:
        metric = METRICS[name]
        unit, factor = UNITS.get(name, (metric.unit, 1.0))
        compared = [pair for pair in paired_metric(results.summary, name, alpha=ALPHA) if pair.n >= 2]
        if not any(pair.difference for pair in compared):
            continue
        of_metric = [
            Pair(
                schemes.index(pair.first),
                schemes.index(pair.second),
                pair.n,
                factor * pair.difference,
                factor * pair.low,
                factor * pair.high,
                pair.p,
            )
            for pair in compared
        ]
        title = SHORT_TITLES.get(name, metric.title)
        found.append(Pairs(name, title, unit, metric.better == "lower", of_metric))
    return found

"""Differences between schemes, seed by seed."""

from typing import Final

import pyarrow as pa

from airpath.statistics import PairedComparison, paired_metric

COMPARED: Final = ("throughput_mbps", "delay_p95_ms")
"""The metrics that schemes are compared by."""
ALPHA: Final = 0.05
"""One less the confidence of the intervals."""
LOOKED_AT: Final = (
    "Repetitions were added until the requested precision was reached. The intervals and p values of this"
    " section do not account for that; those under “Enough repetitions?” do."
)
"""Note for results whose number of repetitions followed from a rule."""


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

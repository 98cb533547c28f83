"""Metrics of many runs: one row for each run, and statistics over the repetitions of each scheme."""

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from airpath.metrics.definitions import METRICS
from airpath.metrics.formulas import mean_interval

SUMMARY_SCHEMA = pa.schema(
    [
        pa.field("scheme", pa.string(), metadata={"unit": "", "description": "scheme under test"}),
        pa.field("repetition", pa.int64(), metadata={"unit": "", "description": "0, 1, … within the scheme"}),
        pa.field("seed", pa.uint64(), metadata={"unit": "", "description": "seed of the run"}),
        *(
            pa.field(
                metric.name, pa.float64(), metadata={"unit": metric.unit, "description": metric.definition}
            )
            for metric in METRICS.values()
        ),
    ]
)
"""Schema of the summary: one row for each run, one column for each metric."""

STATISTICS_SCHEMA = pa.schema(
    [
        ("scheme", pa.string()),
        ("metric", pa.string()),
        ("mean", pa.float64()),
        ("sd", pa.float64()),
        ("n", pa.int64()),
        ("ci95_low", pa.float64()),
        ("ci95_high", pa.float64()),
    ]
)
"""Schema of the statistics: one row for each scheme and metric."""


def summary(runs: Iterable[tuple[str, int, int, dict[str, float]]]) -> pa.Table:
    """Return a table with one row for each run.

    Parameters
    ----------
    runs
        Scheme, repetition, seed and metrics (`airpath.metrics.run_metrics`) of each run.
    """
    rows = [{"scheme": scheme, "repetition": n, "seed": seed, **metrics} for scheme, n, seed, metrics in runs]
    return pa.Table.from_pylist(rows, schema=SUMMARY_SCHEMA)


def statistics(summary: pa.Table) -> pa.Table:
    """Return mean, standard deviation, n and 95 % confidence interval (Student's t) over repetitions.

    One row for each scheme and metric, schemes in the order of the summary. The standard deviation is that of
    a sample. NaN is ignored.
    """
    rows = []
    schemes = summary["scheme"].to_pylist()
    values = {metric: summary[metric].to_numpy() for metric in METRICS}
    for scheme in dict.fromkeys(schemes):
        of_scheme = np.array([other == scheme for other in schemes])
        for metric in METRICS:
            mean, sd, n, low, high = mean_interval(values[metric][of_scheme])
            rows.append((scheme, metric, mean, sd, n, low, high))
    names = STATISTICS_SCHEMA.names
    return pa.Table.from_pylist(
        [dict(zip(names, row, strict=True)) for row in rows], schema=STATISTICS_SCHEMA
    )

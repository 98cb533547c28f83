"""Statistics across the repetitions of a sweep."""

import math
from array import array
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from airpath.metrics import mean_interval
from airpath.metrics.summary import STATISTICS_SCHEMA
from airpath.statistics import PairedComparison, paired
from airpath.sweeps.table_files import files_of


def statistics_table(runs: Path, columns: Sequence[str], metrics: Sequence[str]) -> pa.Table:
    """Return mean, standard deviation, n and 95 % confidence interval for each point, scheme and metric.

    Parameters
    ----------
    runs
        The table of the runs, with repetitions in consecutive rows.
    columns
        The columns that identify points.
    metrics
        The metrics.
    """
    found = [pq.read_schema(files_of(runs)[0]).field(name) for name in (*columns, "scheme")]
    schema = pa.schema([*found, *(STATISTICS_SCHEMA.field(name) for name in STATISTICS_SCHEMA.names[1:])])
    rows = []
    for labels, group in _groups(runs, columns, metrics):
        for metric in metrics:
            numbers = mean_interval(np.asarray(group[metric]))
            rows.append((*labels, metric, *numbers))
    return pa.Table.from_pylist([dict(zip(schema.names, row, strict=True)) for row in rows], schema=schema)


def comparisons(
    runs: Path, columns: Sequence[str], metric: str, alpha: float
) -> list[tuple[dict[str, Any], PairedComparison]]:
    """Compare every scheme with the first one at each point, seed by seed.

    Parameters
    ----------
    runs
        The table of the runs.
    columns
        The columns that identify points.
    metric
        The metric.
    alpha
        1 - the confidence of the intervals.

    Returns
    -------
    list of (dict, PairedComparison)
        The point and the comparison; points at which two schemes have no common seed with values are left
        out.
    """
    compared = []
    for point, at_point in groupby(_groups(runs, columns, [metric]), key=lambda group: group[0][:-1]):
        samples = {
            labels[-1]: dict(zip(group["seed"], group[metric], strict=True)) for labels, group in at_point
        }
        (first, ours), *others = samples.items()
        for other, theirs in others:
            if any(seed in theirs and not math.isnan(ours[seed] - theirs[seed]) for seed in ours):
                here = dict(zip(columns, point, strict=True))
                compared.append((here, paired(first, other, (ours, theirs), alpha)))
    return compared


_ROWS: Final = 1024
"""Number of rows read at a time: as Python objects they take about 3 kB each."""


def _groups(
    runs: Path, columns: Sequence[str], metrics: Sequence[str]
) -> Iterator[tuple[tuple[Any, ...], dict[str, "array[Any]"]]]:
    """Yield the runs of each point and scheme: the values of `columns` and scheme; seeds and metrics."""
    wanted = [*columns, "scheme", "seed", *metrics]
    files = (pq.ParquetFile(file, page_checksum_verification=True) for file in files_of(runs))
    batches = (batch for file in files for batch in file.iter_batches(batch_size=_ROWS, columns=wanted))
    rows = (row for batch in batches for row in batch.to_pylist())
    for labels, group in groupby(rows, key=lambda row: tuple(row[name] for name in (*columns, "scheme"))):
        found: dict[str, array[Any]] = {"seed": array("Q"), **{metric: array("d") for metric in metrics}}
        for row in group:
            for name, values in found.items():
                values.append(row[name])
        yield labels, found

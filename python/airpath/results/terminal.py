"""A summary for people at a terminal, and the same numbers for machines."""

import math
from typing import Any

import pyarrow as pa
from rich.table import Table
from rich.text import Text

from airpath.metrics import METRICS, statistics
from airpath.results.formatting import mean_and_half_width


def summary_table(summary: pa.Table, *, all_metrics: bool = False) -> Table:
    """Tabulate mean and half-width of the 95 % confidence interval for each scheme.

    Parameters
    ----------
    summary
        One row for each run (`airpath.results.Results.summary`).
    all_metrics
        Show every metric that has a value instead of the headline.

    Returns
    -------
    rich.table.Table
        One row for each metric, one column for each scheme. Metrics without any value are left out.
    """
    numbers = _by_scheme(summary)
    table = Table(caption="mean ± half-width of the 95 % confidence interval", caption_justify="left")
    table.add_column("")
    for scheme, metrics in numbers.items():
        runs = max((row["n"] for row in metrics.values()), default=0)
        table.add_column(Text(f"{scheme}\nn = {runs}", justify="right"), justify="right")
    for name, metric in METRICS.items():
        rows = [metrics[name] for metrics in numbers.values()]
        if (all_metrics or metric.headline) and any(row["n"] for row in rows):
            title = f"{metric.title} ({metric.unit})" if metric.unit else metric.title
            table.add_row(Text(title), *(Text(mean_and_half_width(row)) for row in rows))
    return table


def summary_json(summary: pa.Table) -> dict[str, Any]:
    """Return the same numbers, and those of each run, ready for ``json.dumps``; units are in names.

    What has no value is null.

    Parameters
    ----------
    summary
        One row for each run (`airpath.results.Results.summary`).
    """
    return {
        "schemes": {
            scheme: {
                name: {key: _null_if_nan(row[key]) for key in ("mean", "sd", "n", "ci95_low", "ci95_high")}
                for name, row in metrics.items()
            }
            for scheme, metrics in _by_scheme(summary).items()
        },
        "runs": [{key: _null_if_nan(value) for key, value in row.items()} for row in summary.to_pylist()],
    }


def _by_scheme(summary: pa.Table) -> dict[str, dict[str, dict[str, Any]]]:
    numbers: dict[str, dict[str, dict[str, Any]]] = {}
    for row in statistics(summary).to_pylist():
        numbers.setdefault(row["scheme"], {})[row["metric"]] = row
    return numbers


def _null_if_nan(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value

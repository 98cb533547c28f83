"""A summary for people at a terminal, and the same numbers for machines."""

import math
from typing import Any

import pyarrow as pa
from rich.table import Table
from rich.text import Text

from airpath.metrics import METRICS, statistics
from airpath.results.blocks import Blocks
from airpath.results.formatting import mean_and_half_width

MOST_COLUMNS = 4
"""So many schemes stand side by side; more stand below each other."""
CAPTION = "mean ± half-width of the 95 % confidence interval"
"""What cells are."""
SINGLE_CAPTION = "of one run each, so without intervals"
"""What they are where nothing was repeated."""


def summary_table(summary: pa.Table, *, all_metrics: bool = False) -> Table | Blocks:
    """Tabulate mean and half-width of the 95 % confidence interval for each scheme.

    Parameters
    ----------
    summary
        One row for each run (`airpath.results.Results.summary`).
    all_metrics
        Show every metric that has a value instead of the headline.

    Returns
    -------
    rich.table.Table or Blocks
        For rich to print: one row for each metric and one column for each scheme, or the other way round
        where there are many schemes. Metrics without any value are left out.
    """
    numbers = _by_scheme(summary)
    shown = {
        name: metric.heading
        for name, metric in METRICS.items()
        if (all_metrics or metric.headline) and any(metrics[name]["n"] for metrics in numbers.values())
    }
    runs = {name: max((row["n"] for row in metrics.values()), default=0) for name, metrics in numbers.items()}
    caption = CAPTION if max(runs.values(), default=0) > 1 else SINGLE_CAPTION
    if len(numbers) > MOST_COLUMNS:
        columns = {
            title: [mean_and_half_width(metrics[name]) for metrics in numbers.values()]
            for name, title in shown.items()
        }
        return Blocks({"scheme": list(numbers), "n": list(map(str, runs.values()))}, columns, caption)
    table = Table(caption=caption, caption_justify="left")
    table.add_column("")
    for scheme, count in runs.items():
        table.add_column(Text(f"{scheme}\nn = {count}", justify="right"), justify="right")
    for name, title in shown.items():
        cells = (Text(mean_and_half_width(metrics[name])) for metrics in numbers.values())
        table.add_row(Text(title), *cells)
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

"""A summary for a terminal, and the same numbers for machines."""

import math
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
from rich.table import Table
from rich.text import Text

from airpath.metrics import METRICS, statistics
from airpath.results.blocks import Blocks
from airpath.results.formatting import SAME, UNITS, mean_and_half_width

SCHEME_COLUMNS = (
    "throughput_mbps",
    "utilisation",
    "queueing_p95_ms",
    "loss_rate",
    "retransmitted_packets",
    "jain_index",
)
"""Columns of a table of several schemes."""
COUNTS = ("retransmitted_packets", "timeouts", "completions")
"""Metrics that are counts."""
SHORT_TITLES = {"queueing_p95_ms": "p95 queue", "loss_rate": "lost", "retransmitted_packets": "retransmitted"}
"""Column titles of metrics with long names."""
CAPTION = f"mean ± half-width of the 95 % confidence interval; without ±: {SAME}"
"""Meaning of the cells."""
SINGLE_CAPTION = "of one run each, so without intervals"
"""Meaning of the cells without repetitions."""


def summary_table(summary: pa.Table, *, all_metrics: bool = False) -> Table | Blocks:
    """Tabulate mean and half-width of the 95 % confidence interval for each scheme.

    Parameters
    ----------
    summary
        One row for each run (`airpath.results.Results.summary`).
    all_metrics
        Show every metric that has a value instead of the main ones.

    Returns
    -------
    rich.table.Table or Blocks
        For rich to print: one row for each scheme, or one row for each metric of a single scheme. Metrics
        without any value are left out.
    """
    numbers = _by_scheme(summary)
    main = SCHEME_COLUMNS if len(numbers) > 1 else [name for name, one in METRICS.items() if one.headline]
    shown = [
        name
        for name in (METRICS if all_metrics else main)
        if any(metrics[name]["n"] for metrics in numbers.values())
    ]
    runs = {name: max((row["n"] for row in metrics.values()), default=0) for name, metrics in numbers.items()}
    caption = CAPTION if max(runs.values(), default=0) > 1 else SINGLE_CAPTION
    if len(numbers) > 1:
        columns = {
            _heading(name): [cell_text(name, metrics[name]) for metrics in numbers.values()] for name in shown
        }
        labels = {"": list(numbers)}
        if len(set(runs.values())) > 1:
            labels["n"] = list(map(str, runs.values()))
        return Blocks(labels, columns, caption, framed=False)
    table = Table(caption=caption, caption_justify="left")
    table.add_column("")
    for scheme, count in runs.items():
        table.add_column(Text(f"{scheme}\nn = {count}", justify="right"), justify="right")
    for name in shown:
        table.add_row(
            Text(_heading(name)), *(Text(cell_text(name, metrics[name])) for metrics in numbers.values())
        )
    return table


def _heading(name: str) -> str:
    """Return the title of a metric, with its display unit."""
    metric = METRICS[name]
    unit = UNITS[name][0] if name in UNITS else metric.unit
    title = SHORT_TITLES.get(name, metric.title)
    return f"{title} ({unit})" if unit else title


def cell_text(name: str, row: Mapping[str, Any]) -> str:
    """Return mean and half-width of a metric in its display unit."""
    factor = UNITS[name][1] if name in UNITS else 1.0
    text, mean = mean_and_half_width(row, factor), factor * row["mean"]
    # A measure that happens to be whole has the digits of its neighbours; counts and zero have none.
    return f"{mean:#.4g}" if text.lstrip("-").isdigit() and mean and name not in COUNTS else text


def summary_json(summary: pa.Table) -> dict[str, Any]:
    """Return the numbers of the table, and those of each run, for ``json.dumps``; names contain units.

    Missing values are null, as is the interval of a metric that is equal in all seeds.

    Parameters
    ----------
    summary
        One row for each run (`airpath.results.Results.summary`).
    """
    return {
        "schemes": {
            scheme: {
                name: {
                    "mean": _null_if_nan(row["mean"]),
                    "sd": _null_if_nan(row["sd"]),
                    "n": row["n"],
                    # There is no interval if all seeds give the same value.
                    "ci95_low": _null_if_nan(row["ci95_low"]) if row["sd"] else None,
                    "ci95_high": _null_if_nan(row["ci95_high"]) if row["sd"] else None,
                }
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

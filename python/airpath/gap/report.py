"""Differences between backends in the report, in a file for machines, and at the terminal."""

import math
from typing import Any

from rich.table import Table
from rich.text import Text

from airpath._backends import BACKENDS
from airpath.gap.compared import Compared, Gap, world_title
from airpath.gap.differences import difference_text, tolerance_text, verdict_text
from airpath.metrics import METRICS
from airpath.results import validity_json
from airpath.results.formatting import number
from airpath.views.model import Interval, Intervals, Section

NOTE = (
    "Difference of the mean from that of the simulator, with the 95 % confidence interval (Welch) over"
    " repetitions. Two backends agree in a metric if the whole interval is within the tolerance, differ if"
    " the whole interval is outside, and the verdict is open otherwise. A single run has no interval, and the"
    " difference alone decides. Invalid runs count too; the verdict states their number."
)


def gap_section(gap: Gap) -> Section:
    """Return the section of the report."""
    remarks = [f"elapsed time of all runs: {gap.elapsed_s:.0f} s"]
    remarks += [
        f"{one.scheme} is not compared on backend {world}: {reason}"
        for one in gap.compared
        for world, reason in one.missing.items()
    ]
    remarks += gap.failures
    remarks += [f"{one.scheme}: {text}" for one in gap.compared for text in one.departures]
    tables = [
        {
            "title": f"{one.scheme}: {world_title(world)} as {one.labels[world]}",
            "head": ("metric", "simulated", "here", "difference", "tolerance", "verdict"),
            "rows": _rows(one, world),
        }
        for one in gap.compared
        for world in one.differences
    ]
    pictures = [_intervals(one) for one in gap.compared if any(one.differences.values())]
    return Section("gap", "Backends compared", NOTE, remarks, tables, pictures)


def _intervals(one: Compared) -> Intervals:
    """Return the differences of a scheme in units of their tolerances."""
    rows = [
        Interval(
            METRICS[d.metric].title,
            BACKENDS[world].title,
            d.difference / d.tolerance.share,
            d.low / d.tolerance.share,
            d.high / d.tolerance.share,
            f"{difference_text(d)}: {verdict_text(d)}",
        )
        for world, found in one.differences.items()
        for d in found
        if not math.isnan(d.difference)
    ]
    title = f"{one.scheme}: differences from the simulator; within the shaded band the backends agree"
    return Intervals(title, "difference in tolerances", 1.0, rows)


def gap_json(gap: Gap) -> dict[str, Any]:
    """Return everything for ``json.dumps``; missing values are null."""

    def known(value: float) -> float | None:
        return value if math.isfinite(value) else None

    return {
        "schemes": [
            {
                "scheme": one.scheme,
                "worlds": dict(one.labels),
                "missing": dict(one.missing),
                "departures": list(one.departures),
                "differences": {
                    world: [
                        {
                            "metric": d.metric,
                            "simulated": known(d.simulated),
                            "other": known(d.other),
                            "n": list(d.n),
                            "difference": known(d.difference),
                            "ci95_low": known(d.low),
                            "ci95_high": known(d.high),
                            "relative": not d.tolerance.absolute,
                            "tolerance": d.tolerance.share,
                            "verdict": d.verdict.value,
                            "not_valid": d.not_valid,
                        }
                        for d in found
                    ]
                    for world, found in one.differences.items()
                },
            }
            for one in gap.compared
        ],
        "failures": list(gap.failures),
        "elapsed_s": gap.elapsed_s,
        **validity_json(gap.results),
    }


def gap_tables(gap: Gap) -> list[Table]:
    """Return a table for the terminal for each scheme and backend."""
    tables = []
    for one in gap.compared:
        for world in one.differences:
            table = Table(title=f"{one.scheme} simulated, and {world_title(world)} as {one.labels[world]}")
            table.title_justify = "left"
            for name in ("metric", "simulated", "here", "difference", "tolerance", "verdict"):
                table.add_column(name, justify="left" if name in ("metric", "verdict") else "right")
            for row in _rows(one, world):
                table.add_row(*(Text(cell) for cell in row))
            tables.append(table)
    return tables


def _rows(one: Compared, world: Any) -> list[tuple[str, ...]]:
    return [
        (
            METRICS[d.metric].heading,
            number(d.simulated),
            number(d.other),
            difference_text(d),
            tolerance_text(d),
            verdict_text(d),
        )
        for d in one.differences[world]
    ]

"""Errors of ACK-rate estimators for readers and machines."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from rich.table import Table
from rich.text import Text

from airpath.metrics import BINS, ERRORS, OWN_ESTIMATOR, mean_interval
from airpath.results.formatting import mean_and_half_width
from airpath.results.results import ESTIMATOR_ERRORS, Results

TITLE: Final = "ACK-rate estimators compared with the capacity"
NOTE: Final = (
    f"Estimates and capacity (for payload) are averaged over {BINS} of the measured interval. Bias: mean"
    " estimate relative to the mean capacity, minus one. Errors: absolute differences, relative to the"
    " capacity of the bin. Means over the flows of a row; ± is the half-width of the 95 % confidence interval"
    " over repetitions. Flows that share a link estimate their share. The estimator called controller is that"
    " of the controller itself."
)
_HEADS: Final = tuple(f"{title} (%)" for title, _ in ERRORS.values())


def estimator_rows(
    results: Results, title_of: Callable[[str], str] = str
) -> tuple[tuple[str, ...], list[list[str]]]:
    """Return head and rows of a table: means over flows, and their intervals over repetitions.

    Schemes, groups and estimators have a column each, unless it would not distinguish rows. `title_of`
    returns the displayed name of a scheme.
    """
    found: dict[tuple[str, str, str], dict[int, list[Mapping[str, Any]]]] = {}
    groups = set()
    for run in results.runs:
        for row in run.table(ESTIMATOR_ERRORS).to_pylist():
            # The scheme of the record: an overlay of results renames that, but not the tables.
            key = run.record.scheme, row["group"], row["estimator"]
            found.setdefault(key, {}).setdefault(run.record.repetition, []).append(row)
            groups.add((row["scheme"], row["group"]))
    several = (
        len(results.schemes) > 1,
        # Flows of one scheme have its name; one column then suffices.
        any(scheme != group for scheme, group in groups) and len({group for _, group in groups}) > 1,
        len(results.schemes) == 1 or {estimator for *_, estimator in found} != {OWN_ESTIMATOR},
    )
    shown = [place for place, is_shown in enumerate(several) if is_shown]
    rows = [
        [*(_label(key, place, title_of) for place in shown), *(_text(name, runs.values()) for name in ERRORS)]
        for key, runs in found.items()
    ]
    return (*(("scheme", "flows", "estimator")[place] for place in shown), *_HEADS), rows


def estimators_table(results: Results, *, all_metrics: bool = False) -> Table | None:
    """Return the table for the terminal.

    `None` without estimators, and unless `all_metrics` is set, if only the controllers of some schemes have
    one: then the schemes are compared, not estimators.
    """
    errors = results.table(ESTIMATOR_ERRORS)
    schemes, names = ({*errors[name].to_pylist()} for name in ("scheme", "estimator"))
    if not (all_metrics or names - {OWN_ESTIMATOR} or len(schemes) == len(results.schemes)) or not names:
        return None
    head, rows = estimator_rows(results)
    table = Table(title=TITLE, title_justify="left")
    labels = len(head) - len(_HEADS)
    for place, name in enumerate(head):
        table.add_column(name, justify="left" if place < labels else "right")
    for row in rows:
        table.add_row(*map(Text, row))
    return table


def estimators_json(results: Results) -> dict[str, Any]:
    """Return the rows of the table `estimator_errors` for ``json.dumps``; nothing without any."""
    errors = results.table(ESTIMATOR_ERRORS).to_pylist()
    rows = [{key: None if value != value else value for key, value in row.items()} for row in errors]
    return {"estimators": rows} if rows else {}


def _label(key: tuple[str, str, str], place: int, title_of: Callable[[str], str]) -> str:
    return title_of(key[0]) if place == 0 else key[place]


def _text(name: str, runs: Iterable[Sequence[Mapping[str, Any]]]) -> str:
    """Return mean and half-width over runs of the mean over flows."""
    means = [_mean([row[name] for row in rows]) for rows in runs]
    mean, _, _, low, high = mean_interval(np.array(means))
    return mean_and_half_width({"mean": mean, "ci95_low": low, "ci95_high": high})


def _mean(values: Sequence[float]) -> float:
    known = [value for value in values if value == value]
    return sum(known) / len(known) if known else float("nan")

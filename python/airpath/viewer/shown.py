"""The view of a selection: one result, several results over each other, or the differences of two."""

from collections.abc import Sequence
from dataclasses import replace

from airpath.diff import diff
from airpath.diff.differences import MetricDifference
from airpath.errors import AirpathError, UsageError
from airpath.metrics import METRICS
from airpath.results import Results, RunResult, read
from airpath.results.formatting import NO_VALUE, mean_and_half_width, number
from airpath.viewer.found import Found
from airpath.views.model import Section, View
from airpath.views.styles import style_for
from airpath.views.view import view_of


def view_of_one(found: Found, results: Results) -> View:
    """Return the view of one result."""
    compared = not (found.directory / "rivals.json").exists()
    return view_of(results, provenance={"created": found.created}, compared=compared)


def overlay(chosen: Sequence[Found], sections: Sequence[Section] = ()) -> View:
    """Return the view of several results: colours are schemes, dashes are results.

    Raises
    ------
    airpath.errors.UsageError
        If one of them has no runs.
    airpath.errors.OutputError
        If one of them cannot be read.
    """
    if other := [one for one in chosen if one.kind != "runs"]:
        raise UsageError(f"{other[0].name}: found a {other[0].kind}; accepted: results of runs")
    runs: list[RunResult] = []
    labels: dict[str, tuple[str, int, str]] = {}
    for place, one in enumerate(chosen):
        for run in read(one.directory).runs:
            label = f"{run.record.scheme} ({one.name})"
            labels[label] = (run.record.scheme, place, one.name)
            runs.append(RunResult(replace(run.record, scheme=label), run.tables))
    styles = style_for(scheme for scheme, _, _ in labels.values())
    style = {
        label: replace(styles[scheme], display_name=f"{styles[scheme].display_name} ({name})")
        for label, (scheme, _, name) in labels.items()
    }
    view = view_of(
        Results(runs), sections=sections, style=style, dashes=[place for _, place, _ in labels.values()]
    )
    return replace(view, title=" and ".join(one.name for one in chosen), facts=_facts(view))


def difference(first: Found, second: Found) -> View:
    """Return the view of two results, with the differences between them (`airpath diff`).

    Raises
    ------
    airpath.errors.AirpathError
        If they cannot be compared.
    """
    found = diff(first.directory, second.directory)
    changes = [[one.what, one.first or NO_VALUE, one.second or NO_VALUE] for one in found.changes]
    head = ("scheme", "metric", first.name, second.name, "difference", "95 % interval")
    tables = [
        {"title": "Configuration", "head": ("", first.name, second.name), "rows": changes},
        {"title": "Metrics", "head": head, "rows": [_row(one) for one in found.metrics]},
    ]
    note = "Second minus first, in pairs of equal seeds where there are at least two, else by Welch's test."
    remarks = ["Nothing differs."] if found.is_empty else [f"{found.same} metrics are equal."]
    section = Section("differences", "Differences", note, remarks, [one for one in tables if one["rows"]])
    return overlay([first, second], [section])


def failed(error: AirpathError) -> View:
    """Return an empty view with the reason why a selection cannot be shown."""
    return replace(empty(), findings=str(error))


def empty() -> View:
    """Return a view without results."""
    return replace(view_of(Results([])), title="airpath", facts="", details=())


def _facts(view: View) -> str:
    return f"{view.facts} · colours are schemes, dashes are results"


def _row(one: MetricDifference) -> list[str]:
    means = [
        mean_and_half_width({"mean": side.mean, "ci95_low": side.low, "ci95_high": side.high})
        for side in (one.first, one.second)
    ]
    low, high = one.difference.low, one.difference.high
    interval = NO_VALUE if low != low else f"{number(low)} to {number(high)}"  # NaN
    return [one.label, METRICS[one.metric].heading, *means, number(one.difference.difference), interval]

"""Sections at the end of a report: the runs, groups of flows, validity, precision."""

import numpy as np

from airpath.metrics import flow_metrics, nearest_rank
from airpath.metrics.run import columns, rows_with
from airpath.results import Results, RunResult
from airpath.results.estimators import NOTE, TITLE, estimator_rows
from airpath.results.formatting import number
from airpath.results.validity import LINKS_HEAD, links_rows
from airpath.views.facts import facts
from airpath.views.model import Section
from airpath.views.styles import Style

MOST_ROWS = 200
"""The maximum number of rows of a table."""


def details(results: Results, style: Style, *, compared: bool) -> list[Section]:
    """Return the sections, which the page shows collapsed."""
    rows = [list(row) for row in facts(results, style)]
    sections = [Section("run", "What was run", tables=[{"title": "", "head": (), "rows": rows}])]
    sections += _groups(results, style)
    sections += _estimators(results, style)
    if compared and results.is_repeated:
        # Imported here, because `precision` presents its results as a section.
        from airpath.precision.reached import judge
        from airpath.views.precision import precision_section

        reached = judge(results.summary, results.until)
        sections.append(precision_section(reached, lambda scheme: style[scheme].display_name))
    return sections


def _estimators(results: Results, style: Style) -> list[Section]:
    """Return the table of the errors of ACK-rate estimators, if there are any."""
    head, rows = estimator_rows(results, lambda scheme: style[scheme].display_name)
    if not rows:
        return []
    note = f"{NOTE} {_cut(rows, 'estimator_errors.parquet has all rows')}".strip()
    tables = [{"title": "", "head": head, "rows": rows[:MOST_ROWS]}]
    return [Section("estimators", TITLE, note, tables=tables)]


def _cut(rows: list[list[str]], where: str) -> str:
    """Return a note if only a part of the rows is shown."""
    return "" if len(rows) <= MOST_ROWS else f"The first {MOST_ROWS} of {len(rows)} rows; {where}."


def validity(results: Results) -> list[Section]:
    """Return the section on configured and achieved values of links, if some runs were in real time."""
    if not (rows := links_rows(results)):
        return []
    note = (
        "Configured and achieved values of the links of runs in real time. The achieved delay is the"
        " configured delay plus the median scheduling delay of packets. The configured loss is the long-term"
        " average. The carried rate is below the configured rate if the senders sent less."
    )
    table = {"title": "Links", "head": LINKS_HEAD, "rows": rows}
    return [Section("validity", "Configured and achieved", note, tables=[table])]


_GROUP_COLUMNS = {
    "flows": "flows",
    "throughput_mbps": "throughput, mean of flows (Mbit/s)",
    "loss_rate": "loss rate, mean of flows",
    "delay_mean_ms": "mean delay, mean of flows (ms)",
    "delay_p95_ms": "p95 delay over packets (ms)",
    "retransmitted_packets": "retransmissions, sum",
    "timeouts": "timeouts, sum",
}


def _groups(results: Results, style: Style) -> list[Section]:
    """Return the table of groups of flows in each run, if a run has several."""
    if all(len(run.flows) < 2 for run in results.runs):
        return []
    rows = [row for run in results.runs for row in _rows(run, style)]
    note = _cut(rows, "all flows are in flows.parquet")
    head = ("run", "group", *_GROUP_COLUMNS.values())
    return [
        Section(
            "groups", "Groups of flows", note, tables=[{"title": "", "head": head, "rows": rows[:MOST_ROWS]}]
        )
    ]


def _rows(run: RunResult, style: Style) -> list[list[str]]:
    record, flows = run.record, columns(flow_metrics(run.tables))
    histogram = columns(run.delay_histogram)
    one_way = rows_with(run.delay_histogram, "kind", "one-way")
    table = []
    for name in dict.fromkeys(flows["group"]):
        rows = flows["group"] == name
        values = {"flows": float(rows.sum())}
        for column in ("throughput_mbps", "loss_rate", "delay_mean_ms"):
            seen = flows[column][rows][~np.isnan(flows[column][rows])]
            values[column] = float(seen.mean()) if seen.size else float("nan")
        bins = one_way & (histogram["group"] == name)
        values["delay_p95_ms"] = (
            nearest_rank(histogram["delay_s"][bins], 95, histogram["packets"][bins]) * 1e3
        )
        for column in ("retransmitted_packets", "timeouts"):
            values[column] = float(flows[column][rows].sum())
        title = f"{style[record.scheme].display_name}, seed {record.seed}"
        table.append([title, str(name), *(number(values[column]) for column in _GROUP_COLUMNS)])
    return table

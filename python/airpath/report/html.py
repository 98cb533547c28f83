"""Results as one self-contained HTML page: no scripts, no requests, everything escaped."""

import base64
import functools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from airpath.damage import damage_of_plan
from airpath.metrics import METRICS, SCOPE, flow_metrics, nearest_rank
from airpath.metrics.run import columns, link_under_test, measured_span_s
from airpath.plots import StandardFigure, Style, style_for
from airpath.report.differences import HEAD, LOOKED_AT, NOTE, difference_rows, differences
from airpath.results import Results, RunResult
from airpath.results.formatting import mean_and_half_width, number
from airpath.results.validity import LINKS_HEAD, links_rows
from airpath.world_names import IN_REAL_TIME, WORLDS
from airpath.worlds import validity_text


@dataclass(frozen=True)
class Section:
    """A section of a report beside those that all have.

    Attributes
    ----------
    id
        Its place in the page.
    title
        Its heading.
    note
        How to read it.
    remarks
        Sentences that stand before its tables.
    tables
        Each with a ``title``, a ``head`` and ``rows`` of text.
    figures
        Its figures.
    """

    id: str
    title: str
    note: str
    remarks: Sequence[str]
    tables: Sequence[Mapping[str, Any]]
    figures: Sequence[StandardFigure]


def report_html(
    results: Results,
    *,
    scenario_text: str,
    provenance: Mapping[str, Any],
    figures: Sequence[StandardFigure],
    style: Style | None = None,
    sections: Sequence[Section] = (),
    compared: bool = True,
) -> str:
    """Write the page.

    Parameters
    ----------
    results
        What is reported.
    scenario_text
        The scenario as its author wrote it.
    provenance
        What ``provenance.json`` says.
    figures
        The figures (`airpath.plots.standard_figures`).
    style
        How schemes are named; as registered when absent.
    sections
        More sections, between summary and figures.
    compared
        Whether it says how the first scheme differs from the others.
    """
    style = style or style_for(results.schemes)
    names = list(dict.fromkeys(run.record.scenario_name for run in results.runs))
    found = [*_precision_section(results, style), *_differences_section(results, style)] if compared else []
    pictures = [(figure, _picture(figure)) for figure in figures]
    return _template().render(
        title=", ".join(names) or "airpath",
        lead=f"airpath results, {provenance.get('created', 'time not recorded')}",
        facts=_facts(results, style),
        scenario_text=scenario_text,
        schemes=[
            {
                "name": style[scheme].display_name,
                "n": sum(run.record.scheme == scheme for run in results.runs),
            }
            for scheme in results.schemes
        ],
        summary=_summary(results),
        sections=[
            {"section": section, "figures": [_picture(figure) for figure in section.figures]}
            for section in (*_validity_section(results), *found, *sections)
        ],
        figures=[picture for figure, picture in pictures if figure.run is None],
        runs=[
            _run(run, style, [picture for figure, picture in pictures if figure.run is run])
            for run in results.runs
        ],
        scope=SCOPE,
        definitions=[
            {"name": m.name, "title": m.title, "definition": m.definition} for m in METRICS.values()
        ],
        provenance=json.dumps(dict(provenance), indent=2, ensure_ascii=False),
    )


@functools.cache
def _template() -> Template:
    environment = Environment(
        loader=PackageLoader("airpath.report", "."), autoescape=True, undefined=StrictUndefined
    )
    return environment.get_template("template.html")


def _picture(figure: StandardFigure) -> dict[str, str]:
    return {
        "id": figure.name,
        "caption": figure.caption,
        "data": base64.b64encode(figure.svg).decode("ascii"),
    }


def _facts(results: Results, style: Style) -> list[tuple[str, str]]:
    if not results.runs:
        return [("runs", "none")]
    plan = results.runs[0].record.plan
    seeds = sorted({run.record.seed for run in results.runs})
    few = 12
    start_s, end_s = measured_span_s(plan)
    shown = ", ".join(map(str, seeds[:few])) + (f", … ({len(seeds)} seeds)" if len(seeds) > few else "")
    facts = [
        ("schemes", ", ".join(style[scheme].display_name for scheme in results.schemes)),
        ("runs", str(len(results.runs))),
        ("seeds", shown),
        (
            "duration",
            f"{number(end_s)} s, measured from {number(start_s)} s",
        ),
        ("sources of traffic", str(len(plan["flows"]))),
    ]
    facts += _world_facts(results)
    facts += _links_under_test(results, style)
    facts += [(f"damage on {name}", text) for name, text in damage_of_plan(plan).items()]
    return facts


def _links_under_test(results: Results, style: Style) -> list[tuple[str, str]]:
    """Describe the link under test, once for all schemes that have the same queue there."""
    schemes: dict[str, dict[str, None]] = {}
    for run in results.runs:
        plan = run.record.plan
        if plan["links"]:
            text = _link(plan["links"][link_under_test(plan)])
            schemes.setdefault(text, {})[style[run.record.scheme].display_name] = None
    if len(schemes) == 1:
        return [("link under test", text) for text in schemes]
    return [(f"link under test, {', '.join(names)}", text) for text, names in schemes.items()]


def _validity_section(results: Results) -> list[Section]:
    """Return what links were to do and did, where there were runs in real time."""
    if not (rows := links_rows(results)):
        return []
    note = (
        "What the links of runs in real time were to do and did. A delay achieved is the configured one and"
        " the median lateness of packets; a loss configured is that of the long run. The carried rate is"
        " lower than the configured one where nobody sent more."
    )
    table = {"title": "Links", "head": LINKS_HEAD, "rows": rows}
    return [Section("validity", "Configured and achieved", note, [], [table], [])]


def _precision_section(results: Results, style: Style) -> list[Section]:
    """Return how well means are known, where there was more than one run of a scheme."""
    if not results.is_repeated:
        return []
    from airpath.precision.reached import judge  # here: its report is made of sections of this one
    from airpath.precision.report import precision_section

    reached = judge(results.summary, results.until)
    return [precision_section(reached, lambda scheme: style[scheme].display_name)]


def _differences_section(results: Results, style: Style) -> list[Section]:
    """Return by how much schemes differ, where at least two runs of two schemes can be compared."""
    tables = [
        {
            "title": METRICS[metric].heading,
            "head": HEAD,
            "rows": difference_rows(pairs, lambda scheme: style[scheme].display_name),
        }
        for metric, pairs in differences(results.summary).items()
    ]
    remarks = [LOOKED_AT] if results.until is not None else []
    return (
        [Section("differences", "Differences between schemes", NOTE, remarks, tables, [])] if tables else []
    )


def _world_facts(results: Results) -> list[tuple[str, str]]:
    """Say of runs in other worlds than the simulator where they were, and whether they can be trusted."""
    records = [run.record for run in results.runs if run.record.world != "sim"]
    if not records:
        return []
    worlds = ", ".join(dict.fromkeys(WORLDS[record.world] for record in records))
    problems = [
        (f"{record.scheme}, repetition {record.repetition}", validity_text(record.world, record.validity))
        for record in records
        if not record.valid
    ]
    facts = [("world", worlds)]
    if any(record.world in IN_REAL_TIME for record in records):
        facts.append(("valid runs", f"{len(records) - len(problems)} of {len(records)}"))
    departures = dict.fromkeys(
        text for record in records if record.validity for text in record.validity.get("departures", ())
    )
    return facts + problems + [("not as in the scenario", text) for text in departures]


def _link(link: Mapping[str, Any]) -> str:
    """One sentence on a link of the plan."""
    rate, limits = link["rate"], link["queue"]
    rates: dict[str, Callable[[], str]] = {
        "unlimited": lambda: "no rate limit",
        "constant": lambda: f"{number(rate['bps'] / 1e6)} Mbit/s",
        "steps": lambda: f"{len(rate['steps'])} rate steps",
        "uniform": lambda: (
            f"{number(rate['low_bps'] / 1e6)} to {number(rate['high_bps'] / 1e6)} Mbit/s, "
            f"drawn every {number(rate['hold_ns'] / 1e9)} s"
        ),
        "opportunities": lambda: "packet-delivery trace",
        "rate-log": lambda: "rate log",
    }
    limit = "unlimited"
    if limits.get("limit_bytes") is not None:
        limit = f"{limits['limit_bytes']} bytes"
    elif limits.get("limit_packets") is not None:
        limit = f"{limits['limit_packets']} packets"
    text = rates[rate["kind"]]() if rate["kind"] in rates else str(rate["kind"])
    kind = limits["kind"]
    if kind == "router":
        kind = f"{kind} ({limits['protocol']['kind']}, capacity source {limits['source']['kind']})"
    if kind == "managed":
        kind = limits["management"]["kind"]
    return f"{link['name']}: {text}; queue {kind}, {limit}"


def _summary(results: Results) -> list[dict[str, Any]]:
    cells: dict[str, dict[str, str]] = {}
    with_value: set[str] = set()
    for row in results.statistics.to_pylist():
        cells.setdefault(row["metric"], {})[row["scheme"]] = mean_and_half_width(row)
        if row["n"]:
            with_value.add(row["metric"])
    return [
        {
            "title": metric.heading,
            "cells": [cells[name][scheme] for scheme in results.schemes],
        }
        for name, metric in METRICS.items()
        if name in with_value
    ]


_GROUP_COLUMNS = {
    "flows": "flows",
    "throughput_mbps": "throughput, mean of flows (Mbit/s)",
    "loss_rate": "loss rate, mean of flows",
    "delay_mean_ms": "mean delay, mean of flows (ms)",
    "delay_p95_ms": "p95 delay over packets (ms)",
    "retransmitted_packets": "retransmissions, sum",
    "timeouts": "timeouts, sum",
}


def _run(run: RunResult, style: Style, pictures: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    record = run.record
    flows = columns(flow_metrics(run.tables))
    histogram = columns(run.delay_histogram)
    groups = []
    for name in dict.fromkeys(flows["group"]):
        rows = flows["group"] == name
        values = {"flows": float(rows.sum())}
        for column in ("throughput_mbps", "loss_rate", "delay_mean_ms"):
            seen = flows[column][rows][~np.isnan(flows[column][rows])]
            values[column] = float(seen.mean()) if seen.size else float("nan")
        bins = (histogram["kind"] == "one-way") & (histogram["group"] == name)
        values["delay_p95_ms"] = (
            nearest_rank(histogram["delay_s"][bins], 95, histogram["packets"][bins]) * 1e3
        )
        for column in ("retransmitted_packets", "timeouts"):
            values[column] = float(flows[column][rows].sum())
        groups.append({"name": name, "cells": [number(values[column]) for column in _GROUP_COLUMNS]})
    return {
        "title": f"{style[record.scheme].display_name}, repetition {record.repetition}, seed {record.seed}",
        "group_titles": list(_GROUP_COLUMNS.values()),
        "groups": groups,
        "figures": pictures,
    }

"""Results as one self-contained HTML page: no scripts, no requests, everything escaped."""

import functools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from airpath._backends import BACKENDS, REAL_TIME
from airpath.damage import damage_of_plan
from airpath.metrics import METRICS, SCOPE, flow_metrics, nearest_rank
from airpath.metrics.run import columns, link_under_test, measured_span_s
from airpath.plots import StandardFigure, Style, style_for
from airpath.report.differences import LOOKED_AT
from airpath.report.embedding import svg_uri
from airpath.report.matrix import NOTE, matrices
from airpath.report.title import facts_line, title
from airpath.results import Results, RunResult
from airpath.results.formatting import mean_and_half_width, number
from airpath.results.validity import LINKS_HEAD, links_rows


@dataclass(frozen=True)
class Section:
    """An additional section of a report.

    Attributes
    ----------
    id
        Its anchor in the page.
    title
        Its heading.
    note
        How to read it.
    remarks
        Sentences before its tables.
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
    """Return the page.

    Parameters
    ----------
    results
        The results to report.
    scenario_text
        The scenario as its author wrote it.
    provenance
        The content of ``provenance.json``.
    figures
        The figures (`airpath.plots.standard_figures`). The first of all runs leads the page.
    style
        Names and colours of schemes; as registered when absent.
    sections
        Additional sections, after the summary.
    compared
        Whether to report differences between schemes.
    """
    style = style or style_for(results.schemes)
    captions = dict.fromkeys(figure.caption for figure in figures)  # each is shown once
    pictures = [
        (figure, _picture(figure) | {"is_first": captions.pop(figure.caption, "") is None})
        for figure in figures
    ]
    overall = [picture for figure, picture in pictures if figure.run is None]
    return _template().render(
        title=title(results, "schemes" if compared else "pairs of schemes"),
        lead=facts_line(results, provenance),
        facts=_facts(results, style),
        scenario_text=scenario_text,
        schemes=[
            {
                "name": style[scheme].display_name,
                "colour": style[scheme].colour,
                "n": sum(run.record.scheme == scheme for run in results.runs),
            }
            for scheme in results.schemes
        ],
        summary=_summary(results),
        first_figures=overall[:1],
        sections=[
            {
                "section": section,
                "figures": [_picture(figure) | {"is_first": True} for figure in section.figures],
            }
            for section in (*_validity_section(results), *sections)
        ],
        matrices=matrices(results.summary, lambda scheme: style[scheme].display_name) if compared else [],
        matrix_notes=[NOTE, *([LOOKED_AT] if results.until is not None else [])],
        precision=_precision_section(results, style) if compared else [],
        figures=overall[1:],
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


def _picture(figure: StandardFigure) -> dict[str, Any]:
    return {
        "id": figure.name,
        "caption": figure.caption,
        "uri": svg_uri(figure.svg),
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
    """Describe the link under test, once for all schemes with the same queue."""
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
    """Return the section on configured and achieved values of links, if there are runs in real time."""
    if not (rows := links_rows(results)):
        return []
    note = (
        "Configured and achieved values of the links of runs in real time. The achieved delay is the"
        " configured delay plus the median scheduling delay of packets. The configured loss is the long-term"
        " average. The carried rate is below the configured rate if the senders sent less."
    )
    table = {"title": "Links", "head": LINKS_HEAD, "rows": rows}
    return [Section("validity", "Configured and achieved", note, [], [table], [])]


def _precision_section(results: Results, style: Style) -> list[Section]:
    """Return the section on the precision of means, if a scheme has more than one run."""
    if not results.is_repeated:
        return []
    from airpath.precision.reached import judge  # here: its report is made of sections of this one
    from airpath.report.precision import precision_section

    reached = judge(results.summary, results.until)
    return [precision_section(reached, lambda scheme: style[scheme].display_name)]


def _world_facts(results: Results) -> list[tuple[str, str]]:
    """Return backend and validity of the runs that were not simulated."""
    records = [run.record for run in results.runs if run.record.world != "sim"]
    if not records:
        return []
    worlds = ", ".join(dict.fromkeys(BACKENDS[record.world].description for record in records))
    problems = [
        (
            f"{record.scheme}, repetition {record.repetition}",
            BACKENDS[record.world].validity_text(record.validity),
        )
        for record in records
        if not record.valid
    ]
    facts = [("backend", worlds)]
    if any(record.world in REAL_TIME for record in records):
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
            f"sampled every {number(rate['hold_ns'] / 1e9)} s"
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
            "headline": metric.headline,
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


def _run(run: RunResult, style: Style, pictures: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
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

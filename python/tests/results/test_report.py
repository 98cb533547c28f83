"""The report stands alone and is well formed; the terminal summary has the same numbers."""

import copy
import io
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any
from urllib.parse import unquote

import numpy as np
import pytest
from rich.console import Console
from rich.table import Table

from airpath.damage import damage
from airpath.metrics import METRICS
from airpath.plots import standard_figures
from airpath.report.differences import differences
from airpath.report.embedding import svg_uri
from airpath.report.html import report_html
from airpath.report.matrix import matrices
from airpath.report.title import title
from airpath.results import Origin, Results, RunRecord, summary_json, summary_table
from airpath.results.blocks import Blocks
from airpath.results.formatting import mean_and_half_width, number
from airpath.results.provenance import provenance
from airpath.results.records import WrittenScenario

from .synthetic import small_record

NASTY = '<script>alert("1")</script> & {{ 7 * 7 }} https://example.org/x.js'
VOID = {"meta", "link", "br", "img", "hr", "input"}


class Checker(HTMLParser):
    """Collects tags, text and resources, and insists that tags are closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.resources: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.resources += [
            str(value) for name, value in attrs if name in {"src", "href", "srcset", "data", "action"}
        ]
        self.ids += [str(value) for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def results() -> Results:
    records = [
        small_record(scheme, n, n, scenario_name=NASTY) for scheme in ("cubic", NASTY) for n in range(2)
    ]
    return Results.from_records(records)


@pytest.fixture(scope="module")
def page(results: Results) -> str:
    facts = provenance(results, NASTY, Origin(created="2026-11-20T12:00:00Z", command_line=[NASTY]))
    return report_html(results, scenario_text=NASTY, provenance=facts, figures=standard_figures(results))


@pytest.fixture(scope="module")
def parsed(page: str) -> Checker:
    checker = Checker()
    checker.feed(page)
    checker.close()
    assert checker.open == []
    return checker


def test_the_page_asks_for_nothing(page: str, parsed: Checker) -> None:
    assert parsed.resources
    assert all(resource.startswith("data:image/") for resource in parsed.resources)
    assert not {"script", "iframe", "object", "embed"} & set(parsed.tags)
    assert not re.search(r"url\(|@import", page)


def test_foreign_text_is_shown_and_not_obeyed(page: str, parsed: Checker) -> None:
    assert "<script" not in page
    assert parsed.text.count(NASTY) >= 4
    assert "49" not in parsed.text.split(NASTY)[0]


def test_schemes_are_the_rows_of_the_summary(page: str) -> None:
    (head, body) = re.findall(
        r'<table class="schemes headline">.*?(<thead>.*?</thead>)(.*?)</table>', page, re.S
    )[0]
    assert METRICS["throughput_mbps"].heading in head
    assert METRICS["goodput_mbps"].heading not in head
    assert "TCP CUBIC" in body


def test_the_page_has_every_section_and_definition(parsed: Checker, results: Results) -> None:
    assert {"run", "summary", "figures", "runs", "definitions", "provenance"} <= set(parsed.ids)
    assert parsed.ids[0] == "figure-trade-off"
    assert len(parsed.ids) == len(set(parsed.ids))
    for metric in METRICS.values():
        assert metric.definition in parsed.text
    for figure in standard_figures(results):
        assert figure.caption in parsed.text
    assert parsed.text.count("seed 1") >= 2


def test_schemes_with_routers_of_their_own_are_said_to_have_them() -> None:
    own = small_record("xcp")
    same = [small_record(scheme, n, n) for scheme in ("cubic", "newreno") for n in (1, 2)]
    plan = copy.deepcopy(own.plan)
    for link in plan["links"]:
        link["queue"] |= {"kind": "router", "protocol": {"kind": "xcp"}, "source": {"kind": "configured"}}
    results = Results.from_records([*same, replace(own, plan=plan)])
    page = report_html(results, scenario_text="", provenance={}, figures=[])
    cells = re.findall(r'<th scope="row">(link under test[^<]*)</th><td>([^<]*)</td>', page)
    assert [name for name, _ in cells] == ["link under test, TCP CUBIC, TCP NewReno", "link under test, XCP"]
    assert "router" not in cells[0][1]
    assert "queue router (xcp, capacity source configured)" in cells[1][1]


def faster(scheme: str, repetition: int, factor: float) -> RunRecord:
    """A run whose flows had so many times the throughput."""
    record = small_record(scheme, repetition, repetition)
    flows = record.tables["flows"]
    carried = (np.asarray(flows["departed_bytes"]) * factor).astype(np.int64)
    return replace(record, tables=record.tables | {"flows": flows | {"departed_bytes": carried}})


def two_schemes(repetitions: int) -> Results:
    return Results.from_records(
        [
            faster(scheme, n, factor + 0.1 * n)
            for scheme, factor in (("cubic", 2.0), ("newreno", 1.0))
            for n in range(1, repetitions + 1)
        ]
    )


def text_of(table: Table, width: int = 100) -> str:
    console = Console(width=width, record=True, file=io.StringIO())
    console.print(table)
    return console.export_text()


def test_schemes_are_compared_seed_by_seed() -> None:
    results = two_schemes(3)
    (pair,) = differences(results.summary)["throughput_mbps"]
    ours, theirs = (
        [run.metrics["throughput_mbps"] for run in results.runs if run.record.scheme == scheme]
        for scheme in ("cubic", "newreno")
    )
    assert (pair.first, pair.second, pair.n) == ("cubic", "newreno", 3)
    assert pair.difference == pytest.approx(np.mean(np.subtract(ours, theirs)))
    assert pair.p < 0.001
    checker = Checker()
    checker.feed(report_html(results, scenario_text="", provenance={}, figures=[]))
    section = checker.text.split("Differences between schemes")[1].split("Over time")[0]
    assert "TCP CUBIC" in section
    (throughput, *_) = matrices(results.summary, str)
    (_, (alone, row)), (_, (column, _)) = throughput.rows
    assert alone is None
    assert (row.kind, column.kind) == ("better", "worse")
    assert float(row.text) == pytest.approx(pair.difference, rel=0.01)
    assert row.text in section
    assert f"n = 3, p = {pair.p:.2g}" in row.detail
    assert column.text == row.text.replace("+", "\N{MINUS SIGN}")


def test_schemes_that_are_not_told_apart_get_no_colour_and_no_number() -> None:
    factors = {"cubic": (1.0, 2.0, 3.0), "newreno": (3.0, 2.0, 1.1)}
    records = [faster(scheme, n, factor) for scheme in factors for n, factor in enumerate(factors[scheme])]
    (throughput, *_) = matrices(Results.from_records(records).summary, str)
    (_, (_, cell)), _ = throughput.rows
    assert (cell.text, cell.kind) == ("~", "")
    assert "±" in cell.detail


def test_a_lower_delay_is_better() -> None:
    assert METRICS["delay_p95_ms"].better == "lower"
    records = [
        replace(record, tables=record.tables | {"delay_histogram": slower(record, delay)})
        for scheme, delay in (("cubic", 1.0), ("newreno", 2.0))
        for n in range(3)
        for record in [small_record(scheme, n, n)]
    ]
    by_title = {one.title: one for one in matrices(Results.from_records(records).summary, str)}
    (_, (_, cell)), _ = by_title[METRICS["delay_p95_ms"].heading].rows
    assert cell.text.startswith("\N{MINUS SIGN}")
    assert cell.kind == "better"


def slower(record: RunRecord, factor: float) -> dict[str, Any]:
    """The delays of a run, each so many times as long, and no two seeds alike."""
    histogram = record.tables["delay_histogram"]
    return histogram | {"delay_s": np.asarray(histogram["delay_s"]) * factor * (1 + 0.01 * record.repetition)}


def test_the_title_counts_schemes_over_one_link() -> None:
    schemes = ("cubic", "newreno", "vegas", "bbr")
    titled = [
        replace(
            small_record(scheme),
            scenario=WrittenScenario(text=f'title = "{scheme} over lte.down"\n', folder="."),
        )
        for scheme in schemes
    ]
    assert title(Results.from_records(titled), "schemes") == "Four schemes over lte.down"
    assert title(Results.from_records(titled[:2]), "schemes") == "cubic and newreno over lte.down"
    assert title(Results.from_records(titled[:1]), "schemes") == "cubic over lte.down"
    assert title(Results.from_records([small_record(scenario_name="mine")]), "schemes") == "mine"


def test_an_embedded_figure_is_the_same_drawing() -> None:
    svg = b"""<?xml version="1.0"?>
<svg xmlns="http://www.w3.org/2000/svg"><!-- 50 % & more --><metadata>x</metadata>
 <path d="M 30.908365 143.799135
L 0.123456 2" transform="scale(0.015625)" style="fill: #fff; clip-path: url(#a)"/></svg>"""
    start, _, content = svg_uri(svg).partition(",")
    assert start == "data:image/svg+xml"
    assert not set(content) & set('"<>#&()')
    assert unquote(content) == (
        "<svg xmlns='http://www.w3.org/2000/svg'><path d='M 30.90 143.79 L 0.123456 2'"
        " transform='scale(0.015625)' style='fill: #fff; clip-path: url(#a)'/></svg>"
    )


def test_single_runs_and_single_schemes_are_not_compared() -> None:
    alone = Results.from_records([small_record("cubic", n, n) for n in (1, 2)])
    for results in (two_schemes(1), alone, Results([])):
        assert "Differences between" not in report_html(results, scenario_text="", provenance={}, figures=[])


def test_numbers_have_no_more_than_four_significant_digits() -> None:
    assert [number(value) for value in (2.2204e-16, -3e-9, 1.23456e-5)] == [
        "2.22e-16",
        "-3e-09",
        "0.00001235",
    ]


def test_the_page_shows_the_statistics(parsed: Checker, results: Results) -> None:
    row = next(row for row in results.statistics.to_pylist() if row["metric"] == "throughput_mbps")
    assert mean_and_half_width(row) in parsed.text


def test_results_of_nothing_have_a_page_too() -> None:
    page = report_html(Results([]), scenario_text="", provenance={}, figures=[])
    assert "none" in page


def test_the_terminal_table_shows_schemes_and_headline_metrics(results: Results) -> None:
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(summary_table(results.summary))
    text = console.export_text()
    assert "cubic" in text
    assert "p95 queue" in text
    assert "0.75" in text
    assert NASTY.split()[0] in text


@pytest.mark.parametrize("width", [60, 80, 100, 120, 160, 300])
def test_no_cell_of_many_schemes_breaks_in_a_terminal_of_any_width(width: int) -> None:
    schemes = ["cubic", "newreno", "vegas", "westwood+", "cubic-ebe", "bbr"]
    records = [small_record(scheme, repetition) for scheme in schemes for repetition in range(2)]
    table = summary_table(Results.from_records(records).summary)
    assert isinstance(table, Blocks)
    console = Console(width=width, record=True, file=io.StringIO())
    console.print(table)
    lines = console.export_text().splitlines()
    assert max(map(len, lines)) <= width
    assert not any("…" in line for line in lines)
    rows = {scheme: [line for line in lines if line.split()[:1] == [scheme]] for scheme in schemes}
    blocks = len(rows["bbr"])
    assert (blocks > 1) == (width <= 80)
    assert all(len(found) == blocks for found in rows.values()), "a row is one line"
    shown = [cell for line in rows["bbr"] for cell in re.split(r"  +", line.strip())]
    for cells in table.columns.values():
        assert cells[-1] in shown


def test_the_machine_readable_summary_is_json_with_the_same_numbers(results: Results) -> None:
    content = json.loads(json.dumps(summary_json(results.summary), allow_nan=False))
    cubic = content["schemes"]["cubic"]
    assert set(cubic) == set(METRICS)
    assert cubic["utilisation"]["mean"] == 0.75
    assert cubic["utilisation"]["n"] == 2
    assert [run["repetition"] for run in content["runs"]] == [0, 1, 0, 1]
    alone = summary_json(Results.from_records([small_record()]).summary)
    assert alone["schemes"]["cubic"]["utilisation"]["sd"] is None


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (0.75, "0.7500"),
        (1234.5, "1234"),
        (12.3456, "12.35"),
        (0.00123456, "0.001235"),
        (float("nan"), "—"),
    ],
)
def test_numbers_have_four_significant_digits(value: float, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(
    ("mean", "low", "high", "text"),
    [(7.3912, 6.53, 8.25, "7.39 ± 0.86"), (309.2, 264.2, 354.2, "309 ± 45"), (1.0, 1.0, 1.0, "1")],
)
def test_a_mean_has_the_digits_that_its_interval_warrants(
    mean: float, low: float, high: float, text: str
) -> None:
    assert mean_and_half_width({"mean": mean, "ci95_low": low, "ci95_high": high}) == text


def test_losses_of_a_plan_of_format_1_are_described() -> None:
    chain = {"stay_good": 0.99, "stay_bad": 0.9, "modulation": "qpsk", "antennas": "2x2", "rician_k": 2.0}
    coding = {"data": [93, 100], "acks": None, "small_bytes": 100, "parity_takes_time": True}
    fading = {
        "chain": {"kind": "fading", "snr_db": 20.0, "bad_snr_drop_db": 8.0, **chain},
        "clock": {"kind": "bit", "coding": coding, "step_by_step": False},
    }
    arq = {"retries": 2, "delay_ns": 8_000_000, "in_order": True}
    assert damage({"loss": 0.0, "bursts": fading, "arq": arq}) == (
        "losses in bursts (fading, QPSK, SNR 20 dB, 12 dB in the bad state, antennas 2x2, Rician factor 2),"
        " chain clocked by bit, code rate 0.93 of data, parity takes time,"
        " sent again at most 2 times after 8 ms, delivered in order"
    )
    means = {"kind": "means", "loss": 0.02, "burst": 5.0}
    timed = {"chain": means, "clock": {"kind": "time", "step_ns": 1_000_000}}
    assert damage({"loss": 0.0, "bursts": timed}) == (
        "losses in bursts (gilbert), chain clocked by time of 1 ms"
    )


def test_the_clock_of_a_chain_is_stated_with_the_results() -> None:
    record = small_record()
    record.plan["links"][0]["bursts"] = {
        "kind": "gilbert",
        "mean_loss": 0.02,
        "mean_burst": 5.0,
        "clock": "time",
        "step": 1_000_000,
    }
    record.plan["links"][0]["arq"] = {
        "kind": "selective-repeat",
        "retries": 1,
        "delay": 8_000_000,
        "in_order": False,
    }
    results = Results.from_records([record])
    said = (
        "losses in bursts (gilbert), chain clocked by time of 1 ms,"
        " sent again at most once after 8 ms, delivered out of order"
    )
    origin = provenance(results, "text", Origin(created="now"))
    assert list(origin["runs"][0]["damage"].values()) == [said]
    page = report_html(results, scenario_text="text", provenance={"created": "now"}, figures=())
    name = record.plan["links"][0]["name"]
    assert re.search(rf"damage on {re.escape(name)}.*?{re.escape(said)}", page, re.DOTALL)


def test_links_of_runs_in_real_time_are_shown_as_configured_and_as_achieved() -> None:
    record = small_record("kernel:cubic", 1, 0)
    link = {
        "name": "there",
        "configured_bps": None,
        "carried_bps": 9.5e6,
        "configured_delay_s": 0.02,
        "achieved_delay_s": 0.02004,
        "configured_loss": 0.01,
        "achieved_loss": None,
    }
    validity = {"valid": False, "problems": ["late"], "links": [link]}
    made = Results.from_records([replace(record, world="emulate", validity=validity)])
    html = report_html(made, scenario_text="", provenance={}, figures=[])
    page = Checker()
    page.feed(html)
    assert "Configured and achieved" in page.text
    row = re.search(r"<td[^>]*>there</td>(.*?)</tr>", html, re.DOTALL)
    assert row is not None
    cells = re.findall(r"<td[^>]*>(.*?)</td>", row[1])
    assert cells == ["unlimited", "9.500", "20", "20.04", "1", "—"]
    assert "valid runs" in page.text
    assert "0 of 1" in page.text


def test_a_simulation_has_no_such_section(results: Results) -> None:
    html = report_html(results, scenario_text="", provenance={}, figures=[])
    assert "Configured and achieved" not in html

"""The report is self-contained and well formed, and has the numbers of the tables."""

import base64
import hashlib
import json
import math
import re
import shutil
import subprocess
from dataclasses import replace
from importlib import resources
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pages import Page

import airpath
from airpath.explorer.block import Block, values_of
from airpath.explorer.page import MODULES, UPLOT_SHA256, asset, page, script_text
from airpath.metrics import METRICS
from airpath.results import Origin, Results, RunRecord
from airpath.results.formatting import UNITS
from airpath.results.provenance import provenance
from airpath.schemes import SCHEMES
from airpath.views.model import Interval, Intervals, Matrix, Section
from airpath.views.styles import DARK_GROUND, LEAST_CONTRAST, contrast, style_for
from airpath.views.view import view_of

from .router import router_record
from .synthetic import small_record

NASTY = '<script>alert("1")</script> & {{ 7 * 7 }} $title </script> https://example.org/x.js'


@pytest.fixture(scope="module")
def results() -> Results:
    records = [
        small_record(scheme, n, n, scenario_name=NASTY) for scheme in ("cubic", NASTY) for n in range(2)
    ]
    return Results.from_records(records)


def page_of(results: Results, **options: object) -> Page:
    return Page(page(view_of(results, **options)))


@pytest.fixture(scope="module")
def parsed(results: Results) -> Page:
    facts = provenance(results, NASTY, Origin(created="2026-11-20T12:00:00Z", command_line=[NASTY]))
    return Page(page(view_of(results, provenance=facts), scenario_text=NASTY, provenance=facts))


def test_the_page_makes_no_requests(parsed: Page) -> None:
    assert parsed.resources == []
    assert not {"iframe", "object", "embed", "link", "img"} & set(parsed.tags)
    own = parsed.html.replace(NASTY, "").replace("http://www.w3.org/2000/svg", "")
    own = own.replace("https://github.com/leeoniya/uPlot", "")  # in a comment of its licence
    for found in re.finditer(r"https?://[^\s\"']*", own):
        assert found[0].startswith("https://example.org"), found[0]
    assert not re.search(r"url\(|@import|fetch\(|XMLHttpRequest|WebSocket|sendBeacon", parsed.html)


def test_the_policy_allows_this_page_and_nothing_else(parsed: Page) -> None:
    assert parsed.directive("default-src") == ["'none'"]
    assert parsed.directive("img-src") == ["data:"]
    for directive, texts in (("script-src", parsed.code), ("style-src", parsed.styles)):
        hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in texts]
        assert parsed.directive(directive) == [f"'sha256-{one}'" for one in hashes]
    assert "unsafe" not in parsed.policy
    assert not re.search(r" on[a-z]+=| style=", parsed.html.split("<script")[0])


def test_external_text_is_data(parsed: Page) -> None:
    assert len(parsed.code) == 2
    assert parsed.head["scenario"] == NASTY
    assert [scheme["name"] for scheme in parsed.head["schemes"]] == ["TCP CUBIC", NASTY]
    assert NASTY in parsed.text


def test_no_script_of_ours_sets_markup() -> None:
    for name in MODULES:
        text = asset(f"{name}.js")
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function", text
        )


def test_modules_import_only_what_earlier_ones_export() -> None:
    exported: dict[str, set[str]] = {}
    for name in MODULES:
        text = asset(f"{name}.js")
        for names, source in re.findall(r'^import \{ ([^}]*) \} from "\./(\w+)\.js";', text, re.MULTILINE):
            assert set(names.split(", ")) <= exported[source], (name, source)
        pattern = r"^export (?:async )?(?:const|let|function|class) (\w+)"
        exported[name] = set(re.findall(pattern, text, re.MULTILINE))
    every = [one for names in exported.values() for one in names]
    assert len(every) == len(set(every)), "exports are joined into one script"
    files = {
        path.name.removesuffix(".js")
        for path in resources.files("airpath.explorer").joinpath("assets").iterdir()
    }
    assert set(MODULES) <= files


@pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")
def test_the_script_is_well_formed(tmp_path) -> None:
    (tmp_path / "page.js").write_text(script_text())
    done = subprocess.run(
        ["node", "--check", "page.js"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(
    shutil.which("tsc") is None, reason="TypeScript is not installed: npm install -g typescript"
)
def test_the_modules_fit_together_by_their_types() -> None:
    with resources.as_file(resources.files("airpath.explorer").joinpath("assets")) as folder:
        files = [str(path) for path in sorted(folder.glob("*.js"))]
        options = ["--strict", "false", "--allowJs", "--checkJs", "--noEmit", "--target", "ES2022"]
        options += ["--module", "ES2022", "--moduleResolution", "bundler", "--lib", "ES2023,DOM,DOM.Iterable"]
        done = subprocess.run(["tsc", *options, *files], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_uplot_is_the_released_file_with_its_licence() -> None:
    assert hashlib.sha256(asset("uplot/uPlot.iife.min.js").encode()).hexdigest() == UPLOT_SHA256
    assert "v1.6.32" in asset("uplot/uPlot.iife.min.js")
    assert "Permission is hereby granted" in asset("uplot/LICENSE")


def test_the_table_has_the_numbers_of_the_summary(parsed: Page, results: Results) -> None:
    summary = results.summary.to_pydict()
    head = parsed.head
    assert next(column["metric"] for column in head["columns"] if column["main"]) == "throughput_mbps"
    for column in head["columns"]:
        for scheme, (mean, low, high, text) in zip(head["schemes"], column["cells"], strict=True):
            pairs = zip(summary["scheme"], summary[column["metric"]], strict=True)
            values = [value for name, value in pairs if name == scheme["id"] and not math.isnan(value)]
            factor = UNITS.get(column["metric"], ("", 1.0))[1]
            if values:
                assert mean == pytest.approx(factor * np.mean(values))
                assert low <= mean * (1 + 1e-5)
                assert mean <= high * (1 + 1e-5)
            else:
                assert (mean, text) == (None, "—")
    throughput = {(p[0], p[1]): p[3] for p in head["points"]}
    assert throughput[0, 1] == pytest.approx(summary["throughput_mbps"][1], rel=1e-5)


def test_the_series_are_those_of_the_tables(parsed: Page, results: Results) -> None:
    head, run = parsed.head, results.run("cubic", 1)
    panel = next(one for one in head["panels"] if one["key"] == "rate")
    line = next(one for one in panel["lines"] if one[:2] == [0, 1] and one[4] == "line")
    departed = run.flow_series.to_pydict()
    ends = parsed.values(head["time"]["ends"])
    sums = np.zeros(len(ends))
    for time_s, size in zip(departed["time_s"], departed["departed_bytes"], strict=True):
        sums[np.searchsorted(ends, time_s - 1e-9)] += size
    assert parsed.values(line[6:]) == pytest.approx(sums * 8e-6 / head["time"]["step"], abs=1e-3)


def test_a_router_has_panels_of_its_quantities() -> None:
    found = page_of(Results.from_records([router_record()]))
    keys = [panel["key"] for panel in found.head["panels"]]
    assert {"estimate", "load_factor", "feedback", "filter_queue", "filter_rate"} <= set(keys)
    assert all(panel["lines"] for panel in found.head["panels"])


def test_the_page_has_every_definition_and_the_provenance(parsed: Page) -> None:
    assert {name for _, name, _ in parsed.head["definitions"]} == set(METRICS)
    assert json.loads(parsed.head["provenance"])["command_line"] == [NASTY]
    assert parsed.head["details"][0]["id"] == "run"
    assert len(parsed.ids) == len(set(parsed.ids))


def test_empty_results_have_a_page_too() -> None:
    found = page_of(Results([]))
    assert (found.head["schemes"], found.head["panels"], found.head["pairs"]) == ([], [], [])


def test_single_runs_have_neither_pairs_nor_intervals() -> None:
    found = page_of(Results.from_records([small_record(scheme) for scheme in ("cubic", "newreno")]))
    assert found.head["pairs"] == []
    assert all("±" not in cell[3] for column in found.head["columns"] for cell in column["cells"])


def test_pictures_of_commands_reach_the_page(results: Results) -> None:
    matrix = Matrix(
        "shares",
        ["a", "b"],
        ["a", "b"],
        "with",
        np.array([[1.0, math.nan], [0.5, 1.0]]),
        [["1", "—"], ["0.5", "1"]],
        1.0,
    )
    row = Interval("goodput", "kernel", 0.5, math.nan, math.nan, "0.5: agree")
    section = Section("mine", "Mine", pictures=[matrix, Intervals("gap", "tolerances", 1.0, [row])])
    found = page_of(results, sections=[section], compared=False).head
    (first, second) = found["sections"][0]["pictures"]
    assert first["values"] == [[1.0, None], [0.5, 1.0]]
    assert second["rows"] == [["goodput", "kernel", 0.5, None, None, "0.5: agree"]]
    assert (found["points"], found["pairs"]) == ([], [])


def test_many_runs_stay_within_the_budget() -> None:
    records = [small_record(scheme, n, n) for scheme in ("cubic", "newreno", "vegas") for n in range(300)]
    found = page_of(Results.from_records(records))
    lines = [line for panel in found.head["panels"] for line in panel["lines"]]
    assert len(found.html) < 600_000
    assert found.head["seeds_shown"] <= len(found.head["seeds"])
    if found.head["seeds_shown"] < 300:
        assert any(line[1] == -1 for line in lines), "the mean over all seeds is there"


def test_a_notebook_shows_the_same_page_in_a_frame(results: Results) -> None:
    frame = results._repr_html_()
    (content,) = re.findall(r'<iframe srcdoc="([^"]*)"', frame)
    assert 'height="1000"' in frame
    assert "&lt;!doctype html&gt;" in content
    assert Page(airpath.explore(results).html()).head["title"] == view_of(results).title
    assert "<" not in content


@given(st.lists(st.one_of(st.none(), st.floats(-1e9, 1e9)), max_size=50))
def test_a_series_is_read_back_within_half_a_step(values: list[float | None]) -> None:
    given_values = np.array([math.nan if value is None else value for value in values], dtype=np.float64)
    block = Block()
    block.add(np.array([3.0, 1.0, math.nan]))
    place = block.add(given_values)
    read = values_of(block.text(), place)
    assert np.array_equal(np.isnan(read), np.isnan(given_values))
    known = given_values[np.isfinite(given_values)]
    span = float(np.ptp(known)) if known.size else 0.0
    reach = float(np.abs(known).max()) if known.size else 0.0
    np.testing.assert_allclose(read, given_values, atol=span / 131_000 + reach * 2e-8 + 1e-300, rtol=0)


def test_every_registered_scheme_is_visible_on_either_background() -> None:
    for scheme, style in style_for(scheme.id for scheme in SCHEMES).items():
        assert re.fullmatch("#[0-9a-fA-F]{6}", style.colour), scheme
        assert contrast(style.dark_colour, DARK_GROUND) >= LEAST_CONTRAST, scheme
    assert contrast("#ffffff", "#000000") == pytest.approx(21.0)


def test_equal_results_give_equal_pages(results: Results) -> None:
    again = Results.from_records(
        [small_record(s, n, n, scenario_name=NASTY) for s in ("cubic", NASTY) for n in range(2)]
    )
    assert page(view_of(results)) == page(view_of(again))


def test_time_is_the_same_in_all_panels(parsed: Page) -> None:
    head = parsed.head
    ends = parsed.values(head["time"]["ends"])
    assert all(a < b for a, b in pairwise(ends))
    for panel in head["panels"]:
        for line in panel["lines"]:
            assert line[7] == -(-len(ends) // line[5])


def slow(record: RunRecord) -> RunRecord:
    """Return a run in real time that was not valid."""
    link = {
        "name": "there",
        "configured_bps": None,
        "carried_bps": 9.5e6,
        "configured_delay_s": 0.02,
        "achieved_delay_s": 0.02004,
        "configured_loss": 0.01,
        "achieved_loss": None,
    }
    return replace(record, world="emulate", validity={"valid": False, "problems": ["late"], "links": [link]})


def test_links_of_runs_in_real_time_are_shown_as_configured_and_as_achieved() -> None:
    head = page_of(Results.from_records([slow(small_record("kernel:cubic", 1, 0))])).head
    (validity,) = head["sections"]
    assert validity["title"] == "Configured and achieved"
    (row,) = validity["tables"][0]["rows"]
    assert row[1:] == ["there", "unlimited", "9.500", "20", "20.04", "1", "—"]
    facts = dict(map(tuple, head["details"][0]["tables"][0]["rows"]))
    assert facts["valid runs"] == "0 of 1"


def test_a_simulation_has_no_such_section(parsed: Page) -> None:
    assert parsed.head["sections"] == []


def test_code_of_the_user_is_in_the_details() -> None:
    files = {"mine.py": "ab12"}
    facts = {"outside": {"Mine": {"scheme": "mine.py:Mine", "door": "python", "files": files}}}
    head = page_of(Results.from_records([small_record()]), provenance=facts).head
    (section,) = [one for one in head["details"] if one["id"] == "outside"]
    assert section["tables"][0]["rows"] == [["Mine", "mine.py:Mine", "python", "mine.py", "ab12", "", ""]]

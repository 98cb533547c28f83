"""The report in a headless browser: numbers, requests, keys, widths, colours, printing, times."""

import math
import re
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from pages import Page

import airpath
from airpath.cli import main
from airpath.explorer.page import page
from airpath.results.formatting import UNITS
from airpath.views.model import Line, OverTime, Panel, View
from airpath.views.styles import style_for

SCHEMES = ["cubic", "bbr", "vegas", "xcp"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("report") / "out"
    command = [
        "compare",
        *SCHEMES,
        "--link",
        "lte.down",
        "--duration",
        "12s",
        "--reps",
        "3",
        "--out",
        str(out),
    ]
    with pytest.raises(SystemExit) as left:
        main(command)
    assert left.value.code == 0
    return out


@pytest.fixture(scope="module")
def report(folder: Path) -> Path:
    return folder / "report.html"


def test_there_are_no_requests_and_no_browser_errors(look, report):
    seen = look(report)
    seen.page.locator("#distributions summary").click()
    for summary in seen.page.locator("#details summary").all():
        summary.click()
    assert seen.requests == [report.resolve().as_uri()]
    assert seen.errors == []


def test_the_table_shows_the_numbers_of_the_summary(look, report, folder):
    seen = look(report)
    seen.page.get_by_role("button", name=re.compile("more columns")).click()
    summary = pq.read_table(folder / "summary.parquet").to_pydict()
    head = Page(report.read_text()).head
    heads = seen.js("[...document.querySelectorAll('#table thead th button')].map(e => e.title)")
    metrics = [re.search(r"\((\w+)\)$", title)[1] for title in heads[1:]]
    assert len(metrics) == len(head["columns"]) > 10
    for k, scheme in enumerate(SCHEMES):
        row = f"#table tr[data-scheme='{k}'] td"
        cells = seen.page.locator(row).all_text_contents()
        for metric, text in zip(metrics, cells, strict=True):
            values = [v for s, v in zip(summary["scheme"], summary[metric], strict=True) if s == scheme]
            known = [value for value in values if not math.isnan(value)]
            if not known:
                assert text == "—"
                continue
            mean = np.mean(known) * UNITS.get(metric, ("", 1.0))[1]
            shown = text.split(" ± ")[0]
            half_digit = 0.5 * 10.0 ** -len(shown.partition(".")[2]) if "e" not in shown else abs(mean) * 0.01
            spread = 10 ** max(0, math.floor(math.log10(abs(mean) or 1)) - 3) if mean else 0
            assert float(shown) == pytest.approx(mean, abs=max(half_digit, 10 * spread) * 1.001), metric


def test_schemes_are_toggled_by_bar_rows_and_keys_and_the_address_keeps_it(look, report):
    seen = look(report)
    bar = seen.page.locator("#bar button[data-scheme]")
    bar.nth(0).click()
    assert bar.nth(0).get_attribute("aria-pressed") == "false"
    assert seen.address() == "#off=0"
    seen.page.locator("#table tr[data-scheme='1']").click()
    seen.page.keyboard.press("3")
    assert seen.address() == "#off=0.1.2"
    assert seen.page.locator("#map .mark").count() == 1
    bar.nth(0).dblclick()
    assert seen.address() == "#off=1.2.3"
    again = look(report, "#off=1.2.3&seed=mean&pairs=1&sort=2&up")
    assert again.page.locator("#map .mark").count() == 1
    assert again.page.locator("#seed").text_content() == "mean of 3 seeds"
    assert "p95" in again.page.locator("#metrics [aria-pressed=true]").text_content()
    assert again.page.locator("#table [aria-sort=ascending]").count() == 1
    assert again.errors == []


def test_an_invalid_address_is_ignored(look, report):
    seen = look(report, "#off=77.x.0.1.2.3&seed=999&x=5_2&pairs=-1&sort=1e9&theme=pink")
    assert seen.page.locator("#map .mark").count() == 4
    assert seen.errors == []


def test_keys_and_the_mouse_move_and_zoom_all_panels(look, report):
    seen = look(report)
    seen.page.keyboard.press("+")
    assert seen.address() == "#x=3_9"
    seen.page.keyboard.press("ArrowRight")
    assert seen.address() == "#x=4.5_10.5"
    seen.page.keyboard.press("0")
    assert seen.address() in ("", "#")
    over = seen.page.locator(".u-over").nth(1)
    over.scroll_into_view_if_needed()
    box = over.bounding_box()
    seen.page.mouse.move(box["x"] + box["width"] * 0.25, box["y"] + 40)
    seen.page.mouse.down()
    seen.page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 60, steps=4)
    seen.page.mouse.up()
    assert [float(x) for x in seen.address().removeprefix("#x=").split("_")] == pytest.approx([3, 6], abs=0.1)
    over.dblclick()
    assert seen.address() in ("", "#")


def test_one_finger_chooses_a_range_and_two_move_it(look, report):
    seen = look(report, width=390, height=844, has_touch=True)
    over = seen.page.locator(".u-over").first
    over.scroll_into_view_if_needed()
    box = over.bounding_box()
    session = seen.page.context.new_cdp_session(seen.page)

    def touch(kind, *places):
        points = [
            {"x": box["x"] + place * box["width"], "y": box["y"] + 60, "id": k}
            for k, place in enumerate(places)
        ]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", 0.25)
    for place in (0.3, 0.4, 0.5, 0.6, 0.75):
        touch("touchMove", place)
    touch("touchEnd")
    assert [float(x) for x in seen.address().removeprefix("#x=").split("_")] == pytest.approx([3, 9], abs=0.2)
    touch("touchStart", 0.5)
    touch("touchStart", 0.5, 0.8)
    for step in (0.05, 0.1, 0.2):
        touch("touchMove", 0.5 - step, 0.8 - step)
    touch("touchEnd")
    low, high = (float(x) for x in seen.address().removeprefix("#x=").split("_"))
    assert (low, high - low) == (pytest.approx(4.2, abs=0.4), pytest.approx(6, abs=0.3))


def test_the_values_at_the_cursor_are_next_to_the_panel_largest_first(look, report):
    seen = look(report)
    over = seen.page.locator(".u-over").first
    box = over.bounding_box()
    seen.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 20)
    texts = seen.page.locator(".values").first.locator("div b").all_text_contents()
    assert len(texts) == 1 + len(SCHEMES)
    values = [float(text) for text in texts[1:]]
    assert values == sorted(values, reverse=True)


def test_every_mark_row_and_cell_is_reached_by_tab_with_a_visible_ring(look, report):
    seen = look(report)
    found = {}
    for _ in range(120):
        seen.page.keyboard.press("Tab")
        name, outline = seen.js(
            "(e => [e.closest('.mark') ? 'mark ' + e.dataset.scheme"
            " : e.matches('tr') ? 'row ' + e.dataset.scheme"
            " : e.matches('#matrix td') ? 'cell ' + e.title : '', getComputedStyle(e).outlineStyle])"
            "(document.activeElement)"
        )
        if name:
            found[name] = outline
    assert "none" not in found.values()
    assert {f"mark {k}" for k in range(4)} | {f"row {k}" for k in range(4)} <= set(found)
    assert len([one for one in found if one.startswith("cell")]) == 12


@pytest.mark.parametrize(
    ("width", "height", "least"), [(1280, 900, 300), (390, 844, 600), (360, 740, 600), (430, 932, 600)]
)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_first_picture_is_on_the_first_screen_and_nothing_scrolls_sideways(
    look,
    report,
    width,
    height,
    least,
    scheme,
):
    seen = look(report, width=width, height=height, color_scheme=scheme, has_touch=width < 500)
    assert seen.page.locator("#map svg").bounding_box()["y"] < least
    assert seen.js("document.documentElement.scrollWidth") == width
    assert seen.js("document.documentElement.className") == scheme
    if width < 500:
        assert (
            seen.js("[...document.querySelectorAll('#table thead th')].filter(e => e.offsetWidth).length")
            == 3
        )


def test_light_and_dark_are_changed_by_a_key(look, report):
    seen = look(report)
    seen.page.keyboard.press("d")
    assert seen.js("document.documentElement.className") == "dark"
    assert seen.address() == "#theme=dark"


def test_without_scripts_the_summary_is_a_table(look, report):
    seen = look(report, java_script_enabled=False)
    text = seen.page.inner_text("body")
    assert "TCP CUBIC" in text
    assert "throughput (Mbit/s)" in text
    assert not seen.page.locator("main").is_visible()


def test_the_printed_report_has_few_light_pages(look, report):
    seen = look(report, color_scheme="dark")
    pdf = seen.page.pdf(format="A4")
    assert 2 <= len(re.findall(rb"/Type\s*/Page\b", pdf)) <= 4
    assert seen.js("document.documentElement.className") == "dark"


def test_values_and_pictures_are_saved(look, report):
    seen = look(report, accept_downloads=True)
    saved = {}
    for kind in ("png", "svg", "csv"):
        with seen.page.expect_download() as waiting:
            seen.page.locator(f"#save-{kind}").click()
        saved[kind] = Path(waiting.value.path()).read_bytes()
    assert saved["png"].startswith(b"\x89PNG")
    assert saved["svg"].startswith(b"<svg")
    lines = saved["csv"].decode().splitlines()
    assert lines[0] == "panel,unit,line,time_s,value"
    assert len(lines) > 1000
    assert seen.errors == []


def test_a_notebook_frame_works(look, folder, tmp_path):
    frame = airpath.explore(folder)._repr_html_()
    (tmp_path / "cell.html").write_text(f"<!doctype html><script>performance.mark('painted')</script>{frame}")
    seen = look(tmp_path / "cell.html")
    inner = seen.page.frame_locator("iframe")
    inner.locator("#map svg").wait_for()
    inner.locator("#bar button").first.click()
    assert seen.errors == []


def long_view(count: int) -> View:
    """Return one panel of very many points."""
    time_s = np.arange(1, count + 1) * 60.0 / count
    values = 50 + 20 * np.sin(time_s * 40) + np.random.default_rng(1).normal(0, 3, count)
    line = Line(0, 0, values)
    return View(
        title="many points",
        facts="",
        findings="",
        schemes=["cubic"],
        style=style_for(["cubic"]),
        dashes=[0],
        seeds=[1],
        compared=False,
        columns=[],
        table_note="",
        shown=1,
        points=[],
        capacity_mbps=math.nan,
        over_time=OverTime(
            time_s=time_s,
            step_s=60.0 / count,
            capacity=[],
            panels=[Panel("delay", "One-way delay", "ms", [line])],
            marks=[],
            seeds_shown=1,
        ),
        distributions=[],
        pairs=[],
    )


FRAMES = """() => new Promise(done => {
  let k = 0, begin = performance.now();
  const press = key => dispatchEvent(new KeyboardEvent("keydown", { key }));
  const step = () => {
    press(k % 2 ? "ArrowLeft" : "ArrowRight");
    if (++k < 30) requestAnimationFrame(step);
    else requestAnimationFrame(() => done((performance.now() - begin) / 30));
  };
  press("+");
  begin = performance.now();
  step();
})"""
ZOOM = """() => new Promise(done => {
  const begin = performance.now();
  dispatchEvent(new KeyboardEvent("keydown", { key: "+" }));
  requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - begin)));
})"""
PAINTED = "performance.getEntriesByName('painted')[0].startTime"


def median_of(look, file, expression, times=3):
    found = []
    for _ in range(times):
        seen = look(file)
        seen.page.wait_for_timeout(400)
        found.append(seen.js(expression))
    return sorted(found)[times // 2]


@pytest.mark.realtime
@pytest.mark.parametrize(("expression", "limit_ms"), [(PAINTED, 500), (ZOOM, 50), (FRAMES, 33)])
def test_it_is_fast(look, report, expression, limit_ms):
    assert median_of(look, report, expression) <= limit_ms


@pytest.mark.realtime
@pytest.mark.parametrize(("expression", "limit_ms"), [(PAINTED, 500), (FRAMES, 20)])
def test_a_hundred_thousand_points_are_fast(look, tmp_path, expression, limit_ms):
    (tmp_path / "many.html").write_text(page(long_view(100_000)))
    assert median_of(look, tmp_path / "many.html", expression) <= limit_ms

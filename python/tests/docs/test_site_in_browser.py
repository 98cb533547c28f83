"""The documentation site, opened as files in a headless browser."""

import os
from pathlib import Path
from urllib.parse import urlsplit

import pytest

SITE = Path(os.environ.get("AIRPATH_SITE", ""))
pytestmark = pytest.mark.skipif(
    "AIRPATH_SITE" not in os.environ, reason="AIRPATH_SITE names no documentation site: make test-browser"
)
PAGES = (
    "index.html",
    "tutorial/first-controller.html",
    "tutorial/notebooks/train-policy.html",
    "how-to/compare.html",
    "how-to/controller-rust.html",
    "reference/scenario.html",
    "reference/api.html",
    "reference/schemes/cubic.html",
    "explanation/statistics.html",
    "papers/ebe-j.html",
)
"""Pages of each kind."""
CONTRAST = Path(__file__).with_name("contrast.js").read_text(encoding="utf-8")
CUT_OFF = """() => {
  const width = document.documentElement.clientWidth;
  const beyond = (element) => element.getBoundingClientRect().right > width + 1;
  const scrolls = (element) =>
    element && ((["auto", "scroll"].includes(getComputedStyle(element).overflowX) && !beyond(element)) ||
    scrolls(element.parentElement));
  return [...document.querySelectorAll("article *")]
    .filter((element) => beyond(element) && !scrolls(element))
    .map((element) => element.outerHTML.slice(0, 80));
}"""
"""Elements beyond the right edge of the window that no part of the page scrolls into view."""


@pytest.fixture
def opened(chromium):
    """Return a function that opens a page in a window of this width and colour scheme."""
    contexts = []

    def open_page(page: str, width: int, colours: str):
        contexts.append(chromium.new_context(viewport={"width": width, "height": 844}, color_scheme=colours))
        shown = contexts[-1].new_page()
        shown.goto((SITE / page).as_uri())
        return shown

    yield open_page
    for context in contexts:
        context.close()


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_cut_off(opened, page, width):
    assert opened(page, width, "light").evaluate(CUT_OFF) == []


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("colours", ["light", "dark"])
def test_texts_have_enough_contrast(opened, page, colours):
    assert opened(page, 1280, colours).evaluate(CONTRAST) == []


@pytest.mark.parametrize("start", ["index.html", "how-to/compare.html", "reference/schemes/cubic.html"])
@pytest.mark.parametrize(
    ("words", "found"),
    [("mahimahi", "how-to/compare-on-a-trace.html"), ("dual-pi2", "reference/queues/dual-pi2.html")],
)
def test_search_works_without_a_server_and_without_the_network(chromium, start, words, found):
    context = chromium.new_context()
    page = context.new_page()
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto((SITE / start).as_uri())
    page.locator("input.md-search__input").fill(words)
    links = page.locator("a.md-search-result__link")
    links.first.wait_for(state="attached")
    pages = [urlsplit(link.get_attribute("href")).path for link in links.all()]
    assert (SITE / found).as_uri().removeprefix("file://") in pages
    assert {urlsplit(request).scheme for request in requests} == {"file"}
    context.close()

"""The documentation site, opened as files in a headless browser."""

import os
from pathlib import Path
from urllib.parse import urlsplit

import pytest

SITE = Path(os.environ.get("AIRPATH_SITE", ""))
pytestmark = pytest.mark.skipif(
    "AIRPATH_SITE" not in os.environ, reason="AIRPATH_SITE names no documentation site: make test-browser"
)


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

"""A headless browser for reports; tests that need one are skipped without it, with the reason."""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")


@dataclass
class Seen:
    """A report in the browser, with the browser's errors and requests."""

    page: Any
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def js(self, expression: str) -> Any:
        """Evaluate an expression in the page."""
        return self.page.evaluate(expression)

    def address(self) -> str:
        """Return the part of the address after "#", once it has been written."""
        self.page.wait_for_timeout(400)
        return str(self.js("location.hash"))


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """Yield a headless Chromium: that of `AIRPATH_CHROMIUM`, of the system, or of Playwright."""
    api = pytest.importorskip(
        "playwright.sync_api", reason="Playwright is not installed: pip install playwright"
    )
    named = os.environ.get("AIRPATH_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    with api.sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(
                executable_path=named, args=["--no-sandbox", "--disable-gpu"]
            )
        except api.Error as error:
            pytest.skip(f"no Chromium: {str(error).splitlines()[0]} (AIRPATH_CHROMIUM names one)")
        yield browser
        browser.close()


@pytest.fixture
def look(chromium: Any) -> Iterator[Any]:
    """Yield a function that opens a report in a window of this size."""
    contexts = []

    def open_report(
        file: Path | str, address: str = "", width: int = 1280, height: int = 900, **options: Any
    ) -> Seen:
        context = chromium.new_context(viewport={"width": width, "height": height}, **options)
        contexts.append(context)
        seen = Seen(context.new_page())
        seen.page.on("pageerror", lambda error: seen.errors.append(str(error)))
        seen.page.on(
            "console",
            lambda said: seen.errors.append(said.text) if said.type in ("error", "warning") else None,
        )
        seen.page.on("request", lambda request: seen.requests.append(request.url))
        place = file if isinstance(file, str) else file.resolve().as_uri()
        seen.page.goto(place + address)
        if options.get("java_script_enabled", True):
            # Not `wait_for_function`, which evaluates strings: the policy of the page forbids it.
            while not seen.js("performance.getEntriesByName('painted').length") and not seen.errors:
                seen.page.wait_for_timeout(20)
            assert seen.errors == []
        return seen

    yield open_report
    for context in contexts:
        context.close()

"""The page of `airpath view` in a headless browser: the list, an overlay, a zoomed range, a sweep."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from airpath.cli import main
from airpath.viewer.server import Viewer


@pytest.fixture(scope="module")
def viewer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Viewer]:
    root = tmp_path_factory.mktemp("root")
    for name, schemes in (("first", ["cubic", "vegas"]), ("second", ["cubic", "bbr"])):
        command = ["compare", *schemes, "--link", "4mbps", "--duration", "6s", "--reps", "1", "--flows", "2"]
        with pytest.raises(SystemExit) as left:
            main([*command, "--no-report", "--out", str(root / name)])
        assert left.value.code == 0
    with Viewer([Path(root)]) as viewer:
        thread = threading.Thread(target=viewer.serve_forever)
        thread.start()
        yield viewer
        viewer.shutdown()
        thread.join()


def test_results_are_listed_overlaid_and_compared(look, viewer):
    seen = look(viewer.address)
    names = seen.page.locator("#results tbody a")
    assert sorted(names.all_text_contents()) == ["first", "second"]
    for box in seen.page.locator("#results input").all():
        box.check()
    seen.page.get_by_role("button", name="overlay chosen").click()
    seen.page.locator("#map .mark").first.wait_for()
    assert seen.page.locator("#map .mark").count() == 4
    seen.page.locator("#results summary").click()
    seen.page.get_by_role("button", name="difference of two").click()
    seen.page.locator("#differences").wait_for()
    assert seen.errors == []
    assert all(url.startswith(viewer.address) for url in seen.requests)


def test_a_zoomed_range_of_one_scheme_shows_its_flows(look, viewer):
    seen = look(viewer.address)
    seen.page.get_by_role("link", name="first").click()
    seen.page.locator("#bar button[data-scheme]").first.dblclick()
    assert seen.page.get_by_text("Rate of single flows").count() == 0
    seen.page.keyboard.press("+")
    seen.page.get_by_text("Rate of single flows").wait_for()
    seen.page.get_by_text("Rate of single flows").scroll_into_view_if_needed()
    seen.page.locator(".values", has_text="flow 1").first.wait_for()
    seen.page.keyboard.press("0")
    seen.page.get_by_text("Rate of single flows").wait_for(state="detached")
    assert seen.errors == []

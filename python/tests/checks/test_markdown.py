"""Markdown: text from users is shown literally, and stays in its cell."""

from pathlib import Path

import pytest
from markdown_it import MarkdownIt  # a dependency of rich

from airpath.checks import Case, Checked, CheckedCase, Judged, Suite
from airpath.checks.markdown import check_markdown
from airpath.checks.report import CAPTION
from airpath.results import Results
from airpath.statistics import MeanEstimate

MEASURED = MeanEstimate(0.7, 0.6, 0.8, 3)


def judged(remark: str = "", *, passed: bool = True, skipped: bool = False) -> Judged:
    return Judged("utilisation", "at least 0.5", MEASURED, passed, remark, skipped=skipped)


def checked(*cases: tuple[str, tuple[Judged, ...]]) -> Checked:
    made = [
        (Case(f"case-{number}", "", label, {}, ()), label, of) for number, (label, of) in enumerate(cases)
    ]
    suite = Suite("mine_too", "", tuple(case for case, _, _ in made), True, Path("b.json"))
    return Checked(suite, tuple(CheckedCase(case, label, Results([]), of) for case, label, of in made), None)


def test_failures_come_first_and_the_rest_in_order():
    fails, skipped = judged("low", passed=False), judged("none", skipped=True)
    text = check_markdown(
        checked(("cubic", (judged(), fails)), ("bbr", (skipped, judged("x", passed=False))))
    )
    assert text == (
        "### airpath check mine\\_too: failed\n\n"
        "2 of 4 expectations are not met, in 2 of 2 cases.\n\n"
        "| case | scheme | metric | expected | measured | n | verdict | remark |\n"
        "| :--- | :--- | :--- | :--- | ---: | ---: | :--- | :--- |\n"
        "| case-0 | cubic | utilisation | at least 0.5 | 0.70 ± 0.10 | 3 | **FAIL** | low |\n"
        "| case-1 | bbr | utilisation | at least 0.5 | 0.70 ± 0.10 | 3 | **FAIL** | x |\n"
        "| case-0 | cubic | utilisation | at least 0.5 | 0.70 ± 0.10 | 3 | pass |  |\n"
        "| case-1 | bbr | utilisation | at least 0.5 | 0.70 ± 0.10 | 3 | skip | none |\n\n"
        f"{CAPTION}.\n"
    )
    assert check_markdown(checked(("cubic", (judged(),)))).startswith(
        "### airpath check mine\\_too: passed\n\n1 expectations of 1 cases are met.\n"
    )


@pytest.mark.parametrize(
    "text",
    ["a|b", "*a*", "a_b_c", "`a`", "[a](b)", "<b>a</b>", "~~a~~", "a\\|b", "a&amp;b", "![a](b)", "--a-b"],
)
def test_text_is_shown_verbatim(text):
    tokens = (
        MarkdownIt("commonmark")
        .enable(["table", "strikethrough"])
        .parse(check_markdown(checked((text, (judged(f"{text}\n{text}"),)))))
    )
    lines = [token for token in tokens if token.type == "inline"]
    assert all(
        child.type == "text" or child.type == "text_special" for one in lines for child in one.children
    )
    said = ["".join(child.content for child in one.children) for one in lines]
    assert said[0] == "airpath check mine_too: passed"
    assert said[-9:-1] == [
        "case-0",
        text,
        "utilisation",
        "at least 0.5",
        "0.70 ± 0.10",
        "3",
        "pass",
        f"{text} {text}",
    ]

"""The outcome of a suite as Markdown, for the summary page of a GitHub job."""

import re
from collections.abc import Iterable
from typing import Final

from airpath.checks.report import CAPTION, FAILED, HEADINGS, NUMBERS, check_rows, check_text
from airpath.checks.running import Checked

_SPECIAL: Final = re.compile(r"[\\`*_\[\]<>|~$&]")
"""Characters with a special meaning in Markdown inside a line."""


def check_markdown(checked: Checked) -> str:
    """Return the verdict, a sentence, and a table with a row for each expectation; failures first."""
    verdict = "passed" if checked.passed else "failed"
    rows = sorted(check_rows(checked), key=lambda row: row[0].passed)
    sides = ("---:" if heading in NUMBERS else ":---" for heading in HEADINGS)
    lines = [
        f"### airpath check {_escaped(checked.suite.name)}: {verdict}",
        "",
        f"{_escaped(check_text(checked))}.",
        "",
        _row(HEADINGS),
        _row(sides),
        *(_row(f"**{cell}**" if cell == FAILED else _escaped(cell) for cell in cells) for _, cells in rows),
        "",
        f"{_escaped(CAPTION)}.",
    ]
    return "\n".join(lines) + "\n"


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escaped(text: str) -> str:
    """Escape text for one line of Markdown."""
    return _SPECIAL.sub(r"\\\g<0>", " ".join(text.split()))

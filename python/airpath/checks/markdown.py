"""What came of a suite as Markdown, as GitHub shows it on the page of a job."""

import re
from collections.abc import Iterable
from typing import Final

from airpath.checks.report import CAPTION, FAILED, HEADINGS, NUMBERS, check_rows, check_text
from airpath.checks.running import Checked

_SPECIAL: Final = re.compile(r"[\\`*_\[\]<>|~$&]")
"""Characters that Markdown takes for more than themselves inside a line."""


def check_markdown(checked: Checked) -> str:
    """Return the verdict, a sentence, and a table with a row for each expectation; those that fail first."""
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
    """Write text that means itself, on one line."""
    return _SPECIAL.sub(r"\\\g<0>", " ".join(text.split()))

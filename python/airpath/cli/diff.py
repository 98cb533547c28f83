"""`airpath diff`."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from airpath.cli.output import JsonOption, answers, show, show_json

if TYPE_CHECKING:
    from airpath.diff import MetricDifference, ResultsDifference

HELP = """\
Metrics of equal seeds are compared in pairs, with 95 % intervals, the largest differences first. Compares
results of `run`, `compare` or `gap`, or of two sweeps.

Exit codes, as those of diff: 0 no difference, 1 a difference, 2 an error.

Examples:

    airpath diff out/before out/after

    airpath diff out/lte-download out/lte-download-rerun --json | jq .metrics
"""

DIFFERENT = 1
MOST_ROWS = 40
"""Number of differences printed; JSON has all."""
LONGEST = 60
"""Maximum length of a printed fact, in characters."""
NOTE = (
    "Second minus first; share of the first mean. Sorted by whether the interval excludes zero, then by"
    " share. Pairs: equal seeds (paired t test), else Welch's test. Not adjusted for multiple comparisons."
)


@answers
def diff(
    first: Annotated[Path, typer.Argument(help="Results directory.")],
    second: Annotated[Path, typer.Argument(help="Results directory to compare with it.")],
    as_json: JsonOption = False,
) -> int:
    """Compare results."""
    from airpath.diff import diff as compare_results

    found = compare_results(first, second)
    if as_json:
        show_json(_as_json(found))
    else:
        _show(found)
    return 0 if found.is_empty else DIFFERENT


def _show(found: "ResultsDifference") -> None:
    from rich.table import Table
    from rich.text import Text

    if found.is_empty:
        show(f"no differences; {found.same} metrics are equal")
        return
    if found.changes:
        table = Table("")
        for directory in (found.first, found.second):
            table.add_column(Text(str(directory)))
        for change in found.changes:
            table.add_row(Text(change.what), Text(_fact(change.first)), Text(_fact(change.second)))
        show(table)
    for where, labels in ((found.first, found.only_first), (found.second, found.only_second)):
        if labels:
            show(f"only in {where}: {', '.join(labels)}")
    if not found.metrics:
        show(f"no metric differs; {found.same} are equal")
        return
    table = Table(caption=Text(NOTE), caption_justify="left")
    for title in ("scheme", "metric"):
        table.add_column(title)
    for title in ("first", "second", "difference", "95 % interval", "share", "pairs"):
        table.add_column(title, justify="right")
    for one in found.metrics[:MOST_ROWS]:
        table.add_row(*map(Text, _row(one)))
    show(table)
    if len(found.metrics) > MOST_ROWS:
        show(f"{len(found.metrics) - MOST_ROWS} more: --json prints all")
    show(f"{len(found.metrics)} metrics differ, {found.same} are equal")


def _row(one: "MetricDifference") -> tuple[str, ...]:
    from airpath.metrics import METRICS
    from airpath.results.formatting import NO_VALUE, mean_and_half_width, number

    means = (
        mean_and_half_width({"mean": side.mean, "ci95_low": side.low, "ci95_high": side.high})
        for side in (one.first, one.second)
    )
    difference = one.difference
    interval = (
        NO_VALUE if math.isnan(difference.low) else f"{number(difference.low)} to {number(difference.high)}"
    )
    share = f"{100 * one.share:+.3g} %" if math.isfinite(one.share) else NO_VALUE
    return (
        one.label,
        METRICS[one.metric].heading,
        *means,
        number(difference.difference),
        interval,
        share,
        str(difference.pairs) if difference.pairs else "Welch" if interval != NO_VALUE else NO_VALUE,
    )


def _fact(text: str | None) -> str:
    from airpath.results.formatting import NO_VALUE

    if text is None:
        return NO_VALUE
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _as_json(found: "ResultsDifference") -> dict[str, Any]:
    from airpath.metrics import METRICS

    def known(value: float) -> float | None:
        return value if math.isfinite(value) else None

    return {
        "same": found.is_empty,
        "first": str(found.first),
        "second": str(found.second),
        "changes": [
            {"what": change.what, "first": change.first, "second": change.second} for change in found.changes
        ],
        "only_first": list(found.only_first),
        "only_second": list(found.only_second),
        "metrics": [
            {
                "scheme": one.label,
                "metric": one.metric,
                "unit": METRICS[one.metric].unit,
                **{
                    name: {
                        "mean": known(side.mean),
                        "ci95_low": known(side.low),
                        "ci95_high": known(side.high),
                        "n": side.n,
                    }
                    for name, side in (("first", one.first), ("second", one.second))
                },
                "difference": known(one.difference.difference),
                "ci95_low": known(one.difference.low),
                "ci95_high": known(one.difference.high),
                "share": known(one.share),
                "pairs": one.difference.pairs,
                "excludes_zero": one.difference.is_sure,
                "improves": one.improves,
            }
            for one in found.metrics
        ],
        "metrics_that_are_the_same": found.same,
    }

"""`airpath leaderboard`."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from airpath.cli.output import (
    AllowCodeOption,
    ForceOption,
    IsolateOption,
    JobsOption,
    JsonOption,
    OutOption,
    answers,
    show,
    show_json,
    tell,
    write_file,
)

if TYPE_CHECKING:
    from airpath.leaderboard import Board, Scores, Standing

HELP = """\
Every entry runs in the same cases with the same seeds. Values are kept: the same command continues after
Ctrl-C, and further entries only add their own runs.

Exit codes: 0 all entries have values, 1 code of an entry failed, 2 an error.

Examples:

    airpath leaderboard senders

    airpath leaderboard senders my.py:Mine tuned=my.py:Mine:gain=0.5

    airpath leaderboard sources xcp:source=my.py:Source

    airpath leaderboard estimators my.py:Estimator --seed 1000

    airpath rerun out/leaderboard-senders
"""

FAILED = 1
TABLE, FIGURE = "leaderboard.md", "leaderboard.png"


@answers
def leaderboard(
    board: Annotated[
        str,
        typer.Argument(help="senders, sources or estimators, or a file (`airpath list leaderboards`)."),
    ],
    entries: Annotated[
        list[str] | None,
        typer.Argument(
            help="More entries: schemes or estimators, each with options after a colon, or in files"
            " (`my.py:Mine`). NAME=ENTRY sets the name in tables."
        ),
    ] = None,
    reps: Annotated[
        int | None,
        typer.Option(help="Repetitions of each case; default: that of the leaderboard.", show_default=False),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            help="Seed of the first repetition, for a fair ranking one that the authors of entries did not"
            " know; default: that of the leaderboard.",
            show_default=False,
        ),
    ] = None,
    traces: Annotated[
        Path | None,
        typer.Option(
            envvar="AIRPATH_TRACES",
            help="Folder of recorded traces; cases without their trace are skipped.",
            show_default=False,
        ),
    ] = None,
    jobs: JobsOption = None,
    isolate: IsolateOption = False,
    out: OutOption = None,
    force: ForceOption = False,
    _allow_code: AllowCodeOption = False,
    as_json: JsonOption = False,
) -> int:
    """Score entries on a leaderboard."""
    from airpath.cli.place import claim
    from airpath.leaderboard import Board, score, standings
    from airpath.leaderboard.report import leaderboard_json, leaderboard_table
    from airpath.leaderboard.running import FILE, ScoringInterrupted, can_continue
    from airpath.plugins.specs import allow

    allow(entries or ())
    chosen = Board.load(board, entries or (), traces=traces, seed=seed, repetitions=reps)
    tell_skipped(chosen)
    folder = claim(
        out,
        Path("out") / f"leaderboard-{chosen.name}",
        force=force,
        may_replace=lambda place: (place / FILE).exists(),
        resumes=lambda place: can_continue(chosen, place),
    )
    failures: list[str] = []

    def fail(text: str) -> None:
        failures.append(text)
        tell(text)

    try:
        scores = score(chosen, folder, jobs=jobs, isolate=isolate, on_failure=fail, on_line=tell)
    except ScoringInterrupted as interrupted:
        tell(f"{interrupted}; the same command continues")
        raise
    ranks = standings(scores)
    if as_json:
        show_json({**leaderboard_json(scores, ranks), "out": str(folder)})
    else:
        show(leaderboard_table(scores, ranks))
    for one in ranks:
        if one.missing:
            tell(f"{one.entry} has no rank, because it has no values in {', '.join(one.missing)}")
    _write(scores, ranks, folder)
    if not as_json:
        show(f"results: {folder / TABLE}\nfigure:  {folder / FIGURE}")
    return FAILED if failures else 0


def tell_skipped(board: "Board") -> None:
    """Print which cases are skipped, one line for each reason."""
    for why in dict.fromkeys(board.skipped.values()):
        names = [name for name, reason in board.skipped.items() if reason == why]
        tell(f"skipped: {', '.join(names)}: {why}")


def _write(scores: "Scores", ranks: "Sequence[Standing]", folder: Path) -> None:
    """Write the ranks as Markdown and as a figure."""
    from airpath.leaderboard.picture import trade_off_of_entries  # here, because matplotlib is slow to import
    from airpath.leaderboard.report import leaderboard_markdown
    from airpath.plots import render
    from airpath.plots.standard_figure import figure_of

    write_file(folder / TABLE, leaderboard_markdown(scores, ranks).encode())
    write_file(folder / FIGURE, render(figure_of(trade_off_of_entries(scores, ranks)), "png"))

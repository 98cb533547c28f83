"""The command `airpath reproduce`."""

import math
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from airpath.cli.output import JobsOption, JsonOption, show, show_json, tell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from airpath_papers.claim import Judgement
    from airpath_papers.figure import Figure
    from airpath_papers.reproduce import Reproduced

HELP = """\
Writes a report, figures, `verdicts.json` and `counts.json`. Finished runs are kept: after Ctrl-C, or with
more figures, the same command resumes. Report and verdicts contain the figures of the last command with this
`--out`.

Examples:

    airpath reproduce --list

    airpath reproduce ebe-j/fig6b

    airpath reproduce ebe-c ebe-j/fig6 --out queues

    airpath reproduce ebe-j --reps 5 --out quick

    airpath reproduce vcp-w/fig14 --world emulate

    airpath reproduce --json | jq -r '.[] | [.figure, .verdict] | @tsv'
"""

DEFAULT_OUT = Path("out") / "reproduce"
DEFAULT_OUT_ON_KERNEL = Path("out") / "reproduce-emulate"


class ReproduceWorld(StrEnum):
    """The backends on which figures can be reproduced."""

    SIM = "sim"
    EMULATE = "emulate"


def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="Papers, PAPER/FIGURE, `ours` (not in a paper) or `all`; default: everything in the papers."
        ),
    ] = None,
    list_: Annotated[
        bool, typer.Option("--list", help="List the figures and tables without running them.")
    ] = False,
    reps: Annotated[
        int | None,
        typer.Option(
            help="Repetitions of each experiment; default: as in the paper.", show_default=False, min=1
        ),
    ] = None,
    jobs: JobsOption = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Directory for report, figures and finished runs; default: out/reproduce, or"
            " out/reproduce-emulate for --world emulate.",
            show_default=False,
            file_okay=True,
        ),
    ] = None,
    world: Annotated[
        ReproduceWorld,
        typer.Option(
            help="Backend. sim: the simulator; emulate: this system's kernel over an emulated network, with"
            " airpath's VCP and XCP in the kernel (real time, Linux, root)."
        ),
    ] = ReproduceWorld.SIM,
    as_json: JsonOption = False,
) -> None:
    """Reproduce figures."""
    from airpath.cli.place import claim
    from airpath_papers.registry import select, select_on_kernel

    on_kernel = world is ReproduceWorld.EMULATE
    figures = select_on_kernel(names or ()) if on_kernel else select(names or ())
    if list_:
        _list(figures, as_json=as_json)
        return
    out = claim(
        out,
        DEFAULT_OUT_ON_KERNEL if on_kernel else DEFAULT_OUT,
        may_replace=lambda _: False,
        resumes=lambda folder: (folder / "runs").is_dir(),
    )
    if on_kernel:
        figures = _on_kernel(figures, jobs)
    done = _work(figures, out, reps, jobs)
    if as_json:
        from airpath_papers.reproduce import verdicts

        show_json(verdicts(done))
        return
    _show(done)
    for what in ("report.html", "verdicts.json", "counts.json"):
        show(f"{what.partition('.')[0] + ':':<10}{out / what}")


def _on_kernel(figures: "Sequence[Figure]", jobs: int | None) -> "list[Figure]":
    from airpath._backends import KERNEL
    from airpath_papers.kernel.figure import on_kernel

    KERNEL.check_jobs(jobs)
    return [on_kernel(figure) for figure in figures]


def _work(figures: "Sequence[Figure]", out: Path, reps: int | None, jobs: int | None) -> "list[Reproduced]":
    from airpath._os.progress import progress_bar
    from airpath.runner import workers
    from airpath_papers.reproduce import reproduce as reproduce_figures
    from airpath_papers.work import Interrupted

    def started(missing: int) -> None:
        if sys.stderr.isatty():
            tell(
                f"{missing} run{'' if missing == 1 else 's'} to do; finished ones are kept in {out / 'runs'}"
            )

    def real_started(missing: int, seconds: float) -> None:
        tell(
            f"{missing} run{'' if missing == 1 else 's'} in real time, one after another: about"
            f" {math.ceil(seconds / 60)} min; finished ones are kept in {out / 'runs'}"
        )

    try:
        with progress_bar("reproducing", None) as on_progress:
            return reproduce_figures(
                figures,
                out,
                repetitions=reps,
                workers=workers(jobs),
                on_progress=on_progress,
                on_start=started,
                on_real=real_started,
                on_invalid=tell,
            )
    except Interrupted as interrupted:
        tell(
            f"stopped after {interrupted.finished} of {interrupted.asked} runs; they are kept, and the same"
            " command resumes"
        )
        raise


def _list(figures: "Sequence[Figure]", *, as_json: bool) -> None:
    if as_json:
        show_json({figure.id: figure.heading for figure in figures})
        return
    from rich.table import Table

    table = Table("name", "", show_header=False, box=None, padding=(0, 2))
    for figure in figures:
        table.add_row(figure.id, figure.heading)
    show(table)


def _show(done: "Sequence[Reproduced]") -> None:
    from rich.table import Table

    from airpath_papers.report import other_readings

    beside = any(judgement.beside for one in done for judgement in one.judgements)
    readings = any(one.figure.readings for one in done)
    head = ("figure", "claim", "expected", "measured", "n", "verdict")
    more = (*(("other readings",) if readings else ()), *(("simulated",) if beside else ()))
    table = Table(*head, *more, box=None, padding=(0, 1))
    for one in done:
        for judgement in one.judgements:
            cells: list[Any] = [
                one.figure.id,
                judgement.claim.name,
                str(judgement.claim.rule),
                str(judgement.headline),
                str(judgement.headline.n),
                _verdict(judgement),
                *((other_readings(judgement),) if readings else ()),
                *(str(sample) for sample in list(judgement.beside.values())[:1]),
            ]
            table.add_row(*cells)
    show(table)
    _show_counts(done)
    for one in done:
        for text in one.drawn.invalid:
            tell(f"{one.figure.id}: {text}")


def _show_counts(done: "Sequence[Reproduced]") -> None:
    """Show the verdicts on sentences, by paper and reading."""
    from rich.table import Table

    from airpath_papers.claim import Verdict
    from airpath_papers.report import count_rows
    from airpath_papers.sentences import count_sentences

    head = ("paper", "reading", "sentences", *(verdict.value for verdict in Verdict))
    table = Table(*head, box=None, padding=(0, 1))
    for one in count_sentences(done):
        for row in count_rows(one):
            table.add_row(*row)
    show(table)


def _verdict(judgement: "Judgement") -> str:
    """Return the verdict; if it holds only under another choice, with the first such choice and its number.

    The number in the table is that of the headline, which does not agree in that case.
    """
    from airpath_papers.claim import Verdict

    if judgement.verdict is not Verdict.IN_PART:
        return judgement.verdict.value
    choice = next(choice for choice in judgement.decisive if choice in judgement.agreeing)
    return f"{judgement.verdict.value}:\n{judgement.samples[choice]} under “{choice}”"

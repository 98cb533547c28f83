"""Reproducing figures: do the missing runs, draw, judge, and write report and verdicts."""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from airpath.errors import OutputError
from airpath.papers.claim import Judgement, judge
from airpath.papers.figure import Figure
from airpath.papers.report import report_html
from airpath.papers.store import RunStore
from airpath.papers.work import do_runs, missing_runs, runs_of
from airpath.plots import render
from airpath.statistics import TextTable


@dataclass(frozen=True)
class Reproduced:
    """One figure with what came of it."""

    figure: Figure
    """The figure."""
    judgements: tuple[Judgement, ...]
    """Its claims, judged."""
    tables: tuple[TextTable, ...]
    """Its further tables."""
    svg: bytes | None = field(repr=False)
    """Its picture, if it has one."""
    png: bytes | None = field(repr=False)
    """The same."""


def reproduce(
    figures: Sequence[Figure],
    out: Path,
    *,
    repetitions: int | None,
    workers: int,
    on_progress: Callable[[float], None],
    on_start: Callable[[int], None] = lambda _missing: None,
) -> list[Reproduced]:
    """Reproduce figures.

    Finished runs are kept under `out`; what is there already is not run again. Writes `report.html`,
    `verdicts.json` and the pictures.

    Parameters
    ----------
    figures
        Which.
    out
        The directory.
    repetitions
        How many runs of each experiment; what the figure says when `None`.
    workers
        How many runs at the same time.
    on_progress
        Called with the share of the missing runs that is done, 0 to 1.
    on_start
        Called with the number of missing runs before the first.

    Raises
    ------
    Interrupted
        On Ctrl-C, after the finished runs were kept.
    OutputError
        If the results cannot be written.
    """
    figures = [_repeated(figure, repetitions) for figure in figures]
    store = RunStore(out / "runs")
    jobs = missing_runs([one for figure in figures for one in figure.all_experiments()], store)
    on_start(len(jobs))
    try:
        out.mkdir(parents=True, exist_ok=True)
        do_runs(jobs, store, workers, on_progress)
        done = [_reproduced(figure, store) for figure in figures]
        _write(done, out)
    except OSError as error:
        raise OutputError(f"cannot write to {out}: {error.strerror or error}") from error
    return done


def verdicts(done: Sequence[Reproduced]) -> list[dict[str, Any]]:
    """Return what `verdicts.json` holds: one entry for each claim, numbers of the headline choice.

    A number that does not exist (an interval of a single run) is null.
    """
    return [
        {
            "paper": one.figure.paper,
            "figure": one.figure.name,
            "claim": judgement.claim.statement,
            "expected": expected(judgement),
            "measured": _number(judgement.headline.mean),
            "ci_low": _number(judgement.headline.interval[0]),
            "ci_high": _number(judgement.headline.interval[1]),
            "n": judgement.headline.n,
            "verdict": judgement.verdict.value,
            "note": judgement.note,
        }
        for one in done
        for judgement in one.judgements
    ]


def expected(judgement: Judgement) -> str:
    """Return what the paper's statement means as a number, with what is measured."""
    claim = judgement.claim
    return f"{claim.measured}: {claim.rule}{' ' + claim.unit if claim.unit else ''}"


def _repeated(figure: Figure, repetitions: int | None) -> Figure:
    experiments = {
        choice: {label: one.repeated(repetitions) for label, one in by_label.items()}
        for choice, by_label in figure.experiments.items()
    }
    return replace(figure, experiments=experiments)


def _reproduced(figure: Figure, store: RunStore) -> Reproduced:
    runs = runs_of(figure, store)
    by_choice = {choice: runs.of(choice) for choice in runs.choices}
    picture = None if figure.draw is None else figure.draw(runs)
    return Reproduced(
        figure=figure,
        judgements=tuple(judge(claim, by_choice) for claim in figure.claims),
        tables=() if figure.tables is None else tuple(figure.tables(runs)),
        svg=None if picture is None else render(picture, "svg"),
        png=None if picture is None else render(picture, "png"),
    )


def _write(done: Sequence[Reproduced], out: Path) -> None:
    pictures = out / "figures"
    pictures.mkdir(exist_ok=True)
    for one in done:
        stem = one.figure.id.replace("/", "-")
        for kind, content in (("svg", one.svg), ("png", one.png)):
            if content is not None:
                (pictures / f"{stem}.{kind}").write_bytes(content)
    text = json.dumps(verdicts(done), indent=1, ensure_ascii=False, allow_nan=False)
    (out / "verdicts.json").write_text(text + "\n", encoding="utf-8")
    (out / "report.html").write_text(report_html(done), encoding="utf-8")


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None

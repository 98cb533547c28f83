"""Reproducing figures: do the missing runs, draw, judge, and write report and verdicts."""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from airpath.durable import place_of, write_whole
from airpath.errors import OutputError
from airpath.lock import locked
from airpath.processes import prepare
from airpath.statistics import TextTable
from airpath_papers.claim import Judgement
from airpath_papers.drawn import Drawn, draw_all
from airpath_papers.figure import Figure
from airpath_papers.kept_run import PRELOADED
from airpath_papers.real_time import do_real_runs, real_seconds
from airpath_papers.report import report_html
from airpath_papers.sample import Sample
from airpath_papers.store import RunStore
from airpath_papers.work import do_runs, missing_runs


@dataclass(frozen=True)
class Reproduced:
    """One figure with what came of it."""

    figure: Figure
    """The figure."""
    drawn: Drawn
    """What was made of its runs."""

    @property
    def judgements(self) -> tuple[Judgement, ...]:
        """Its claims, judged."""
        return tuple(map(Judgement, self.figure.claims, self.drawn.samples))

    @property
    def tables(self) -> tuple[TextTable, ...]:
        """Its further tables."""
        return self.drawn.tables

    @property
    def svg(self) -> bytes | None:
        """Its picture, if it has one."""
        return self.drawn.svg

    @property
    def png(self) -> bytes | None:
        """The same."""
        return self.drawn.png


def reproduce(
    figures: Sequence[Figure],
    out: Path,
    *,
    repetitions: int | None,
    workers: int,
    on_progress: Callable[[float], None],
    on_start: Callable[[int], None] = lambda _missing: None,
    on_real: Callable[[int, float], None] = lambda _missing, _seconds: None,
    on_invalid: Callable[[str], None] = lambda _text: None,
) -> list[Reproduced]:
    """Reproduce figures.

    Finished runs are kept under `out`; what is there already is not run again. Writes `report.html`,
    `verdicts.json`, `costs.json` and the pictures.

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
    on_real
        Called with the number of missing runs that go by the real clock, and the seconds that they take,
        before the first of them.
    on_invalid
        Called with a sentence about each run by the real clock that is not valid.

    Raises
    ------
    Interrupted
        On Ctrl-C, after the finished runs were kept.
    OutputError
        If the results cannot be written, or another process reproduces there.
    """
    prepare(PRELOADED)  # workers load their modules while this process looks what is missing
    repeated = [figure.repeated(repetitions) for figure in figures]
    store = RunStore(out / "runs")
    refusal = f"another process reproduces in {out}; wait for it, or choose another directory with --out"
    try:
        with locked(store.folder, refusal):
            _remove_unfinished(store, out)
            missing = missing_runs([one for figure in repeated for one in figure.all_experiments()], store)
            on_start(len(missing))
            real = [run for run in missing if run.experiment.world != "sim"]
            simulated = [run for run in missing if run.experiment.world == "sim"]
            do_runs(simulated, store, workers, (lambda _share: None) if real else on_progress)
            if real:  # when nothing else runs: the processors are theirs
                on_real(len(real), real_seconds(real))
                do_real_runs(real, store, on_progress, on_invalid)
            drawn = draw_all(figures, repetitions, store, workers)
            done = [Reproduced(*one) for one in zip(repeated, drawn, strict=True)]
            _write(done, out)
    except OSError as error:
        raise OutputError(f"cannot write to {out}: {error.strerror or error}") from error
    return done


def verdicts(done: Sequence[Reproduced]) -> list[dict[str, Any]]:
    """Return what `verdicts.json` holds: one entry for each claim, numbers of the headline choice.

    `choices` has the same of every choice that counts, the headline first. A number that does not exist (an
    interval of a single run) is null.
    """
    return [
        {
            "paper": one.figure.paper,
            "figure": one.figure.name,
            "claim": judgement.claim.statement,
            "expected": expected(judgement),
            **_numbers(judgement.headline),
            "verdict": judgement.verdict.value,
            "note": judgement.note,
            "choices": [
                {"choice": choice, **_numbers(measured), "verdict": judgement.verdict_under(choice).value}
                for choice, measured in judgement.judged.items()
            ],
            **_beside(judgement),
        }
        for one in done
        for judgement in one.judgements
    ]


def _numbers(measured: Sample) -> dict[str, Any]:
    """Return a number with its interval and how many runs it is of."""
    low, high = measured.interval
    return {
        "measured": _number(measured.mean),
        "ci_low": _number(low),
        "ci_high": _number(high),
        "n": measured.n,
    }


def _beside(judgement: Judgement) -> dict[str, Any]:
    """Return the numbers beside those that count; nothing where there are none."""
    numbers = {choice: _number(sample.mean) for choice, sample in judgement.beside.items()}
    return {"beside": numbers} if numbers else {}


def expected(judgement: Judgement) -> str:
    """Return what the paper's statement means as a number, with what is measured."""
    claim = judgement.claim
    return f"{claim.measured}: {claim.rule}{' ' + claim.unit if claim.unit else ''}"


def costs(done: Sequence[Reproduced]) -> list[dict[str, Any]]:
    """Return what `costs.json` holds: for each figure its runs and their processor time.

    `cpu_s` is what all of its runs took, `new_cpu_s` what those took that no figure before it has: the sum
    over the figures is the whole.
    """
    seen: set[tuple[str, int]] = set()
    rows = []
    for one in done:
        mine = {
            (experiment.key(), experiment.seed + repetition)
            for experiment in one.figure.all_experiments()
            for repetition in range(experiment.repetitions)
        }
        rows.append(
            {
                "figure": one.figure.id,
                "runs": len(mine),
                "new_runs": len(mine - seen),
                "cpu_s": round(sum(one.drawn.cpu_s_of_runs[run] for run in mine), 3),
                "new_cpu_s": round(sum(one.drawn.cpu_s_of_runs[run] for run in mine - seen), 3),
                "drawing_cpu_s": round(one.drawn.cpu_s, 3),
            }
        )
        seen |= mine
    return rows


def _remove_unfinished(store: RunStore, out: Path) -> None:
    """Remove what a process that was killed had not finished: of runs, pictures, report and numbers."""
    store.remove_unfinished()
    for file in (*out.glob("*.*.*"), *(out / "figures").glob("*.*.*")):
        if (place_of(file.name) or "").endswith((".html", ".json", ".svg", ".png")):
            file.unlink(missing_ok=True)


def _write(done: Sequence[Reproduced], out: Path) -> None:
    pictures = out / "figures"
    pictures.mkdir(exist_ok=True)
    for one in done:
        stem = one.figure.id.replace("/", "-")
        for kind, content in (("svg", one.svg), ("png", one.png)):
            if content is not None:
                write_whole(pictures / f"{stem}.{kind}", content)
    text = json.dumps(verdicts(done), indent=1, ensure_ascii=False, allow_nan=False)
    write_whole(out / "verdicts.json", f"{text}\n".encode())
    write_whole(out / "costs.json", f"{json.dumps(costs(done), indent=1)}\n".encode())
    write_whole(out / "report.html", report_html(done).encode())


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None

"""Reproducing figures: execute the missing runs, plot, evaluate, and write report and verdicts."""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from airpath._os.durable import place_of, write_whole
from airpath._os.lock import locked
from airpath._os.processes import prepare
from airpath.errors import OutputError
from airpath.statistics import TextTable
from airpath_papers.claim import Judgement
from airpath_papers.drawn import Drawn, draw_all
from airpath_papers.figure import Figure
from airpath_papers.kept_run import PRELOADED
from airpath_papers.real_time import do_real_runs, real_seconds
from airpath_papers.report import report_html
from airpath_papers.sample import Sample
from airpath_papers.sentences import count_sentences, written
from airpath_papers.store import RunStore
from airpath_papers.work import do_runs, missing_runs


@dataclass(frozen=True)
class Reproduced:
    """One reproduced figure."""

    figure: Figure
    """The figure."""
    drawn: Drawn
    """The output derived from its runs."""

    @property
    def judgements(self) -> tuple[Judgement, ...]:
        """Its evaluated claims."""
        return tuple(
            Judgement(claim, samples, self.figure.readings)
            for claim, samples in zip(self.figure.claims, self.drawn.samples, strict=True)
        )

    @property
    def tables(self) -> tuple[TextTable, ...]:
        """Its additional tables."""
        return self.drawn.tables

    @property
    def svg(self) -> bytes | None:
        """Its plot as SVG, if it has one."""
        return self.drawn.svg

    @property
    def png(self) -> bytes | None:
        """Its plot as PNG, if it has one."""
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

    Finished runs are stored under `out` and not repeated. Writes `report.html`, `verdicts.json`,
    `counts.json`, `costs.json` and the plots.

    Parameters
    ----------
    figures
        The figures.
    out
        The directory.
    repetitions
        Number of runs of each experiment; that of the figure if `None`.
    workers
        Number of simultaneous runs.
    on_progress
        Called with the finished share of the missing runs, 0 to 1.
    on_start
        Called with the number of missing runs before the first.
    on_real
        Called with the number of missing runs in real time, and their duration in seconds, before the first
        of them.
    on_invalid
        Called with a sentence about each invalid run in real time.

    Raises
    ------
    Interrupted
        On Ctrl-C, after the finished runs were stored.
    OutputError
        If the results cannot be written, or another process uses the directory.
    """
    prepare(PRELOADED)  # workers import modules while this process searches for missing runs
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
            if real:  # while nothing else runs, so that they have the processors to themselves
                on_real(len(real), real_seconds(real))
                do_real_runs(real, store, on_progress, on_invalid)
            drawn = draw_all(figures, repetitions, store, workers)
            done = [Reproduced(*one) for one in zip(repeated, drawn, strict=True)]
            _write(done, out)
    except OSError as error:
        raise OutputError(f"cannot write to {out}: {error.strerror or error}") from error
    return done


def verdicts(done: Sequence[Reproduced]) -> list[dict[str, Any]]:
    """Return the contents of `verdicts.json`: one entry for each claim, numbers of the headline choice.

    `choices` contains the same for every choice that affects a verdict, headline first, and `readings` the
    verdict under each reading of the paper, headline first; it is empty if the figure has no readings.
    Claims of a figure with the same `sentence` are parts of one sentence. A missing number (such as the
    interval of a single run) is null.
    """
    return [
        {
            "paper": one.figure.paper,
            "figure": one.figure.name,
            "sentence": one.figure.sentence_of(judgement.claim.name),
            "claim": judgement.claim.statement,
            "expected": expected(judgement),
            **_numbers(judgement.headline),
            "verdict": judgement.verdict.value,
            "note": judgement.note,
            "readings": {reading: verdict.value for reading, verdict in judgement.by_reading.items()},
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
    """Return a number with its interval and its number of runs."""
    low, high = measured.interval
    return {
        "measured": _number(measured.mean),
        "ci_low": _number(low),
        "ci_high": _number(high),
        "n": measured.n,
    }


def _beside(judgement: Judgement) -> dict[str, Any]:
    """Return the numbers for comparison; empty without any."""
    numbers = {choice: _number(sample.mean) for choice, sample in judgement.beside.items()}
    return {"beside": numbers} if numbers else {}


def expected(judgement: Judgement) -> str:
    """Return the rule as text, with the description of the measured number."""
    claim = judgement.claim
    return f"{claim.measured}: {claim.rule}{' ' + claim.unit if claim.unit else ''}"


def costs(done: Sequence[Reproduced]) -> list[dict[str, Any]]:
    """Return the contents of `costs.json`: for each figure its runs and their processor time.

    `cpu_s` is the time of all of its runs, `new_cpu_s` that of the runs that no earlier figure has: the sum
    over the figures is the total.
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
    """Remove unfinished files of a killed process: runs, plots, report and numbers."""
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
    found = count_sentences(done)
    write_whole(out / "counts.json", f"{json.dumps(written(found), indent=1, ensure_ascii=False)}\n".encode())
    write_whole(out / "costs.json", f"{json.dumps(costs(done), indent=1)}\n".encode())
    write_whole(out / "report.html", report_html(done).encode())


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None

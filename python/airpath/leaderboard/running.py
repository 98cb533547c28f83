"""Scoring the entries of a leaderboard: each case is run with each entry, and the values are kept."""

import hashlib
import json
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from airpath._os.durable import write_whole
from airpath._os.progress import progress_bar, progress_lines
from airpath.errors import OutputError
from airpath.leaderboard.board import Board, Case
from airpath.leaderboard.scores import FORMAT, Scores
from airpath.metrics import OWN_ESTIMATOR
from airpath.results import RunResult
from airpath.results.origin import origin_of_this_process
from airpath.results.provenance import environment, plan_text
from airpath.results.results import ESTIMATOR_ERRORS
from airpath.runner import Interrupted, RunsFailed, jobs_of, run_jobs
from airpath.sweeps.task import version

FILE: Final = "leaderboard.json"
"""The file of scores, which is equal on every machine."""
PROVENANCE: Final = "provenance.json"
"""The file with date, machine and versions."""
_OF_ESTIMATOR: Final = "bandwidth_estimate_"
"""Beginning of the metrics of ACK-rate estimators; the rest is a column of the table `estimator_errors`."""


class ScoringInterrupted(KeyboardInterrupt):
    """The scoring was interrupted (Ctrl-C); what was finished is kept."""


def score(
    board: Board,
    out: Path,
    *,
    jobs: int | None = None,
    progress: bool | None = None,
    isolate: bool = False,
    on_failure: Callable[[str], None] = lambda _: None,
    on_line: Callable[[str], None] = lambda _: None,
) -> Scores:
    """Run every case with every entry, and keep the values in a directory.

    Values that the directory already contains are not computed again, and those of other entries stay.

    Parameters
    ----------
    board
        The leaderboard.
    out
        The directory. Scores of another leaderboard or version in it are replaced.
    jobs, progress, isolate
        As for `airpath.run`.
    on_failure
        Called with the text of each failure of code of the user; the entry then has no values in that case.
    on_line
        Called with a line a minute if standard error is not a terminal.

    Raises
    ------
    OutputError
        If the directory cannot be written.
    ScoringInterrupted
        On Ctrl-C.
    """
    continues = can_continue(board, out) and (out / FILE).exists()
    scores = Scores.read(out / FILE) if continues else Scores(board.tables)
    total, done = len(board.cases) * len(board.entries), 0
    _write(out / PROVENANCE, json.dumps(_provenance(board), indent=2).encode())
    listed = {entry.label for entry in board.document.entries}
    scores.added.update({name: text for name, text in board.entries.items() if name not in listed})
    text = f"{total} pairs of case and entry"
    with (
        progress_bar(text, progress) as on_bar,
        progress_lines(progress, lambda: f"{done} of {text}", on_line) as on_minute,
    ):

        def show(share: float) -> None:
            on_bar((done + share) / total)
            on_minute((done + share) / total)

        for case in board.cases:
            for entry in board.entries:
                digest = _digest(case, entry, board)
                if not scores.has(case.name, entry, digest):
                    try:
                        values = _measured(board, case, entry, jobs, show, isolate)
                    except RunsFailed as failed:
                        on_failure(f"{case.name}: {failed.failures[0]}")
                        values = {}
                    except Interrupted:
                        raise ScoringInterrupted(f"interrupted after {done} of {text}") from None
                    scores.put(case.name, entry, digest, values)
                    _write(out / FILE, scores.to_bytes())
                done += 1
                show(0.0)
    return scores


def can_continue(board: Board, out: Path) -> bool:
    """Return whether a directory has scores of this leaderboard by this version of airpath."""
    try:
        facts = json.loads((out / PROVENANCE).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(facts, dict) and facts.get("sha256") == _identity(board)


def board_of(scores: Scores) -> Board:
    """Return the leaderboard of scores, with all their entries and cases, to score it again.

    Recorded traces are read from the folder that the variable `AIRPATH_TRACES` names.
    """
    traces = os.environ.get("AIRPATH_TRACES")
    return Board.from_dict(
        scores.board,
        list(scores.added.values()),
        traces=None if traces is None else Path(traces),
        only=scores.cases,
    )


def differences(scores: Scores, again: Scores) -> list[str]:
    """Return the pairs of case and entry whose values differ, among the cases that were repeated."""
    return [
        f"{case}, {entry}"
        for case in again.cases
        for entry in scores.entries
        if scores.kept.get(case, {}).get(entry) != again.kept[case].get(entry)
    ]


def _provenance(board: Board) -> dict[str, Any]:
    return {"format": FORMAT, **environment(origin_of_this_process()), "sha256": _identity(board)}


def _identity(board: Board) -> dict[str, str]:
    """Return the digests that are equal if values can stand on the same leaderboard."""
    return {"board": board.sha256, "computed_by": version()}


def _digest(case: Case, entry: str, board: Board) -> str:
    """Return a digest of all that the values of an entry depend on, except the version of airpath."""
    scenario = case.scenarios[entry]
    found = hashlib.sha256(plan_text(scenario.plan()).encode())
    found.update(repr((list(board.seeds), board.metrics)).encode())
    files = {**scenario.inputs, **{str(path): content for path, content in scenario.code.items()}}
    # Without their names: files may be elsewhere on another machine.
    for digest in sorted(hashlib.sha256(content).hexdigest() for content in files.values()):
        found.update(digest.encode())
    return found.hexdigest()


def _measured(
    board: Board,
    case: Case,
    entry: str,
    jobs: int | None,
    on_progress: Callable[[float], None],
    isolate: bool,
) -> dict[str, list[float | None]]:
    """Return the value of each seed, by metric; `None` if a run has none."""
    runs = run_jobs(
        jobs_of(entry, case.scenarios[entry], None, None), jobs, on_progress, isolate=isolate
    ).runs
    value = _of_estimator if board.document.kind == "estimators" else _of_run
    return {metric: [_known(value(run, metric)) for run in runs] for metric in board.metrics}


def _of_run(run: RunResult, metric: str) -> float:
    return run.metrics[metric]


def _of_estimator(run: RunResult, metric: str) -> float:
    """Return a metric of the estimator, as a mean over the flows."""
    if not metric.startswith(_OF_ESTIMATOR):
        return run.metrics[metric]
    rows = run.table(ESTIMATOR_ERRORS).to_pylist()
    column = metric.removeprefix(_OF_ESTIMATOR)
    found = [row[column] for row in rows if row["estimator"] != OWN_ESTIMATOR]
    return sum(found) / len(found) if found else math.nan


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _write(file: Path, content: bytes) -> None:
    try:
        write_whole(file, content)
    except OSError as error:
        raise OutputError(f"cannot write {file}: {error.strerror or error}") from None

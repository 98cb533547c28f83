"""`airpath rerun`."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from airpath._backends import REAL_TIME
from airpath.cli.output import (
    AllowCodeOption,
    ForceOption,
    JobsOption,
    JsonOption,
    NoReportOption,
    OutOption,
    WorldChoice,
    answers,
    enter_world,
    tell,
)

if TYPE_CHECKING:
    from airpath.results import Results

HELP = """\
Scenario, seeds, repetitions, schemes and backends are those of the results. Reports every change since then:
the version of airpath, its commit, the machine, or a trace file.

Exit codes: 0 the tables are identical (or the runs are in real time, which are never identical), 1 they
differ, 2 an error.

Examples:

    airpath rerun out/lte-download

    airpath rerun out/lte-download --out again --json | jq .changed
"""

DIFFERENT = 1
LEADERBOARD = "leaderboard.json"
"""The file of scores, in the directory of a leaderboard (`airpath.leaderboard.running`)."""


@answers
def rerun(
    results: Annotated[
        Path, typer.Argument(help="Results directory of `run`, `compare`, `gap` or `leaderboard`.")
    ],
    out: OutOption = None,
    force: ForceOption = False,
    no_report: NoReportOption = False,
    _allow_code: AllowCodeOption = False,
    jobs: JobsOption = None,
    as_json: JsonOption = False,
) -> int:
    """Run results again."""
    if (results / LEADERBOARD).is_file():
        return _rerun_leaderboard(results, out, force=force, jobs=jobs, as_json=as_json)
    _enter_world_of(results)
    from airpath._os.progress import progress_bar
    from airpath.cli.output import show, show_json
    from airpath.cli.place import claim
    from airpath.cli.work import Output, keep_finished, write_results
    from airpath.errors import UsageError
    from airpath.rerun import compare_tables, differing, load_kept
    from airpath.results import summary_json, validity_json
    from airpath.results.origin import origin_of_this_process
    from airpath.results.provenance import environment
    from airpath.runner import Interrupted, RunsFailed

    _refuse_other_results(results)
    kept = load_kept(results)
    for remark in kept.code.remarks:
        tell(remark)
    # With any path to them: the results would be replaced, and equal to themselves.
    if out is not None and out.resolve() == results.resolve():
        raise UsageError(
            f"out: found {out}, which is the directory of the results; accepted: another directory"
        )
    out = claim(out, results.resolve().with_name(f"{results.resolve().name}-rerun"), force=force)
    output = Output(out, jobs, as_json, report=not no_report)
    changed = kept.changes(environment(origin_of_this_process()))
    count = len(kept.jobs)
    try:
        with progress_bar(f"{count} run{'s' if count > 1 else ''}", None) as on_progress:
            done = kept.run(jobs, on_progress)
    except (Interrupted, RunsFailed) as stopped:
        keep_finished(stopped, output, kept.scenarios, kept.scenario_text)
        raise
    write_results(done, output, kept.scenarios, kept.scenario_text)
    tables = compare_tables(results, out)
    others = differing(tables)
    if as_json:
        show_json(
            {
                "same_values": None if kept.in_real_time else not others,
                "tables": tables,
                "changed": [{"what": one.what, "then": one.first, "now": one.second} for one in changed],
                **summary_json(done.summary),
                **validity_json(done),
                "out": str(out),
            }
        )
    else:
        for one in changed:
            show(f"{one.what}: {one.first or 'not known'} then, {one.second or 'not known'} now")
        show(_told(tables, others, in_real_time=kept.in_real_time, changed=bool(changed)))
        for line in _stopping(done):
            show(line)
        output.show_places()
    return DIFFERENT if others and not kept.in_real_time else 0


def _rerun_leaderboard(
    results: Path, out: Path | None, *, force: bool, jobs: int | None, as_json: bool
) -> int:
    """Score the entries of a leaderboard again, and compare all values."""
    from airpath.cli.leaderboard import tell_skipped
    from airpath.cli.output import show, show_json
    from airpath.cli.place import claim
    from airpath.leaderboard import Scores, score
    from airpath.leaderboard.running import board_of, differences

    kept = Scores.read(results / LEADERBOARD)
    board = board_of(kept)
    tell_skipped(board)
    folder = claim(out, results.resolve().with_name(f"{results.resolve().name}-rerun"), force=force)
    again = score(board, folder, jobs=jobs, on_failure=tell, on_line=tell)
    others = differences(kept, again)
    count = sum(len(entries) for entries in again.kept.values())
    if as_json:
        show_json({"same_values": not others, "pairs": count, "differ": others, "out": str(folder)})
        return DIFFERENT if others else 0
    if others:
        show(f"{len(others)} of {count} pairs of case and entry differ: {', '.join(others)}")
        return DIFFERENT
    equal = again.to_bytes() == (results / LEADERBOARD).read_bytes()
    ending = "; the files are byte-equal" if equal else ""
    show(f"all values of {count} pairs of case and entry are the same{ending}")
    return 0


def _told(tables: Mapping[str, str], others: Sequence[str], *, in_real_time: bool, changed: bool) -> str:
    """Return how the tables compare, in words."""
    counts = Counter(tables.values())
    if in_real_time:
        return "runs in real time are never identical; `airpath diff` shows how much they differ"
    if counts["equal"] == len(tables):
        return f"all {len(tables)} tables are byte-equal"
    if not others:
        return f"all values are the same; {counts['same values']} tables differ in their bytes only"
    why = "" if changed else "; no change of version, machine or input is known"
    names = ", ".join(others)
    return f"{len(others)} of {len(tables)} tables differ ({names}){why}; `airpath diff` shows by how much"


def _stopping(done: "Results") -> list[str]:
    """Return lines on the precision reached, and whether the number of repetitions would change now."""
    from airpath.precision.reached import judge, stops_after
    from airpath.views.precision import precision_lines

    if done.until is None:
        return []
    reached = judge(done.summary, done.until)
    lines = precision_lines(reached)
    now = stops_after(done.summary, done.until)
    if now != reached.repetitions and reached.end != "interrupted":
        lines.append(f"the repeated runs would have stopped after {now} repetitions")
    return lines


def _enter_world_of(results: Path) -> None:
    """Acquire the privileges of runs in real time before heavy imports."""
    facts = _facts(results)
    runs = facts.get("runs")
    worlds = [run.get("world") for run in runs if isinstance(run, dict)] if isinstance(runs, list) else []
    if real := [world for world in worlds if world in REAL_TIME]:
        tell("the runs are in real time, one after another")
        enter_world(WorldChoice(real[0]))


def _refuse_other_results(results: Path) -> None:
    """Refuse results of other kinds, with a note on the command that runs them again.

    Raises
    ------
    UsageError
        If the directory contains the data set of a sweep, another kind of results, or nothing.
    """
    from airpath.errors import UsageError
    from airpath.results.provenance import FORMAT

    if not results.is_dir():
        raise UsageError(f"{results}: does not exist; accepted: a results directory")
    kind = _facts(results).get("format")
    if kind == FORMAT:
        return
    if isinstance(kind, str) and kind.startswith("airpath sweep "):
        raise UsageError(
            f"{results} contains a sweep; repeat it by `airpath sweep` with its file and another --out;"
            " accepted: results of `run`, `compare` or `gap`"
        )
    found = f"what is kept as “{kind}”" if kind else "no provenance.json of airpath"
    raise UsageError(f"{results}: found {found}; accepted: results of `run`, `compare` or `gap`")


def _facts(results: Path) -> dict[str, Any]:
    """Return the content of ``provenance.json``; nothing if it cannot be read."""
    try:
        facts = json.loads((results / "provenance.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return facts if isinstance(facts, dict) else {}

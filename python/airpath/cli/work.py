"""Running scenarios on behalf of a command: check, run, write, print."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from airpath.cli.output import show, show_json, tell
from airpath.damage import damage_of_plan
from airpath.durable import write_whole
from airpath.errors import OutputError
from airpath.origin import origin_of_this_process
from airpath.precision.rule import PrecisionRule
from airpath.results import Results, RunResult, summary_json, summary_table, validity_json, write
from airpath.results.directory import is_results
from airpath.results.qlog import qlog_files
from airpath.runner import Interrupted, repeated, run_all, workers
from airpath.scenario import Scenario
from airpath.world_names import IN_REAL_TIME, WORLDS, World
from airpath.worlds import validity_text

if TYPE_CHECKING:
    from rich.table import Table

    from airpath.report.html import Section


def run_and_write(
    scenarios: Mapping[str, Scenario],
    out: Path,
    scenario_text: Callable[[Mapping[str, Scenario]], str],
    *,
    jobs: int | None,
    as_json: bool,
    world: World = "sim",
    logs: Path | None = None,
    until: PrecisionRule | None = None,
    flent: Path | None = None,
    opening: str = "",
) -> None:
    """Run scenarios, write the results, print their summary and where they are.

    After an interrupt the finished runs are written.

    Parameters
    ----------
    scenarios
        Scenario of each scheme.
    out
        Where to write the results.
    scenario_text
        Gives the scenario as its author wrote it, of the scenarios with the repetitions that there were.
    jobs
        How many runs at the same time.
    as_json
        Print JSON.
    world
        Where to run them.
    logs
        A folder for the logs of flows (qlog) that the runs bring, besides that of the results.
    until
        Add repetitions until means or differences are known well enough.
    flent
        A folder for a file of Flent of each run.
    opening
        A line for people that is printed before the runs.

    Raises
    ------
    OutputError
        If the results cannot be written; found out before the work where possible.
    Interrupted
        On Ctrl-C, after the finished runs were written.
    """
    refuse_unwritable(out)
    if opening and not as_json:
        show(opening)
    try:
        results = run_all(scenarios, until=until, jobs=jobs, world=world)
    except Interrupted as interrupted:
        kept = _as_run(scenarios, interrupted.asked, until)
        keep_finished(interrupted, out, kept, scenario_text(kept), jobs=jobs, as_json=as_json)
        raise
    kept = _as_run(scenarios, len(results.runs), until)
    write_results(results, out, kept, scenario_text(kept), jobs=jobs)
    if logs is not None:
        _write_files(qlog_files(results), logs)
    if flent is not None:
        from airpath.results.flent import flent_files

        _write_files(flent_files(results), flent)
    _print(results, out, as_json=as_json, interrupted=False)


def _as_run(
    scenarios: Mapping[str, Scenario], runs: int, until: PrecisionRule | None
) -> Mapping[str, Scenario]:
    """Return the scenarios with as many repetitions as came of a rule."""
    if until is None:
        return scenarios
    return {label: repeated(scenario, runs // len(scenarios)) for label, scenario in scenarios.items()}


def keep_finished(
    interrupted: Interrupted,
    out: Path,
    scenarios: Mapping[str, Scenario],
    scenario_text: str,
    *,
    jobs: int | None,
    as_json: bool,
) -> None:
    """Write and print the runs that were finished before an interrupt, as `run_and_write` does."""
    if not interrupted.results.runs:
        tell("stopped before a run was finished: nothing was written")
        return
    kept = len(interrupted.results.runs)
    tell(f"stopped: keeping the {kept} of {interrupted.asked} runs that were finished")
    write_results(interrupted.results, out, scenarios, scenario_text, jobs=jobs)
    _print(interrupted.results, out, as_json=as_json, interrupted=True)


def write_results(
    results: Results,
    out: Path,
    scenarios: Mapping[str, Scenario],
    scenario_text: str,
    *,
    sections: "Sequence[Section]" = (),
    files: Mapping[str, Any] | None = None,
    standard: bool = True,
    jobs: int | None = None,
) -> None:
    """Write results of these scenarios, run by this process just now, with more sections and JSON files.

    Without `standard` there are the figures of the sections only. As many figures are drawn at the same time
    as `jobs` says; one for each processor if not given.
    """
    inputs = {
        trace.path.name: trace.path.read_bytes()
        for scenario in scenarios.values()
        for trace in scenario.traces
    }
    origin = origin_of_this_process(inputs)
    with Console(stderr=True).status("drawing figures, writing the report"):
        write(
            results,
            out,
            scenario_text=scenario_text,
            origin=origin,
            sections=sections,
            files=files or {},
            standard=standard,
            workers=workers(jobs),
        )


def _write_files(files: Mapping[str, bytes], folder: Path) -> None:
    """Write files to a folder; each is there as a whole or not at all."""
    try:
        for name, content in files.items():
            write_whole(folder / name, content, forced=False)
    except OSError as error:
        raise OutputError(f"cannot write to {folder}: {error.strerror or error}") from None


def refuse_no_folder(folder: Path) -> None:
    """Find out before the work whether files can be written to a folder, which may have to be made.

    Raises
    ------
    OutputError
        If they cannot.
    """
    try:
        if folder.exists() and not folder.is_dir():
            raise OutputError(f"{folder} exists and is not a directory")
        first = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())
    except OSError as error:
        raise OutputError(f"{folder} cannot be read: {error.strerror or error}") from None
    if not first.is_dir() or not os.access(first, os.W_OK | os.X_OK):
        raise OutputError(f"{folder} cannot be written to: {first} is not a writable directory")


def compared_text(scenarios: Mapping[str, Scenario]) -> str:
    """Return the scenario of the first scheme as TOML, with a note on the others."""
    note = (
        f"# One of the compared schemes {', '.join(scenarios)}:"
        " the others have another flows.0.scheme, with the queue and the marks that it needs.\n"
    )
    return note + next(iter(scenarios.values())).to_toml()


def refuse_unwritable(out: Path) -> None:
    """Find out before the work whether the results can be written.

    Raises
    ------
    OutputError
        If they cannot: something else is there, or it is not permitted.
    """
    try:
        if out.exists() and not out.is_dir():
            raise OutputError(f"{out} exists and is not a directory")
        if out.is_dir() and any(out.iterdir()) and not is_results(out):
            raise OutputError(
                f"{out} is not empty and contains no airpath results; choose another directory with --out"
            )
        parent = next(folder for folder in out.absolute().parents if folder.exists())
    except OSError as error:
        raise OutputError(f"{out} cannot be read: {error.strerror or error}") from None
    if not parent.is_dir():
        raise OutputError(f"{out} cannot be made: {parent} is not a directory")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise OutputError(f"{out} cannot be made: {parent} is not writable")


def _print(results: Results, out: Path, *, as_json: bool, interrupted: bool) -> None:
    report = out / "report.html"
    if as_json:
        show_json(
            {
                **summary_json(results.summary),
                "out": str(out),
                "report": str(report),
                "interrupted": interrupted,
                **_precision_json(results),
                **validity_json(results),
            }
        )
        return
    show(summary_table(results.summary))
    for text in _precision_lines(results):
        show(text)
    if (table := _differences_table(results)) is not None:
        show(table)
    for name, text in damage_of_plan(results.runs[0].record.plan).items() if results.runs else ():
        show(f"{name}: {text}")
    for text in dict.fromkeys(text for run in results.runs for text in _departures(run.record.validity)):
        show(text)
    for text in dict.fromkeys(_where(run) for run in results.runs if run.record.world != "sim"):
        show(text)
    show(f"results: {out}\nreport:  {report}")


def _precision_lines(results: Results) -> list[str]:
    """Return how well means are known; nothing of single runs."""
    if not results.is_repeated:
        return []
    from airpath.precision.reached import judge
    from airpath.precision.report import precision_lines

    return precision_lines(judge(results.summary, results.until))


def _precision_json(results: Results) -> dict[str, Any]:
    """Return the same for machines."""
    if not results.is_repeated:
        return {}
    from airpath.precision.reached import judge
    from airpath.precision.report import precision_json

    return {"precision": precision_json(judge(results.summary, results.until))}


def _differences_table(results: Results) -> "Table | None":
    """Return how the first scheme differs from the others; nothing of single runs or a single scheme."""
    if len(results.schemes) < 2:
        return None
    from airpath.report.differences import differences_table

    return differences_table(results.summary)


def _where(run: RunResult) -> str:
    """Say where a run was: in real time each is judged by itself, else those of a scheme are alike."""
    world = run.record.world
    if world not in IN_REAL_TIME:
        return f"{run.record.scheme}: {WORLDS[world]}"
    return f"{run.label}: {WORLDS[world]}; {validity_text(world, run.record.validity)}"


def _departures(validity: Mapping[str, Any] | None) -> Sequence[str]:
    """Return what the kernel decided otherwise than the scenario says."""
    return validity.get("departures", ()) if validity else ()

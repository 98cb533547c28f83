"""Running scenarios on behalf of a command: check, run, write, print."""

import os
import webbrowser
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from airpath._backends import BACKENDS, BackendName
from airpath._os.durable import write_whole
from airpath.cli.output import show, show_json, tell
from airpath.errors import OutputError, UsageError
from airpath.metrics.run import measured_span_s
from airpath.plugins.specs import code_name, is_library
from airpath.precision.rule import PrecisionRule
from airpath.results import Results, RunResult, summary_json, summary_table, validity_json, write
from airpath.results.estimators import estimators_json, estimators_table
from airpath.results.origin import origin_of_this_process
from airpath.results.qlog import qlog_files
from airpath.results.significance import significant_differences
from airpath.runner import Interrupted, RunsFailed, repeated, run_all, workers
from airpath.scenario import Scenario
from airpath.scenario.damage import damage_of_plan

if TYPE_CHECKING:
    from airpath.plots import StandardFigure
    from airpath.views.model import Section


@dataclass(frozen=True)
class Output:
    """The output directory of a command, and the kinds of output."""

    folder: Path
    """The directory, claimed by this command (`airpath.cli.place.claim`)."""
    jobs: int | None = None
    """Number of simultaneous runs, and figures; one for each processor if `None`."""
    as_json: bool = False
    """Whether to print JSON."""
    report: bool = True
    """Whether to write ``report.html``."""
    figures: bool = False
    """Whether to write figures as files."""
    opened: bool = False
    """Whether to open the report in a browser."""
    all_metrics: bool = False
    """Whether to print every metric."""
    isolate: bool = False
    """Whether to run code of the user in separate processes."""

    def __post_init__(self) -> None:
        if self.opened and not self.report:
            raise UsageError("--open opens the report, which --no-report leaves out; accepted: one of them")

    @property
    def page(self) -> Path | None:
        """The report, if it is written."""
        return self.folder / "report.html" if self.report else None

    @property
    def facts(self) -> dict[str, str | None]:
        """The paths of the results, for JSON."""
        return {"out": str(self.folder), "report": None if self.page is None else str(self.page)}

    def show_places(self) -> None:
        """Print the paths of the results, and open the report if requested."""
        show("\n".join([f"results: {self.folder}", *([f"report:  {self.page}"] if self.report else [])]))

    def open(self) -> None:
        """Open the report in a browser, if requested."""
        if self.opened and self.page is not None:
            webbrowser.open(self.page.resolve().as_uri())


def run_and_write(
    scenarios: Mapping[str, Scenario],
    output: Output,
    scenario_text: Callable[[Mapping[str, Scenario]], str],
    *,
    world: BackendName = "sim",
    logs: Path | None = None,
    until: PrecisionRule | None = None,
    flent: Path | None = None,
    opening: str = "",
) -> None:
    """Run scenarios, print their summary, write the results, and print their paths.

    After an interrupt the finished runs are written.

    Parameters
    ----------
    scenarios
        Scenario of each scheme.
    output
        The output directory, and the kinds of output.
    scenario_text
        Returns the scenario as its author wrote it, from the scenarios with their actual repetitions.
    world
        The backend.
    logs
        An additional folder for the logs of flows (qlog) of the runs.
    until
        Rule that adds repetitions until means or differences are known precisely enough.
    flent
        A folder for a Flent file of each run.
    opening
        A line that is printed before the runs, for readers.

    Raises
    ------
    OutputError
        If the results cannot be written.
    Interrupted
        On Ctrl-C, after the finished runs were written.
    """
    try:
        results = run_all(scenarios, until=until, jobs=output.jobs, world=world, isolate=output.isolate)
    except (Interrupted, RunsFailed) as stopped:
        kept = _as_run(scenarios, stopped.asked, until)
        keep_finished(stopped, output, kept, scenario_text(kept))
        raise
    kept = _as_run(scenarios, len(results.runs), until)
    if not output.as_json:
        _print(results, output, opening)
    write_results(results, output, kept, scenario_text(kept))
    if logs is not None:
        _write_files(qlog_files(results), logs)
    if flent is not None:
        from airpath.results.flent import flent_files

        _write_files(flent_files(results), flent)
    _print_places(results, output, interrupted=False)


def _as_run(
    scenarios: Mapping[str, Scenario], runs: int, until: PrecisionRule | None
) -> Mapping[str, Scenario]:
    """Return the scenarios with the number of repetitions that resulted from a rule."""
    if until is None:
        return scenarios
    return {label: repeated(scenario, runs // len(scenarios)) for label, scenario in scenarios.items()}


def keep_finished(
    stopped: Interrupted | RunsFailed,
    output: Output,
    scenarios: Mapping[str, Scenario],
    scenario_text: str,
) -> None:
    """Print and write the finished runs of work that was interrupted, or in which runs failed."""
    tell_finished(stopped)
    if not stopped.results.runs:
        return
    if not output.as_json:
        _print(stopped.results, output)
    write_results(stopped.results, output, scenarios, scenario_text)
    _print_places(stopped.results, output, interrupted=True)


def tell_finished(stopped: Interrupted | RunsFailed) -> None:
    """Print how many runs are kept of work that was interrupted, or in which runs failed.

    The failures before an interrupt are printed here; those of a `RunsFailed` are its text.
    """
    if isinstance(stopped, Interrupted):
        for line in "\n".join(stopped.failures).splitlines():
            tell(line)
    if not stopped.results.runs:
        tell("no run was finished, so nothing was written")
        return
    kept = len(stopped.results.runs)
    stop = "stopped: " if isinstance(stopped, Interrupted) else ""
    tell(f"{stop}keeping the {kept} of {stopped.asked} runs that were finished")


def write_results(
    results: Results,
    output: Output,
    scenarios: Mapping[str, Scenario],
    scenario_text: str,
    *,
    sections: "Callable[[], Sequence[Section]]" = tuple,
    figures: "Callable[[], Sequence[StandardFigure]]" = tuple,
    files: Mapping[str, Any] | None = None,
    standard: bool = True,
) -> None:
    """Write results of these scenarios, run by this process just now, with more JSON files.

    The tables are written first and stay if the report or the figures are interrupted.

    Parameters
    ----------
    results, scenarios, scenario_text
        The runs, and their scenarios.
    output
        The output directory, and the kinds of output.
    sections
        Returns sections of the report of this command.
    figures
        Returns more figures of this command. Called only if figures are written: they take time.
    files
        More files: name and content, written as JSON.
    standard
        Whether the report compares the schemes, and the standard figures are plotted.
    """
    inputs: dict[str, bytes] = {}
    code: dict[str, bytes] = {}
    outside: dict[str, Mapping[str, Any]] = {}
    for scenario in scenarios.values():
        inputs |= scenario.inputs
        code |= {code_name(path): content for path, content in scenario.code.items() if not is_library(path)}
        outside |= scenario.outside
    write(
        results,
        output.folder,
        scenario_text=scenario_text,
        origin=origin_of_this_process(inputs, code, outside),
        files=files or {},
    )
    if output.report:
        from airpath.explorer.writing import write_report

        write_report(results, output.folder, sections=sections(), compared=standard)
    if output.figures:
        _write_figures(results, output, figures(), standard=standard)
    output.open()


def _write_figures(
    results: Results, output: Output, more: "Sequence[StandardFigure]", *, standard: bool
) -> None:
    """Plot figures into the folder ``figures`` of the results."""
    from airpath.plots import save_figures, standard_figures  # here, because matplotlib is slow to import

    with Console(stderr=True).status("drawing figures"):
        drawn = [*(standard_figures(results) if standard else ()), *more]
        try:
            save_figures(drawn, output.folder / "figures", workers(output.jobs))
        except OSError as error:
            raise OutputError(f"cannot write to {output.folder}: {error.strerror or error}") from None


def _write_files(files: Mapping[str, bytes], folder: Path) -> None:
    """Write files to a folder, each completely or not at all."""
    try:
        for name, content in files.items():
            write_whole(folder / name, content, forced=False)
    except OSError as error:
        raise OutputError(f"cannot write to {folder}: {error.strerror or error}") from None


def refuse_no_folder(folder: Path, *, force: bool = False) -> None:
    """Refuse a folder to which files cannot be written, before the work starts; it may not exist yet.

    Without `force` it must be empty.

    Raises
    ------
    OutputError
        If it is refused.
    """
    try:
        if folder.exists() and not folder.is_dir():
            raise OutputError(f"{folder} exists and is not a directory")
        if folder.is_dir() and any(folder.iterdir()) and not force:
            raise OutputError(f"{folder} is not empty; choose another directory, or add to it by --force")
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


def _print(results: Results, output: Output, opening: str = "") -> None:
    """Print the results, for a reader."""
    for text in _measured(results, opening):
        show(text)
    show(summary_table(results.summary, all_metrics=output.all_metrics))
    if (estimators := estimators_table(results, all_metrics=output.all_metrics)) is not None:
        show(estimators)
    for text in [*significant_differences(results.summary), *_precision_lines(results)]:
        show(text)
    for name, text in damage_of_plan(results.runs[0].record.plan).items() if results.runs else ():
        show(f"{name}: {text}")
    for text in dict.fromkeys(text for run in results.runs for text in _departures(run.record.validity)):
        show(text)
    for text in dict.fromkeys(_where(run) for run in results.runs if run.record.world != "sim"):
        show(text)


def _print_places(results: Results, output: Output, *, interrupted: bool) -> None:
    """Print the paths of the results, for a reader; everything for machines."""
    if not output.as_json:
        output.show_places()
        return
    show_json(
        {
            **summary_json(results.summary),
            **estimators_json(results),
            **output.facts,
            "interrupted": interrupted,
            **_precision_json(results),
            **validity_json(results),
        }
    )


def _measured(results: Results, opening: str) -> list[str]:
    """Return the opening, the number of seeds and the measured interval in one line."""
    if not results.runs:
        return []
    start_s, end_s = measured_span_s(results.runs[0].record.plan)
    seeds = len({run.record.seed for run in results.runs})
    measured = f"{seeds} seed{'' if seeds == 1 else 's'}, measured from {start_s:g} s to {end_s:g} s"
    return [f"{opening}, {measured}" if opening else measured]


def _precision_lines(results: Results) -> list[str]:
    """Return the precision of the means; nothing for single runs."""
    if not results.is_repeated:
        return []
    from airpath.precision.reached import judge
    from airpath.views.precision import precision_lines

    return precision_lines(judge(results.summary, results.until))


def _precision_json(results: Results) -> dict[str, Any]:
    """Return the same for machines."""
    if not results.is_repeated:
        return {}
    from airpath.precision.reached import judge
    from airpath.views.precision import precision_json

    return {"precision": precision_json(judge(results.summary, results.until))}


def _where(run: RunResult) -> str:
    """Return the backend of a run in words: each run in real time has its own validity, others are alike."""
    backend = BACKENDS[run.record.world]
    if not backend.real_time:
        return f"{run.record.scheme}: {backend.description}"
    return f"{run.label}: {backend.description}; {backend.validity_text(run.record.validity)}"


def _departures(validity: Mapping[str, Any] | None) -> Sequence[str]:
    """Return the settings of the scenario that the kernel replaced."""
    return validity.get("departures", ()) if validity else ()

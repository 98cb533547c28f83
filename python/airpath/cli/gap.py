"""`airpath gap`."""

import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from airpath.cli.output import (
    AllowCodeOption,
    FiguresOption,
    ForceOption,
    IsolateOption,
    JobsOption,
    JsonOption,
    NoReportOption,
    OpenOption,
    OutOption,
    RepsOption,
    SettingsOption,
    WorldChoice,
    enter_world,
)
from airpath.errors import EmulationError

if TYPE_CHECKING:
    from airpath.gap.compared import Gap
    from airpath.plots import StandardFigure

HELP = """\
Backends: the simulator; quinn (a QUIC stack) over the simulated network; the emulator with the kernel's TCP;
the emulator with airpath's controllers in the kernel; and with its routers as well (Linux, root). A backend
that cannot run here is left out, and the report gives the reason. A module of Linux (linux:tcp_cubic.c) is
simulated with the clock of this kernel, and compared with the kernel's own (kernel:cubic).

Examples:

    airpath gap three-worlds

    airpath gap three-worlds cubic newreno --reps 5

    airpath gap three-worlds linux:tcp_cubic.c --world emulate

    airpath gap my-scenario.toml --world emulate --set duration=20s --json | jq .schemes
"""


def gap(
    scenario: Annotated[
        str, typer.Argument(help="Scenario file, or name of a shipped scenario (`airpath list scenarios`).")
    ],
    schemes: Annotated[
        list[str] | None,
        typer.Argument(
            help="Schemes that all flows use in turn; default: those of the scenario, and vcp-ebe."
        ),
    ] = None,
    world: Annotated[
        list[WorldChoice] | None,
        typer.Option(help="Backend to compare with the simulator; repeatable; default: all."),
    ] = None,
    reps: RepsOption = None,
    settings: SettingsOption = None,
    jobs: JobsOption = None,
    isolate: IsolateOption = False,
    out: OutOption = None,
    force: ForceOption = False,
    no_report: NoReportOption = False,
    figures: FiguresOption = False,
    open_report: OpenOption = False,
    _allow_code: AllowCodeOption = False,
    as_json: JsonOption = False,
) -> None:
    """Compare backends."""
    with suppress(EmulationError):  # a backend that cannot run is left out, with its reason
        enter_world(WorldChoice.EMULATE)
    started = time.perf_counter()
    from airpath._backends import BACKENDS, BackendName
    from airpath.cli.output import show, show_json, tell
    from airpath.cli.place import claim
    from airpath.cli.work import Output, keep_finished, tell_finished, write_results
    from airpath.gap import GapFailed
    from airpath.gap import gap as compare_worlds
    from airpath.gap.report import gap_json, gap_section, gap_tables
    from airpath.plugins.specs import allow
    from airpath.runner import Interrupted
    from airpath.scenario import Scenario, parse_assignment

    changes: dict[str, Any] = dict(parse_assignment(setting) for setting in settings or [])
    allow([*changes.values(), *(schemes or ())])
    chosen = Scenario.load(scenario)
    if changes:
        chosen = chosen.override(changes)
    for remark in chosen.remarks():
        tell(remark)
    output = Output(
        claim(out, Path("out") / f"gap-{chosen.name}", force=force),
        jobs,
        as_json,
        report=not no_report,
        figures=figures,
        opened=open_report,
    )
    worlds: list[BackendName] = [one.value for one in world or WorldChoice]
    scenarios, text = {chosen.name: chosen}, chosen.to_toml()
    stop: GapFailed | None = None
    try:
        done = compare_worlds(
            chosen, schemes or (), worlds=worlds, repetitions=reps, jobs=jobs, isolate=isolate
        )
    except Interrupted as interrupted:
        keep_finished(interrupted, output, scenarios, text)
        raise
    except GapFailed as failed:
        tell_finished(failed)
        if not failed.results.runs:
            raise
        stop, done = failed, failed.gap
    told = gap_json(done)
    for one in done.compared:
        for where, reason in one.missing.items():
            tell(f"{one.scheme} is not compared on backend {where}: {reason}")
        for departure in one.departures:
            tell(f"{one.scheme}: {departure}")
    if not as_json:
        for table in gap_tables(done):
            show(table)
        for run in done.results.runs:
            if not run.record.valid:
                show(f"{run.label} is {BACKENDS[run.record.world].validity_text(run.record.validity)}")
    write_results(
        done.results,
        output,
        done.scenarios,
        text,
        sections=lambda: [gap_section(done)],
        figures=lambda: _figures(done),
        files={"gap.json": told},
    )
    if as_json:
        show_json({**told, **output.facts, "interrupted": stop is not None})
    else:
        output.show_places()
        show(f"elapsed: {time.perf_counter() - started:.0f} s, of which {done.elapsed_s:.0f} s for the runs")
    if stop is not None:
        raise stop


def _figures(done: "Gap") -> "list[StandardFigure]":
    from airpath.gap.pictures import gap_figures  # here, because matplotlib is slow to import

    return gap_figures(done)

"""`airpath gap`."""

import time
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from airpath.cli.output import (
    JobsOption,
    JsonOption,
    OutOption,
    RepsOption,
    SettingsOption,
    WorldChoice,
    enter_world,
)
from airpath.errors import EmulationError

HELP = """Run a scenario in several worlds and say how far they differ.

The worlds are the simulator, quinn (a QUIC stack) over the simulated network, the emulator with the
kernel's TCP, the emulator with our controllers in the kernel, and with our routers there too (Linux, root).
One that is not there is left out, and the report says why.

Examples:

    airpath gap three-worlds

    airpath gap three-worlds cubic newreno --reps 5

    airpath gap my-scenario.toml --world emulate --set duration=20s --json | jq .schemes
"""


def gap(
    scenario: Annotated[str, typer.Argument(help="A scenario file, or the name of a shipped scenario.")],
    schemes: Annotated[
        list[str] | None,
        typer.Argument(
            help="Schemes that all flows take in turn; those of the scenario and vcp-ebe if not given."
        ),
    ] = None,
    world: Annotated[
        list[WorldChoice] | None,
        typer.Option(help="Compare the simulator with this world; can be repeated. All if not given."),
    ] = None,
    reps: RepsOption = None,
    settings: SettingsOption = None,
    jobs: JobsOption = None,
    out: OutOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compare worlds."""
    with suppress(EmulationError):  # a world that is not there is left out, and says why
        enter_world(WorldChoice.EMULATE)
    started = time.perf_counter()
    from airpath.cli.output import show, show_json, tell
    from airpath.cli.work import keep_finished, refuse_unwritable, write_results
    from airpath.gap import gap as compare_worlds
    from airpath.gap.report import gap_json, gap_section, gap_tables
    from airpath.runner import Interrupted
    from airpath.scenario import Scenario, parse_assignment
    from airpath.world_names import World
    from airpath.worlds import validity_text

    changes: dict[str, Any] = dict(parse_assignment(setting) for setting in settings or [])
    chosen = Scenario.load(scenario)
    if changes:
        chosen = chosen.override(changes)
    for remark in chosen.remarks():
        tell(remark)
    out = out or Path("out") / f"gap-{chosen.name}"
    refuse_unwritable(out)
    worlds: list[World] = [one.value for one in world or WorldChoice]
    scenarios, text = {chosen.name: chosen}, chosen.to_toml()
    try:
        done = compare_worlds(chosen, schemes or (), worlds=worlds, repetitions=reps, jobs=jobs)
    except Interrupted as interrupted:
        keep_finished(interrupted, out, scenarios, text, jobs=jobs, as_json=as_json)
        raise
    told = gap_json(done)
    write_results(
        done.results,
        out,
        scenarios,
        text,
        sections=[gap_section(done)],
        files={"gap.json": told},
        jobs=jobs,
    )
    for one in done.compared:
        for where, reason in one.missing.items():
            tell(f"{one.scheme} did not run in world {where}: {reason}")
        for text in one.departures:
            tell(f"{one.scheme}: {text}")
    if as_json:
        show_json({**told, "out": str(out), "report": str(out / "report.html")})
        return
    for table in gap_tables(done):
        show(table)
    for run in done.results.runs:
        if not run.record.valid:
            show(f"{run.label} is {validity_text(run.record.world, run.record.validity)}")
    show(f"results: {out}\nreport:  {out / 'report.html'}")
    show(f"it took {time.perf_counter() - started:.0f} s, the runs {done.elapsed_s:.0f} s of them")

"""`airpath run`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from airpath.cli.output import (
    AllOption,
    AllowCodeOption,
    FiguresOption,
    ForceOption,
    IsolateOption,
    JobsOption,
    JsonOption,
    LimitsOption,
    NoReportOption,
    OpenOption,
    OutOption,
    RepsOption,
    SettingsOption,
    WorldChoice,
    WorldOption,
    enter_world,
    recorded_limits,
    tell,
)

HELP = """\
Examples:

    airpath run lte-download

    airpath run my-link.toml --reps 10 --seed 7

    airpath run lte-download --set duration=20s --set flows.0.scheme=newreno --out newreno

    airpath run two-flows.toml --world emulate

    airpath run two-way --capture bottleneck --json | jq .schemes

    airpath run lte-download --qlog logs

    airpath run lte-download --flent flent
"""


def run(
    scenario: Annotated[
        str, typer.Argument(help="Scenario file, or name of a shipped scenario (`airpath list scenarios`).")
    ],
    seed: Annotated[
        int | None,
        typer.Option(
            help="Seed of the first repetition (repetition k uses seed + k); default: that of the scenario.",
            show_default=False,
        ),
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
    all_metrics: AllOption = False,
    packets: Annotated[
        bool, typer.Option("--packets", help="Record a table row for every data packet.")
    ] = False,
    limits: LimitsOption = False,
    capture: Annotated[
        list[str] | None,
        typer.Option(metavar="LINK", help="Link at which to capture packets (pcapng); repeatable."),
    ] = None,
    qlog: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Folder for a qlog file of each flow, in addition.", show_default=False
        ),
    ] = None,
    flent: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Folder for a Flent file of each run, in addition.", show_default=False
        ),
    ] = None,
    _allow_code: AllowCodeOption = False,
    world: WorldOption = WorldChoice.SIM,
    as_json: JsonOption = False,
) -> None:
    """Run a scenario."""
    enter_world(world)
    from airpath.cli.place import claim
    from airpath.cli.work import Output, refuse_no_folder, run_and_write
    from airpath.plugins.specs import allow
    from airpath.results.flent import refuse_unfit_for_flent
    from airpath.runner import scheme_label
    from airpath.scenario import Scenario, parse_assignment
    from airpath.scenario.load import find_file

    changes: dict[str, Any] = dict(parse_assignment(setting) for setting in settings or [])
    changes |= {key: value for key, value in (("seed", seed), ("repetitions", reps)) if value is not None}
    allow(changes.values())
    if packets:
        changes["record.packets"] = True
    changes |= recorded_limits(limits, world)
    if capture:
        changes["record.capture"] = capture
    if qlog is not None:
        changes["record.qlog"] = True
        refuse_no_folder(qlog, force=force)
    if flent is not None:
        refuse_no_folder(flent, force=force)
    chosen = Scenario.load(scenario)
    text = find_file(scenario).read_text(encoding="utf-8")
    if changes:
        chosen = chosen.override(changes)
        text = chosen.to_toml()
    for remark in chosen.remarks():
        tell(remark)
    if flent is not None:
        refuse_unfit_for_flent(chosen.plan(), chosen.name)
    output = Output(
        claim(out, Path("out") / chosen.name, force=force),
        jobs,
        as_json,
        report=not no_report,
        figures=figures,
        opened=open_report,
        all_metrics=all_metrics,
        isolate=isolate,
    )
    scenarios = {scheme_label(chosen): chosen}
    run_and_write(scenarios, output, lambda _: text, world=world.value, logs=qlog, flent=flent)

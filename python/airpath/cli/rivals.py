"""`airpath rivals`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Unpack

import typer

from airpath.cli.link_options import hint_at_bursts, option_of_runs, takes_link_options
from airpath.cli.output import (
    FiguresOption,
    ForceOption,
    IsolateOption,
    JobsOption,
    JsonOption,
    NoReportOption,
    OpenOption,
    OutOption,
    WorldChoice,
    WorldOption,
    enter_world,
    file_name_of,
    show,
    show_json,
    tell,
)
from airpath.links.options import Comparison, FlowOptions, LinkAndFlows

if TYPE_CHECKING:
    from airpath.plots import StandardFigure
    from airpath.rivals.meetings import Rivals

HELP = """\
Examples:

    airpath rivals newreno cubic bbr copa --link 20mbps --rtt 40ms

    airpath rivals cubic bbr prague --link 40mbps --rtt 20ms --queue dual-pi2 --ecn --reps 10

    airpath rivals cubic bbr --link lte.down --flows 4 --json | jq '.meetings[].share.mean'
"""


@takes_link_options(LinkAndFlows)
def rivals(
    schemes: Annotated[
        list[str],
        typer.Argument(help="Schemes, each with options after a colon (`airpath list schemes`)."),
    ],
    link: str | None,
    duration: Annotated[str, option_of_runs("duration")] = Comparison.duration,
    warm_up: Annotated[str, typer.Option(help="Start of the measured interval.")] = "10s",
    reps: Annotated[int, typer.Option(help="Repetitions of each pair.")] = 1,
    seed: Annotated[int, option_of_runs("seed")] = Comparison.seed,
    jobs: JobsOption = None,
    isolate: IsolateOption = False,
    out: OutOption = None,
    force: ForceOption = False,
    no_report: NoReportOption = False,
    figures: FiguresOption = False,
    open_report: OpenOption = False,
    world: WorldOption = WorldChoice.SIM,
    as_json: JsonOption = False,
    **options: Unpack[FlowOptions],
) -> None:
    """Run every pair of schemes on one link."""
    enter_world(world)
    from airpath.cli.place import claim
    from airpath.cli.work import Output, tell_finished, write_results
    from airpath.rivals.meetings import label, met, rival_scenarios
    from airpath.rivals.report import remarks, rivals_json, rivals_section, rivals_tables
    from airpath.runner import Interrupted, RunsFailed, run_all
    from airpath.scenario.link_line import link_line
    from airpath.schemes import label_of

    scenarios, refused = rival_scenarios(
        schemes, link, duration=duration, warm_up=warm_up, seed=seed, repetitions=reps, **options
    )
    one = LinkAndFlows.of(link, options)
    hint_at_bursts(one)
    output = Output(
        claim(out, Path("out") / f"rivals-{file_name_of(one.name)}", force=force),
        jobs,
        as_json,
        report=not no_report,
        figures=figures,
        opened=open_report,
    )
    if not as_json:
        show(link_line(next(iter(scenarios.values())), one))
    labelled = {label(*pair): scenario for pair, scenario in scenarios.items()}
    first = next(iter(scenarios.values())).to_toml()
    text = f"# One of {len(scenarios)} pairs of {', '.join(schemes)}: the others have other schemes.\n{first}"
    stop: Interrupted | RunsFailed | None = None
    try:
        results = run_all(labelled, jobs=jobs, world=world.value, isolate=isolate)
    except (Interrupted, RunsFailed) as stopped:
        tell_finished(stopped)
        if not stopped.results.runs:
            raise
        stop, results = stopped, stopped.results
    found = met(map(label_of, schemes), results, scenarios, refused)
    told = rivals_json(found)
    for remark in remarks(found):
        tell(remark)
    if not as_json:
        for table in rivals_tables(found):
            show(table)
    write_results(
        results,
        output,
        labelled,
        text,
        sections=lambda: [rivals_section(found)],
        figures=lambda: _figures(found),
        files={"rivals.json": told},
        standard=False,
    )
    if as_json:
        show_json({**told, **output.facts, "interrupted": stop is not None})
    else:
        output.show_places()
    if stop is not None:
        raise stop


def _figures(found: "Rivals") -> "list[StandardFigure]":
    from airpath.rivals.pictures import rivals_figures  # here, because matplotlib is slow to import

    return rivals_figures(found)

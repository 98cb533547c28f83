"""`airpath compare`."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Unpack

import typer

from airpath.cli.link_options import hint_at_bursts, option_of_runs, takes_link_options
from airpath.cli.output import (
    AllOption,
    FiguresOption,
    ForceOption,
    IsolateOption,
    JobsOption,
    JsonOption,
    LimitsOption,
    NoReportOption,
    OpenOption,
    OutOption,
    WorldChoice,
    WorldOption,
    enter_world,
    file_name_of,
    recorded_limits,
)
from airpath.links.options import Comparison, FlowOptions, LinkAndFlows

if TYPE_CHECKING:
    from airpath.precision import PrecisionRule

OPTIONS: Final = {"metric": "--metric", "min_repetitions": "--min-reps", "max_repetitions": "--max-reps"}
"""Option that sets each attribute of the rule."""

REPETITIONS: Final = 3
"""Default number of repetitions: fewer give no interval, and these take less time than the start."""

HELP = """\
Examples:

    airpath compare newreno cubic

    airpath compare cubic bbr copa --network wifi --flows 4 --rtt 20ms..200ms

    airpath compare cubic bbr --link 20mbps --loss 1%:4 --jitter 5ms --reps 5

    airpath compare newreno cubic cubic-2008 --link 12mbps --rtt 80ms --buffer 0.5bdp --flows 4

    airpath compare cubic cubic:beta=0.8 --link my-phone.trace --duration 2min --reps 5

    airpath compare cubic my.py:Mine my.py:Mine:keep=0.8 --link lte.down

    airpath compare illinois kernel-code=linux:tcp_illinois.c --link 20mbps

    airpath compare cubic prague xcp-ebe --link 40mbps --rtt 20ms --queue dual-pi2 --ecn

    airpath compare newreno cubic --link lte.down --precision 2% --max-reps 200

    airpath compare newreno cubic kernel:bbr --link 10mbps --duration 20s --world emulate

    airpath compare newreno cubic --link ebe.bottleneck --json | jq .schemes.cubic.delay_p95_ms
"""


@takes_link_options(LinkAndFlows)
def compare(
    schemes: Annotated[
        list[str],
        typer.Argument(
            help="Schemes, each with options after a colon (`airpath list schemes`), or controllers in files"
            " (`my.py:Mine`, `./libmine.so`, `linux:tcp_mine.c`). NAME=SCHEME sets the name in tables.",
        ),
    ],
    link: str | None,
    duration: Annotated[str, option_of_runs("duration")] = Comparison.duration,
    warm_up: Annotated[str, option_of_runs("warm_up")] = Comparison.warm_up,
    reps: Annotated[int | None, typer.Option(help="Repetitions of each scheme.", show_default="3")] = None,
    precision: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="Half-width of the 95 % interval, as a share of each scheme's mean (2%), at which to stop"
            " adding repetitions; replaces --reps.",
            show_default=False,
        ),
    ] = None,
    difference: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="Share of the mean (1%): add repetitions until every two schemes differ significantly, or"
            " differ by significantly less than this share.",
            show_default=False,
        ),
    ] = None,
    metric: Annotated[
        str | None, typer.Option(help="Metric for --precision and --difference.", show_default="goodput")
    ] = None,
    min_reps: Annotated[
        int | None, typer.Option(help="Minimum number of repetitions with --precision.", show_default="10")
    ] = None,
    max_reps: Annotated[
        int | None, typer.Option(help="Maximum number of repetitions with --precision.", show_default="100")
    ] = None,
    seed: Annotated[int, option_of_runs("seed")] = Comparison.seed,
    jobs: JobsOption = None,
    isolate: IsolateOption = False,
    limits: LimitsOption = False,
    out: OutOption = None,
    force: ForceOption = False,
    no_report: NoReportOption = False,
    figures: FiguresOption = False,
    open_report: OpenOption = False,
    all_metrics: AllOption = False,
    world: WorldOption = WorldChoice.SIM,
    as_json: JsonOption = False,
    **options: Unpack[FlowOptions],
) -> None:
    """Compare schemes over one link."""
    enter_world(world)
    from airpath.cli.place import claim
    from airpath.cli.work import Output, compared_text, run_and_write
    from airpath.runner import compare_scenarios
    from airpath.scenario.link_line import link_line

    until = _rule(
        reps,
        precision,
        difference,
        {"metric": metric, "min_repetitions": min_reps, "max_repetitions": max_reps},
    )
    scenarios = compare_scenarios(
        schemes,
        link,
        duration=duration,
        warm_up=warm_up,
        seed=seed,
        repetitions=(REPETITIONS if reps is None else reps) if until is None else until.max_repetitions,
        **options,
    )
    if changes := recorded_limits(limits, world):
        scenarios = {name: scenario.override(changes) for name, scenario in scenarios.items()}
    one = LinkAndFlows.of(link, options)
    hint_at_bursts(one)
    output = Output(
        claim(out, Path("out") / f"compare-{file_name_of(one.name)}", force=force),
        jobs,
        as_json,
        report=not no_report,
        figures=figures,
        opened=open_report,
        all_metrics=all_metrics,
        isolate=isolate,
    )
    opening = link_line(next(iter(scenarios.values())), one)
    run_and_write(scenarios, output, compared_text, world=world.value, until=until, opening=opening)


def _rule(
    reps: int | None, precision: str | None, difference: str | None, others: Mapping[str, Any]
) -> "PrecisionRule | None":
    """Return the rule that the options define; `None` for a fixed number of repetitions.

    Raises
    ------
    UsageError
        If the options contradict each other, or one is wrong.
    """
    from airpath.errors import UsageError
    from airpath.precision import PrecisionRule

    given = {name: value for name, value in others.items() if value is not None}
    if precision is None and difference is None:
        if given:
            option = OPTIONS[next(iter(given))]
            raise UsageError(f"{option} needs --precision or --difference; found neither")
        return None
    if reps is not None:
        raise UsageError(
            f"found --reps {reps} with --precision or --difference, which determine the number of"
            " repetitions; accepted: one of them (--min-reps and --max-reps limit the number)"
        )
    return PrecisionRule.parse(precision, difference=difference, **given)

"""`airpath compare`."""

from pathlib import Path
from typing import Annotated

import typer

from airpath.cli.output import (
    BufferOption,
    JobsOption,
    JsonOption,
    OutOption,
    QueueOption,
    RttOption,
    WorldChoice,
    WorldOption,
    enter_world,
    file_name_of,
)

HELP = """Compare schemes over one link, everything else equal, and write tables, figures and a report.

Examples:

    airpath compare newreno cubic --link lte.down

    airpath compare newreno cubic cubic-2008 --link 12mbps --rtt 80ms --buffer 0.5bdp --flows 4

    airpath compare cubic cubic:beta=0.8 --link my-phone.trace --duration 2min --reps 5

    airpath compare cubic prague xcp-ebe --link 40mbps --rtt 20ms --queue dual-pi2 --ecn

    airpath compare newreno cubic kernel:bbr --link 10mbps --duration 20s --world emulate

    airpath compare newreno cubic --link ebe.bottleneck --json | jq .schemes.cubic.delay_p95_ms
"""


def compare(
    schemes: Annotated[
        list[str],
        typer.Argument(help="Schemes, with options after a colon (`airpath list schemes` shows all)."),
    ],
    link: Annotated[
        str, typer.Option(help="A rate (12mbps), a named link (`airpath list links`), or a trace file.")
    ],
    rtt: RttOption = None,
    buffer: BufferOption = None,
    queue: QueueOption = None,
    ecn: Annotated[bool, typer.Option("--ecn", help="Flows ask for marks instead of drops.")] = False,
    flows: Annotated[int, typer.Option(help="How many flows.")] = 1,
    duration: Annotated[str, typer.Option(help="Length of a run, in simulated time.")] = "60s",
    warm_up: Annotated[str, typer.Option(help="Summaries count from here on.")] = "0s",
    reps: Annotated[int, typer.Option(help="Repetitions of each scheme.")] = 1,
    seed: Annotated[int, typer.Option(help="Seed of the first repetition; repetition k uses seed + k.")] = 1,
    jobs: JobsOption = None,
    out: OutOption = None,
    world: WorldOption = WorldChoice.SIM,
    as_json: JsonOption = False,
) -> None:
    """Compare schemes over one link."""
    enter_world(world)
    from airpath.cli.work import compared_text, run_and_write
    from airpath.runner import compare_scenarios

    scenarios = compare_scenarios(
        schemes,
        link,
        rtt=rtt,
        buffer=buffer,
        queue=queue,
        ecn=ecn,
        flows=flows,
        duration=duration,
        warm_up=warm_up,
        seed=seed,
        repetitions=reps,
    )
    out = out or Path("out") / f"compare-{file_name_of(link)}"
    run_and_write(scenarios, out, compared_text(scenarios), jobs=jobs, world=world.value, as_json=as_json)

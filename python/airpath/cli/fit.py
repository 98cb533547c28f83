"""`airpath fit`."""

from pathlib import Path
from typing import Annotated

import typer

from airpath.cli.output import JsonOption

HELP = """Fit a chain of losses (Gilbert-Elliott) to a recording.

CAPTURE or TRACE is a packet capture, a trace of losses (one 0 or 1 for each packet, or a table with a column
`lost`), or a trace of delivery opportunities, of which outages are fitted. Prints the chain with confidence
intervals, how well it fits, and the lines to paste into a scenario and after `tc qdisc … netem`.

Examples:

    airpath fit drive.pcapng --flow 1

    airpath fit losses.csv --json | jq '.fits[0].gilbert.mean_loss'

    zstdcat drive.pcapng.zst | airpath fit -

    airpath fit cell.down --step 50ms
"""


def fit(
    recording: Annotated[
        Path, typer.Argument(metavar="CAPTURE|TRACE", help="A file or a pipe; - is standard input.")
    ],
    flow: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FLOW",
            help="Only this flow of a capture: its number, or a part of its addresses; can be repeated.",
            show_default=False,
        ),
    ] = None,
    step: Annotated[
        str | None,
        typer.Option(
            help="Length of a step of a trace of opportunities, such as 50ms; by default that of ten"
            " opportunities in the mean.",
            show_default=False,
        ),
    ] = None,
    confidence: Annotated[float, typer.Option(help="Confidence of the intervals.")] = 0.95,
    as_json: JsonOption = False,
) -> None:
    """Fit a chain of losses to a recording."""
    from airpath.cli.estimate_tables import tell_of_an_early_end
    from airpath.cli.fit_tables import print_fit
    from airpath.cli.output import show_json
    from airpath.loss_fit import fit as fitted

    found = fitted(recording, flow=flow or (), step=step, confidence=confidence)
    tell_of_an_early_end(found[0].source, found[0].ended_early)
    if as_json:
        show_json({"confidence": confidence, "fits": [one.as_machine_reads() for one in found]})
        return
    for one in found:
        print_fit(one, confidence)

"""`airpath fit`."""

from pathlib import Path
from typing import Annotated

import typer

from airpath.cli.output import JsonOption

HELP = """\
CAPTURE or TRACE is a packet capture, a loss trace (one 0 or 1 per packet, or a table with a column `lost`),
or a trace of delivery opportunities, whose outages are fitted. Prints the model with confidence intervals,
the goodness of fit, and the lines to paste into a scenario and after `tc qdisc … netem`.

Examples:

    airpath fit drive.pcapng --flow 1

    airpath fit losses.csv --json | jq '.fits[0].gilbert.mean_loss'

    zstdcat drive.pcapng.zst | airpath fit -

    airpath fit cell.down --step 50ms
"""


def fit(
    recording: Annotated[
        Path, typer.Argument(metavar="CAPTURE|TRACE", help="File or pipe; - for standard input.")
    ],
    flow: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FLOW",
            help="Flow of the capture to fit, by number or part of its addresses; repeatable; default: all.",
            show_default=False,
        ),
    ] = None,
    step: Annotated[
        str | None,
        typer.Option(
            help="Step of a trace of delivery opportunities, such as 50ms; default: the time of ten"
            " opportunities on average.",
            show_default=False,
        ),
    ] = None,
    confidence: Annotated[float, typer.Option(help="Confidence level of the intervals.")] = 0.95,
    as_json: JsonOption = False,
) -> None:
    """Fit a loss model to a capture or a trace."""
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

"""`airpath estimate`."""

from pathlib import Path
from typing import Annotated

import typer

from airpath.cli.output import FiguresOption, ForceOption, JsonOption, NoReportOption, OpenOption, OutOption

HELP = """\
Finds the flows and infers the capture point of each. Prints its bandwidth, what limited it, and what its
losses were; --estimators prints what each bandwidth estimator gives. Writes tables of both.

Examples:

    airpath estimate drive.pcapng

    airpath estimate upload.pcap.gz --estimators --estimator sarbe --estimator westwood:samples=round-trip

    airpath estimate connection.sqlog

    ssh phone tcpdump -c 100000 -w - tcp | airpath estimate -

    airpath estimate office.pcap --flow 10.0.0.7:59130 --json | jq '.captures[0].flows[0].answer'
"""

MOST_ROWS = 10
"""Number of flows in the table of --estimators; the Parquet tables have all."""


def estimate(
    captures: Annotated[
        list[Path], typer.Argument(metavar="CAPTURE…", help="Capture files or pipes; - for standard input.")
    ],
    estimator: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Estimator to run, NAME or NAME:option=value,…, or one in a file (my.py:Mine, ./libmine.so);"
            " repeatable; default: all.",
            show_default=False,
        ),
    ] = None,
    flow: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FLOW",
            help="Flow to analyse, by number or part of its addresses; repeatable; default: all.",
            show_default=False,
        ),
    ] = None,
    estimators: Annotated[
        bool, typer.Option("--estimators", help="Print the flows and what each estimator gives instead.")
    ] = False,
    every: Annotated[
        bool, typer.Option("--all", help="Print all flows, not only the largest three.")
    ] = False,
    out: OutOption = None,
    force: ForceOption = False,
    no_report: NoReportOption = False,
    open_report: OpenOption = False,
    figures: FiguresOption = False,
    as_json: JsonOption = False,
) -> None:
    """Find the bandwidth of captured flows, and what limited them."""
    from rich.markup import escape

    from airpath._os.input_file import input_name, refuse_standard_input_twice
    from airpath._os.progress import progress_bar
    from airpath.captures import analyse, choose, view_of_captures, write_captures
    from airpath.cli.estimate_answer import print_answers
    from airpath.cli.estimate_tables import (
        as_machine_reads,
        print_estimates,
        print_read,
        tell_of_an_early_end,
    )
    from airpath.cli.output import recording_name, show_json
    from airpath.cli.place import claim
    from airpath.cli.work import Output
    from airpath.explorer.writing import write_page
    from airpath.results.origin import origin_of_this_process

    refuse_standard_input_twice(captures)
    found = []
    for path in captures:
        with progress_bar(f"reading {escape(Path(input_name(path)).name)}", None) as on_progress:
            found.append(choose(analyse(path, estimator or (), on_progress), flow or []))
    target = claim(out, Path("out") / f"estimate-{recording_name(input_name(captures[0]))}", force=force)
    for capture in found:
        tell_of_an_early_end(str(capture.path), capture.ended_early)
    if not as_json:
        for capture in found:
            print_read(capture)
            if estimators:
                print_estimates(capture, len(capture.flows) if every else MOST_ROWS)
            else:
                print_answers(capture, every)
    write_captures(found, target, origin_of_this_process(), figures=figures)
    output = Output(target, report=not no_report, opened=open_report)
    if output.page is not None:
        write_page(view_of_captures(found), output.page)
    output.open()
    if as_json:
        show_json({"captures": [as_machine_reads(capture) for capture in found], **output.facts})
        return
    output.show_places()

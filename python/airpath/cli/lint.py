"""`airpath lint`."""

import re
from pathlib import Path
from typing import Annotated

import typer

from airpath.cli.output import JsonOption, answers, refuse_no_files, show_json, tell, write_file

HELP = """Judge a traffic control set-up (`tc`, netem): what it amounts to, and what is wrong with it.

FILE is a shell script or a list of `tc` commands, or what `tc -s qdisc show` printed, also with -j; several
are one set-up. Nothing in it is executed. Each finding says what is wrong, why, and what to write instead.

Exit codes: 0 nothing at or above a warning, 1 findings, 2 there is no verdict, since an input cannot be read.

Examples:

    airpath lint setup.sh

    tc -s qdisc show | airpath lint -

    airpath lint shape.sh --set 1=eth0 --set RATE=10mbit

    airpath lint --live

    airpath lint setup.sh --scenario link.toml

    airpath lint setup.sh --json | jq .findings
"""

FINDINGS = 1


@answers
def lint(
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FILE", help="Files or pipes; - is standard input.", show_default=False),
    ] = None,
    live: Annotated[
        bool,
        typer.Option("--live", help="Ask this system instead, by `tc -s -j … show`; nothing is changed."),
    ] = False,
    scenario: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the scenario that means the same, for `airpath run`.",
            show_default=False,
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A variable that the script gets from elsewhere, 1 its first argument; can be repeated.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> int:
    """Judge a set-up."""
    from airpath.cli.lint_tables import print_linted
    from airpath.lint import lint as judge
    from airpath.lint.carry import carry_over
    from airpath.lint.describe import as_machine_reads

    read = {f"the set-up {file}": Path(file) for file in files or [] if str(file) != "-"}
    refuse_no_files({"scenario": scenario}, read)
    linted = judge(files or [], live=live, variables=_variables(settings or []))
    carried = carry_over(linted) if scenario is not None else None
    if carried is not None and scenario is not None:
        write_file(scenario, carried.toml.encode())
    if as_json:
        written = None
        if carried is not None:
            written = {"file": str(scenario), "missing": list(carried.missing)}
        show_json({**as_machine_reads(linted), "scenario": written})
    else:
        print_linted(linted)
        if carried is not None:
            for one in carried.missing:
                tell(f"not carried over: {one}")
            tell(f"scenario: {scenario}")
    return 0 if linted.clean else FINDINGS


def _variables(settings: list[str]) -> dict[str, str]:
    from airpath.errors import UsageError

    found = {}
    for one in settings:
        name, equals, value = one.partition("=")
        if not equals or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*|[0-9]+", name):
            raise UsageError(f'set: found "{one}"; accepted: NAME=VALUE, or 1=VALUE for the first argument')
        found[name] = value
    return found

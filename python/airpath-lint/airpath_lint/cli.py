"""The command `airpath lint`."""

import re
from pathlib import Path
from typing import Annotated

import typer

from airpath.cli.output import ForceOption, JsonOption, answers, refuse_no_files, show_json, tell, write_file
from airpath.cli.place import claim_file

HELP = """\
FILE is a shell script, a list of `tc` commands, or the output of `tc -s qdisc show`, with or without -j.
Several files form one configuration. Nothing is executed. Each finding names the mistake, its reason, and
the correction.

Exit codes: 0 no warning, 1 at least one warning, 2 no verdict because an input cannot be read.

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
        typer.Argument(metavar="FILE", help="Files or pipes; - for standard input.", show_default=False),
    ] = None,
    live: Annotated[
        bool,
        typer.Option("--live", help="Check this system instead, by `tc -s -j … show`; changes nothing."),
    ] = False,
    scenario: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="File for the equivalent scenario, for `airpath run`.",
            show_default=False,
        ),
    ] = None,
    force: ForceOption = False,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Variable that the script expects, or 1 for its first argument; repeatable.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> int:
    """Check a configuration."""
    from airpath_lint import lint as judge
    from airpath_lint.carry import carry_over
    from airpath_lint.cli_tables import print_linted
    from airpath_lint.describe import as_machine_reads

    read = {f"the configuration {file}": Path(file) for file in files or [] if str(file) != "-"}
    refuse_no_files({"scenario": scenario}, read)
    if scenario is not None:
        claim_file(scenario, scenario, force=force)
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

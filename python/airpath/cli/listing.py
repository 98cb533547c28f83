"""`airpath list`."""

import tomllib
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from airpath._nearest import suggestion
from airpath.cli.output import JsonOption, show, show_json
from airpath.errors import UsageError
from airpath.plugins.specs import Spec, allow

HELP = """\
Examples:

    airpath list

    airpath list schemes

    airpath list my.py

    airpath list ./libmine.so

    airpath list linux:tcp_mine.c

    airpath list links --json | jq -r '.links | keys[]'
"""


class Section(StrEnum):
    """The kinds of names that can be listed."""

    SCHEMES = "schemes"
    ESTIMATORS = "estimators"
    QUEUES = "queues"
    LINKS = "links"
    NETWORKS = "networks"
    SCENARIOS = "scenarios"
    SWEEPS = "sweeps"
    SUITES = "suites"
    LEADERBOARDS = "leaderboards"


def listing(
    what: Annotated[
        str | None,
        typer.Argument(
            metavar="KIND|FILE",
            help=f"Kind to list ({', '.join(Section)}), or a file with components;"
            " default: all kinds with their counts.",
            show_default=False,
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List everything that has a name."""
    if what is not None and (spec := Spec.parse(what)) is not None:
        from airpath.cli.list_file import list_file

        allow([what])
        list_file(spec, as_json=as_json)
        return
    if what is not None and what not in list(Section):
        near = suggestion(what, list(Section), "kinds")
        files = "my.py, ./libmine.so, linux:tcp_mine.c"
        raise UsageError(f'there is no kind "{what}"; {near}, or a file ({files})')
    section = None if what is None else Section(what)
    wanted = [section] if section else list(Section)
    if as_json:
        show_json({one.value: _ENTRIES[one]() for one in wanted})
        return
    from rich.table import Table

    table = Table(show_header=False, box=None, padding=(0, 2))
    if section is None:
        for one in wanted:
            table.add_row(one.value, str(len(_ENTRIES[one]())), f"airpath list {one.value}")
        show(table)
        return
    for name, text in _ENTRIES[section]().items():
        table.add_row(name, text)
    show(table)
    if section is Section.SCHEMES:
        show(_ending())


def schemes() -> dict[str, str]:
    """Return each scheme with its description."""
    from airpath.schemes import AGENT, KERNEL_SCHEMES, QUINN_SCHEMES, SCHEMES

    return {scheme.id: scheme.description for scheme in (*SCHEMES, *KERNEL_SCHEMES, *QUINN_SCHEMES, AGENT)}


def _ending() -> str:
    """Return the note below the schemes."""
    from airpath.schemes.kernel import PREFIX
    from airpath.schemes.loss_differentiation import ENDING

    return f"  {ENDING}; those of {PREFIX} do not take it"


def estimators() -> dict[str, str]:
    """Return each ACK-rate estimator with its description."""
    from airpath.schemes import ESTIMATORS

    return {estimator.id: estimator.description for estimator in ESTIMATORS}


def queues() -> dict[str, str]:
    """Return each queue discipline with its description."""
    from airpath.scenario import QUEUES

    return {queue.name: queue.description for queue in QUEUES}


def links() -> dict[str, str]:
    """Return each shipped link with its description."""
    from airpath.links import LINKS

    return {link.name: link.description for link in LINKS}


def networks() -> dict[str, str]:
    """Return each network with its description."""
    from airpath.links.networks import networks

    return {network.name: network.description for network in networks()}


def scenarios() -> dict[str, str]:
    """Return each shipped scenario with its description."""
    return _shipped("scenarios")


def sweeps() -> dict[str, str]:
    """Return each shipped sweep with its description."""
    return _shipped("sweeps/plans")


def suites() -> dict[str, str]:
    """Return each shipped suite of checks with its description."""
    return _shipped("checks/suites")


def leaderboards() -> dict[str, str]:
    """Return each shipped leaderboard with its description."""
    return _shipped("leaderboard/boards")


def _shipped(folder: str) -> dict[str, str]:
    """Return the descriptions in the files of a folder of the package, by name."""
    files = sorted((Path(__file__).parent.parent / folder).glob("*.toml"))
    return {file.stem: _description(file.read_text(encoding="utf-8")) for file in files}


def _description(text: str) -> str:
    """Return the description of a file; only keys before the first table are read, which is faster."""
    description: str = tomllib.loads(text.partition("\n[")[0])["description"]
    return description


_ENTRIES: dict[Section, Callable[[], dict[str, str]]] = {
    Section.SCHEMES: schemes,
    Section.ESTIMATORS: estimators,
    Section.QUEUES: queues,
    Section.LINKS: links,
    Section.NETWORKS: networks,
    Section.SCENARIOS: scenarios,
    Section.SWEEPS: sweeps,
    Section.SUITES: suites,
    Section.LEADERBOARDS: leaderboards,
}

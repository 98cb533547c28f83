"""`airpath list`."""

from collections.abc import Callable
from enum import StrEnum
from typing import Annotated

import typer

from airpath.cli.output import JsonOption, show, show_json

HELP = """List the schemes, estimators, queues, links, networks, scenarios, sweeps and suites.

Examples:

    airpath list

    airpath list schemes

    airpath list links --json | jq -r '.links | keys[]'
"""


class Section(StrEnum):
    """What can be listed."""

    SCHEMES = "schemes"
    ESTIMATORS = "estimators"
    QUEUES = "queues"
    LINKS = "links"
    NETWORKS = "networks"
    SCENARIOS = "scenarios"
    SWEEPS = "sweeps"
    SUITES = "suites"


def list_(
    section: Annotated[Section | None, typer.Argument(help="Kind of entry to list; default: all.")] = None,
    as_json: JsonOption = False,
) -> None:
    """List everything that has a name."""
    sections = {one.value: _ENTRIES[one]() for one in ([section] if section else Section)}
    if as_json:
        show_json(sections)
        return
    from rich.table import Table

    for title, entries in sections.items():
        table = Table(
            "name", "", title=title, title_justify="left", show_header=False, box=None, padding=(0, 2)
        )
        for name, text in entries.items():
            table.add_row(name, text)
        show(table)
        if title == Section.SCHEMES:
            show(_ending())


def schemes() -> dict[str, str]:
    """Return each scheme with its line."""
    from airpath.schemes import AGENT, KERNEL_SCHEMES, SCHEMES

    return {scheme.id: scheme.description for scheme in (*SCHEMES, *KERNEL_SCHEMES, AGENT)}


def _ending() -> str:
    """Return what stands below the schemes."""
    from airpath.schemes.kernel import PREFIX
    from airpath.schemes.loss_differentiation import ENDING

    return f"  {ENDING}; those of {PREFIX} do not take it"


def estimators() -> dict[str, str]:
    """Return each ACK-rate estimator with its line."""
    from airpath.schemes import ESTIMATORS

    return {estimator.id: estimator.description for estimator in ESTIMATORS}


def queues() -> dict[str, str]:
    """Return each queue discipline with its line."""
    from airpath.scenario import QUEUES

    return {queue.name: queue.description for queue in QUEUES}


def links() -> dict[str, str]:
    """Return each shipped link with its line."""
    from airpath.links import LINKS

    return {link.name: link.description for link in LINKS}


def networks() -> dict[str, str]:
    """Return each network with its line."""
    from airpath.links.networks import networks

    return {network.name: network.description for network in networks()}


def scenarios() -> dict[str, str]:
    """Return each shipped scenario with its line."""
    from airpath.scenario import Scenario, scenario_names

    return {name: Scenario.load(name).document.description for name in scenario_names()}


def sweeps() -> dict[str, str]:
    """Return each shipped sweep with its line."""
    from airpath.scenario.load import read_file
    from airpath.sweeps.plan import find_sweep, sweep_names

    return {name: str(read_file(find_sweep(name))["description"]) for name in sweep_names()}


def suites() -> dict[str, str]:
    """Return each shipped suite of checks with its line."""
    from airpath.checks.suite import find_suite, suite_names
    from airpath.scenario.load import read_file

    return {name: str(read_file(find_suite(name))["description"]) for name in suite_names()}


_ENTRIES: dict[Section, Callable[[], dict[str, str]]] = {
    Section.SCHEMES: schemes,
    Section.ESTIMATORS: estimators,
    Section.QUEUES: queues,
    Section.LINKS: links,
    Section.NETWORKS: networks,
    Section.SCENARIOS: scenarios,
    Section.SWEEPS: sweeps,
    Section.SUITES: suites,
}

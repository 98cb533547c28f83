"""The scenarios of the cases of a file."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from airpath._nearest import suggestion
from airpath.checks.document import RunsTable
from airpath.errors import AirpathError, UsageError
from airpath.plugins.specs import Spec
from airpath.runner import compare_scenarios
from airpath.scenario import Scenario
from airpath.scenario.load import find_file

REPETITIONS_OVER_LINK: Final = 5
"""Default number of runs of a case over a link."""


@contextmanager
def said_of(where: str) -> Iterator[None]:
    """Prefix errors in the parts of a case with the name of the case."""
    try:
        yield
    except AirpathError as error:
        lines = (f"{where}: {line}" for line in str(error).splitlines())
        raise type(error)("\n".join(lines)) from None


def scenario_of(
    table: RunsTable, folder: Path, scheme: str | None, *, seed: int | None, repetitions: int | None
) -> Scenario:
    """Return the scenario of a case, with its settings, seed and repetitions.

    Over a link, its flows have the scheme; a scenario keeps its own (`with_scheme`).

    Parameters
    ----------
    table
        The case.
    folder
        Base of relative paths.
    scheme
        The scheme under test; required over a link.
    seed, repetitions
        Seed of the first run, and number of runs; by default those of the scenario.
    """
    if table.scenario is None:
        base = _over_link(table.over_link, folder, scheme)
        repetitions = repetitions or REPETITIONS_OVER_LINK
    elif isinstance(table.scenario, dict):
        base = Scenario({"name": table.name, **table.scenario}, source="scenario", folder=folder)
    else:
        name = str(table.scenario)
        beside = folder / name
        base = Scenario.load(beside if beside.is_file() else find_file(name))
    changes = {**table.set, "name": table.name}
    changes |= {
        key: value for key, value in (("seed", seed), ("repetitions", repetitions)) if value is not None
    }
    return base.override(changes)


def with_scheme(scenario: Scenario, tested: Sequence[str], scheme: str) -> Scenario:
    """Return the scenario in which the flows under test have a scheme (`flows_under_test`)."""
    taking = flows_under_test(scenario, tested)
    return scenario.override({f"flows.{number}.scheme": scheme for number in taking})


def flows_under_test(scenario: Scenario, tested: Sequence[str]) -> list[int]:
    """Return the numbers of the entries of flows with these names; without names, of all with a scheme.

    Raises
    ------
    UsageError
        If there is no flow of a name, or no flow with a scheme.
    """
    flows = scenario.document.flows
    names = [flow.name for flow in flows]
    if unknown := [name for name in tested if name not in names]:
        raise UsageError(f'tested: found "{unknown[0]}"; {suggestion(unknown[0], names)}')
    taking = [
        number
        for number, flow in enumerate(flows)
        if (flow.name in tested if tested else flow.scheme is not None)
    ]
    if not taking:
        raise UsageError("scheme: no flow of the scenario has a scheme to replace")
    return taking


def _over_link(options: dict[str, Any], folder: Path, scheme: str | None) -> Scenario:
    if scheme is None:
        raise UsageError(
            'scheme: required for a case with "link"; give it in the suite, in the case, or by --scheme'
        )
    for key in ("link", "up"):
        if (trace := folder / options.get(key, "")).is_file():
            options[key] = str(trace)
    for text in (scheme, options.get("queue", "")):
        if (spec := Spec.parse(text)) is not None:
            spec.refuse_if_not_allowed()  # here: `compare_scenarios` allows code that its caller names
    (scenario,) = compare_scenarios([scheme], **options).values()
    return scenario

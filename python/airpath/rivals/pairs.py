"""Two schemes on one link as a scenario."""

from collections.abc import Mapping
from typing import Any, Final

from airpath.scenario import Scenario
from airpath.scenario.compare import ARGUMENTS, over_link, part_of_path, said_of_arguments
from airpath.schemes import parse_scheme

FIRST: Final = "first"
"""The entry of flows of the first scheme."""
SECOND: Final = "second"
"""That of the second."""


def pair_scenario(
    number: int, schemes: tuple[str, str], link: str | None, options: Mapping[str, Any]
) -> Scenario:
    """Return long-lived flows of two schemes over one link.

    Parameters
    ----------
    number
        A number for the scenario's name.
    schemes, link
        As for `airpath.rivals.rivals`.
    options
        `airpath.link_options.CompareOptions`, all of them.

    Raises
    ------
    UsageError, ScenarioError, TraceError
        If something is wrong, or the two cannot share a link.
    """
    first, second = (parse_scheme(scheme)[0] for scheme in schemes)
    name = f"rivals-{number}-{part_of_path(first.id)}-{part_of_path(second.id)}"
    entries = {FIRST: (schemes[0], first), SECOND: (schemes[1], second)}
    with said_of_arguments(ARGUMENTS):
        return over_link(name, f"{first.title} and {second.title}", link, entries, options)

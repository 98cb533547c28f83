"""A scenario of two schemes on one link."""

from typing import Final

from airpath.links.options import Comparison
from airpath.scenario import Scenario
from airpath.scenario.compare import ARGUMENTS, over_link, part_of_path, said_of_arguments
from airpath.schemes import parse_scheme, short_name

FIRST: Final = "first"
"""Name of the entry of flows of the first scheme."""
SECOND: Final = "second"
"""Name of the entry of flows of the second scheme."""


def pair_scenario(number: int, schemes: tuple[str, str], comparison: Comparison) -> Scenario:
    """Return long-lived flows of two schemes over one link.

    Parameters
    ----------
    number
        Number in the scenario's name.
    schemes
        As for `airpath.rivals.rivals`.
    comparison
        The link, its flows and the runs.

    Raises
    ------
    UsageError, ScenarioError, TraceError
        If something is wrong, or the two cannot share a link.
    """
    first, second = (parse_scheme(scheme)[0] for scheme in schemes)
    names = (
        part_of_path(short_name(text) or scheme.id)
        for text, scheme in zip(schemes, (first, second), strict=True)
    )
    name = "-".join(("rivals", str(number), *names))
    entries = {FIRST: (schemes[0], first), SECOND: (schemes[1], second)}
    with said_of_arguments(ARGUMENTS):
        return over_link(name, f"{first.title} and {second.title}", comparison, entries)

"""Objects that other distributions add to airpath through entry points."""

import sys
from collections.abc import Iterator
from typing import Any


def load_entry_points(group: str) -> Iterator[tuple[str, str, Any]]:
    """Return name, distribution and object of each entry point of a group.

    An entry point that cannot be loaded is left out, with a line on standard error.

    Parameters
    ----------
    group
        The group, as `airpath.commands`.
    """
    from importlib.metadata import entry_points  # imported here because it is slow to import

    for point in entry_points(group=group):
        distribution = point.dist.name if point.dist is not None else point.value
        try:
            loaded = point.load()
        except Exception as error:
            reject_entry_point(group, point.name, distribution, f"{type(error).__name__}: {error}")
        else:
            yield point.name, distribution, loaded


def reject_entry_point(group: str, name: str, distribution: str, reason: str) -> None:
    """Report on standard error that an entry point is left out.

    Parameters
    ----------
    group
        Its group.
    name
        Its name.
    distribution
        The distribution that contains it.
    reason
        The reason.
    """
    text = " ".join(reason.split())
    sys.stderr.write(f"airpath: {distribution}: the entry point {name} in {group} is ignored: {text}\n")

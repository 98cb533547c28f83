"""Schemes with a controller of another program, which is the first part of their names (`kernel:bbr`)."""

from typing import Any

from airpath._declared.tables import Parameters, Values
from airpath.schemes.scheme import Scheme


def scheme_elsewhere(owner: str, name: str, title: str, description: str, colour: str, marker: str) -> Scheme:
    """Return the scheme `owner:name`, which has no parameters.

    Parameters
    ----------
    owner
        The program that contains the controller: the kind in plans.
    name
        The program's name for it: the algorithm in plans.
    title, description, colour, marker
        As those of `Scheme`.
    """

    def build(_parameters: Values, _mss_bytes: int) -> dict[str, Any]:
        return {"kind": owner, "algorithm": name}

    return Scheme(
        id=f"{owner}:{name}",
        title=title,
        description=description,
        colour=colour,
        marker=marker,
        controller=owner,
        parameters=Parameters(),
        build=build,
    )

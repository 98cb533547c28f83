"""Networks by name: link, round-trip time, buffer, losses and reverse link together."""

import copy
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from airpath._nearest import suggestion
from airpath.errors import UsageError
from airpath.links import FOLDER


@dataclass(frozen=True)
class Network:
    """A network that is shipped with airpath: the dumbbell of a scenario."""

    name: str
    """Its name on the command line."""
    description: str
    """A description in one line."""
    bottleneck: Mapping[str, Any]
    """The link, as a scenario writes it."""
    reverse: Mapping[str, Any]
    """Settings that differ in the opposite direction."""

    def directions(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return copies of both directions."""
        return copy.deepcopy(dict(self.bottleneck)), copy.deepcopy(dict(self.reverse))


@cache
def networks() -> tuple[Network, ...]:
    """Return all networks, in the order of their file."""
    tables = tomllib.loads((FOLDER / "networks.toml").read_text(encoding="utf-8"))
    return tuple(
        Network(name, table["description"], table["bottleneck"], table.get("reverse", {}))
        for name, table in tables.items()
    )


def find_network(name: str) -> Network:
    """Return the network with this name.

    Raises
    ------
    UsageError
        If there is no such network; the message names the nearest.
    """
    for network in networks():
        if network.name == name:
            return network
    near = suggestion(name, (network.name for network in networks()), "networks")
    raise UsageError(f'network: found "{name}"; {near}')

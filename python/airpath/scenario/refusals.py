"""What engine and worlds refuse, said as all other faults of a scenario: at the field that a person wrote."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from airpath import _core
from airpath.errors import ScenarioError
from airpath.messages import Fault, scenario_error, show


@dataclass(frozen=True)
class LinkPlace:
    """Where a link stands in a scenario."""

    path: str
    """Its table."""
    router: str | None
    """Where the parameters of its router stand, if not in its `queue`."""


@dataclass(frozen=True)
class Places:
    """Where the links and flows of a plan stand in the scenario, by name."""

    links: dict[str, LinkPlace] = field(default_factory=dict)
    flows: dict[str, str] = field(default_factory=dict)


Part: TypeAlias = Literal["", "link", "flow"]
"""Whose field of a plan is refused: that of the run, a link, a flow."""


@dataclass(frozen=True)
class Refusal:
    """What cannot be run in a plan."""

    part: Part
    """Whose it is."""
    name: str
    """The name of that link or flow."""
    where: str
    """The field in its part of the plan, called as the component calls it; empty for the part as a whole."""
    problem: str
    """What is wrong, and what is accepted."""
    found: Any = None
    """What was found, if that does not stand in the scenario."""


def refused(error: _core.PlanError, places: Places, tables: Mapping[str, Any], source: str) -> ScenarioError:
    """Return what to say of a plan that the engine refuses.

    Parameters
    ----------
    error
        What the engine said.
    places
        Where links and flows stand.
    tables
        The scenario as written.
    source
        Where it came from.
    """
    message, *rest = error.args
    if not rest:
        return scenario_error(source, [Fault("", message)])
    part, name, where, number, problem = rest
    return refusal_error(Refusal(part, name, where, problem, number), places, tables, source)


def refusal_error(refusal: Refusal, places: Places, tables: Mapping[str, Any], source: str) -> ScenarioError:
    """Return what to say of a refusal; `places`, `tables` and `source` as for `refused`."""
    part, name, where = refusal.part, refusal.name, refusal.where
    paths = [where]
    if part == "link" and name in places.links:
        paths = _of_link(places.links[name], where)
    elif part == "flow" and name in places.flows:
        paths = _of_flow(places.flows[name], where)
    written = next(((path, value) for path in paths if (value := _written(tables, path)) is not None), None)
    path, value = written or (paths[0], refusal.found)
    found = "" if value is None or isinstance(value, Mapping | list) else f"found {show(value)}; "
    return scenario_error(source, [Fault(path, f"{found}{refusal.problem}")])


def _of_link(place: LinkPlace, where: str) -> list[str]:
    """Return the paths at which a field of a link may stand, the most likely one first."""
    table, _, key = where.rpartition(".")
    if place.router is not None and table in ("queue.protocol", "queue.source"):
        if key == "kind":  # a scheme chose it
            return [f"{place.router.removesuffix('.parameters').removesuffix('.scheme')}.scheme"]
        return _of_parameters(place.router, key)
    return [".".join(filter(None, (place.path, table, key)))]


def _of_flow(path: str, where: str) -> list[str]:
    """Return the paths at which a field of a flow may stand."""
    table, _, key = where.partition(".")
    match table:
        case "":
            return [path]
        case "transport":  # what a flow does not say holds for all of them
            return [f"{path}.{where}", where]
        case "controller" if not key:
            return [f"{path}.parameters", f"{path}.scheme"]
        case "controller":
            return _of_parameters(f"{path}.parameters", key)
        case _:
            return [f"{path}.{where}"]


def _of_parameters(path: str, key: str) -> list[str]:
    """Return the same for a parameter of a scheme: in its table, or among the options of the scheme."""
    if path.endswith(".scheme"):
        return [f"{path}:{key}"]
    return [f"{path}.{key}", f"{path.removesuffix('.parameters')}.scheme:{key}"]


def _written(tables: Any, path: str) -> Any:
    """Return the value at a path; `None` where there is none. `scheme:key` is an option of a scheme."""
    path, _, option = path.partition(":")
    for step in re.findall(r"[^.\[\]]+", path):
        if isinstance(tables, Mapping):
            tables = tables.get(step)
        elif isinstance(tables, Sequence) and not isinstance(tables, str) and step.isdecimal():
            tables = tables[int(step)] if int(step) < len(tables) else None
        else:
            return None
    if not option:
        return tables
    given = re.search(rf"[:,]\s*{re.escape(option)}\s*=([^,]*)", str(tables))
    return given and given[1].strip()

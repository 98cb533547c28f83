"""Errors of the engine and of backends, reported like other errors: at the field of the scenario."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from airpath import _core
from airpath._declared.messages import Fault, scenario_error, show
from airpath.errors import ScenarioError


@dataclass(frozen=True)
class LinkPlace:
    """The position of a link in a scenario."""

    path: str
    """The path of its table."""
    router: str | None
    """The path of the parameters of its router, if not in its `queue`."""


@dataclass(frozen=True)
class Places:
    """The positions of the links and flows of a plan in the scenario, by name."""

    links: dict[str, LinkPlace] = field(default_factory=dict)
    flows: dict[str, str] = field(default_factory=dict)


Part: TypeAlias = Literal["", "link", "flow"]
"""The part of a plan that contains the refused field: the run, a link, or a flow."""


@dataclass(frozen=True)
class Refusal:
    """A refused part of a plan."""

    part: Part
    """The part."""
    name: str
    """The name of that link or flow."""
    where: str
    """The field in its part of the plan, as named by the component; empty for the part as a whole."""
    problem: str
    """The problem, and what is accepted."""
    found: Any = None
    """The refused value, if it is not in the scenario."""


def refused(error: _core.PlanError, places: Places, tables: Mapping[str, Any], source: str) -> ScenarioError:
    """Return the error for a plan that the engine refuses.

    Parameters
    ----------
    error
        The error of the engine.
    places
        The positions of links and flows.
    tables
        The scenario as written.
    source
        The name of the scenario in messages.
    """
    message, *rest = error.args
    if not rest:
        return scenario_error(source, [Fault("", message)])
    part, name, where, number, problem = rest
    return refusal_error(Refusal(part, name, where, problem, number), places, tables, source)


def refusal_error(refusal: Refusal, places: Places, tables: Mapping[str, Any], source: str) -> ScenarioError:
    """Return the error for a refusal; `places`, `tables` and `source` as for `refused`."""
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
    """Return the possible paths of a field of a link, the most likely one first."""
    table, _, key = where.rpartition(".")
    if place.router is not None and table in ("queue.protocol", "queue.source"):
        if key == "kind":  # a scheme selected it
            return [f"{place.router.removesuffix('.parameters').removesuffix('.scheme')}.scheme"]
        return _of_parameters(place.router, key)
    return [".".join(filter(None, (place.path, table, key)))]


def _of_flow(path: str, where: str) -> list[str]:
    """Return the possible paths of a field of a flow."""
    table, _, key = where.partition(".")
    match table:
        case "":
            return [path]
        case "transport":  # settings that a flow lacks are those of all flows
            return [f"{path}.{where}", where]
        case "controller" if not key:
            return [f"{path}.parameters", f"{path}.scheme"]
        case "controller":
            return _of_parameters(f"{path}.parameters", key)
        case _:
            return [f"{path}.{where}"]


def _of_parameters(path: str, key: str) -> list[str]:
    """Return the possible paths of a parameter of a scheme: its table, or the options of the scheme."""
    if path.endswith(".scheme"):
        return [f"{path}:{key}"]
    return [f"{path}.{key}", f"{path.removesuffix('.parameters')}.scheme:{key}"]


def _written(tables: Any, path: str) -> Any:
    """Return the value at a path; `None` if there is none. `scheme:key` is an option of a scheme."""
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

"""Schemes, estimators and queues from user files."""

import functools
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from airpath._declared.declarations import add
from airpath._declared.tables import Parameters, table
from airpath.errors import UsageError
from airpath.plugins.loaded_file import KINDS
from airpath.plugins.loading import Plugin, load
from airpath.plugins.specs import Spec
from airpath.schemes.estimators import Estimator
from airpath.schemes.labels import LOOKS
from airpath.schemes.router_assisted import FAMILIES, Source, compose
from airpath.schemes.scheme import Scheme, controller_plan
from airpath.schemes.westwood import over_estimator

_estimators: Final[dict[str, int]] = {}
"""Index of each estimator in the order of first use, for colours."""


def plugin_scheme(spec: Spec) -> Scheme:
    """Return the scheme in a user file, without options.

    A controller is a scheme, an ACK-rate estimator becomes Westwood over it, and a capacity source becomes
    that of a router-assisted family. A library with both a controller and an estimator is the controller.

    Raises
    ------
    UsageError
        If it cannot be loaded (`airpath.plugins.loading.load`), or is not a scheme.
    """
    if spec.family:
        return _router_assisted(_load_as("capacity-source", spec), spec.family)
    plugin = load(spec, "controller", "ack-rate")
    if plugin.kind == "queue":
        raise UsageError(f"{plugin.id} is a queue discipline; accepted: --queue {plugin.id}")
    if plugin.kind == "capacity-source":
        raise UsageError(f"{plugin.id} is a capacity source; accepted: xcp:source={plugin.id}")
    return _controller(plugin) if plugin.kind == "controller" else _westwood(plugin)


def plugin_estimator(spec: Spec) -> Estimator:
    """Return the ACK-rate estimator in a user file, without options.

    Raises
    ------
    UsageError
        If it cannot be loaded, or is another component.
    """
    return _estimator(_load_as("ack-rate", spec))


def table_of_user(kind: str, name: str, more: Mapping[str, Any]) -> Parameters:
    """Return the table of a user component in a scenario.

    Parameters
    ----------
    kind
        Kind of the component.
    name
        Value of `kind` in a scenario: a file and its class.
    more
        The schemas of further keys.

    Raises
    ------
    UsageError
        If it cannot be loaded, or is another component.
    """
    spec = Spec.parse(name)
    assert spec is not None
    plugin = _load_as(kind, spec)
    _declare(plugin)
    own = {"oneOf": [{"const": plugin.id}], "description": "The class."}
    return table(kind, plugin.id, base=Parameters({"kind": own, **more}), title=plugin.schema["title"])


def _load_as(kind: str, spec: Spec) -> Plugin:
    plugin = load(spec, kind)
    if plugin.kind != kind:
        raise UsageError(f"{plugin.id} is {KINDS[plugin.kind]}; accepted: {KINDS[kind]}")
    return plugin


def _declare(plugin: Plugin) -> None:
    add(plugin.kind, plugin.id, plugin.schema)


@functools.cache
def _controller(plugin: Plugin) -> Scheme:
    _declare(plugin)
    colour, marker = LOOKS[0]
    return Scheme(
        id=plugin.id,
        title=plugin.schema["title"],
        description=plugin.schema["description"],
        colour=colour,
        marker=marker,
        controller=plugin.id,
        parameters=table("controller", plugin.id),
        build=controller_plan,
        transport=plugin.transport,
    )


@functools.cache
def _estimator(plugin: Plugin) -> Estimator:
    _declare(plugin)
    colour, _ = LOOKS[_estimators.setdefault(plugin.id, len(_estimators)) % len(LOOKS)]
    return Estimator(
        id=plugin.id,
        title=plugin.schema["title"],
        description=plugin.schema["description"],
        colour=colour,
        parameters=table("ack-rate", plugin.id),
    )


@functools.cache
def _westwood(plugin: Plugin) -> Scheme:
    _, marker = LOOKS[0]
    description = f"Westwood over {plugin.schema['title']}: {plugin.schema['description']}"
    return over_estimator(_estimator(plugin), marker, description)


@functools.cache
def _router_assisted(plugin: Plugin, name: str) -> Scheme:
    _declare(plugin)
    family = next((family for family in FAMILIES if family.id == name), None)
    if family is None:
        accepted = ", ".join(family.id for family in FAMILIES)
        raise UsageError(f'"{name}" has no capacity source; accepted: {accepted}')
    colour, marker = LOOKS[0]
    title, description = plugin.schema["title"], plugin.schema["description"]
    source = Source(plugin.id, title, description, table("capacity-source", plugin.id), marker)
    return compose(
        replace(family, colours={**family.colours, plugin.id: colour}),
        source,
        id=f"{name}:source={plugin.id}",
        aliases=(),
    )

"""Queues with active management: how they stand in a plan."""

from collections.abc import Callable, Mapping
from math import exp
from types import MappingProxyType
from typing import Any, Final

from airpath.scenario.amounts import LinkFigures
from airpath.scenario.managed_queues import ManagedQueue, RedQueue, RemQueue
from airpath.scenario.messages import FieldError

RED_WEIGHT: Final = 0.002
"""The weight that Floyd and Jacobson (1993) recommend."""
RED_LEAST_MINIMUM: Final = 5.0
"""Packets below which automatic thresholds do not go (Floyd et al. 2001, section 4; ns-2.35)."""
RED_TARGET_DELAY_S: Final = 0.005
"""Queueing delay that automatic thresholds aim at (the same)."""


def management_plan(queue: ManagedQueue, link: LinkFigures) -> dict[str, Any]:
    """Return the management of a queue as in a plan.

    Raises
    ------
    FieldError
        If a parameter does not fit the others or the link.
    """
    return _PLANS[type(queue)](queue, link, f"{link.draft.path}.queue")


def _red(queue: RedQueue, link: LinkFigures, path: str) -> dict[str, Any]:
    packet = queue.packet or link.packet_bytes
    packets_per_s = _capacity(queue.capacity, link, path) / 8 / packet
    minimum = (
        max(RED_LEAST_MINIMUM, RED_TARGET_DELAY_S * packets_per_s / 2)
        if queue.minimum is None
        else link.packets_of(queue.minimum, packet, f"{path}.minimum")
    )
    maximum = (
        3 * minimum if queue.maximum is None else link.packets_of(queue.maximum, packet, f"{path}.maximum")
    )
    if maximum <= minimum:
        raise FieldError(
            f"{path}.maximum",
            f"comes to {maximum:g} packets, which is not above the minimum of {minimum:g} packets",
        )
    weight = queue.weight
    if weight is None:
        weight = 1 - exp(-1 / packets_per_s) if queue.adaptive else RED_WEIGHT
    return {
        "kind": "red",
        "unit": queue.unit,
        "minimum": minimum,
        "maximum": maximum,
        "max_probability": float(queue.max_probability),
        "weight": float(weight),
        "gentle": queue.gentle,
        "wait": queue.wait,
        "adaptive": queue.adaptive,
        "ecn": queue.ecn,
        "mark_limit": float(queue.mark_limit),
        "packet_bytes": packet,
        "packet_time_ns": max(1, round(1e9 / packets_per_s)),
    }


def _rem(queue: RemQueue, link: LinkFigures, path: str) -> dict[str, Any]:
    packet = queue.packet or link.packet_bytes
    response = "drop" if not queue.ecn else "mark" if queue.unmarkable == "drop" else "mark-only"
    return {
        "kind": "rem",
        "unit": queue.unit,
        "capacity_bps": _capacity(queue.capacity, link, path),
        "interval_ns": queue.interval,
        "gamma": float(queue.gamma),
        "alpha": float(queue.alpha),
        "phi": float(queue.phi),
        "target": link.packets_of(queue.target, packet, f"{path}.target"),
        "response": response,
        "packet_bytes": packet,
    }


_PLANS: Mapping[type, Callable[[Any, LinkFigures, str], dict[str, Any]]] = MappingProxyType(
    {RedQueue: _red, RemQueue: _rem}
)
"""How the queue of each table stands in a plan."""


def _capacity(given: int | None, link: LinkFigures, path: str) -> int:
    """Return the capacity that was given, else the mean rate of the link."""
    capacity = given or round(link.draft.mean_bps or 0)
    if capacity == 0:
        raise FieldError(f"{path}.capacity", "required: the mean rate of the link is not known")
    return capacity

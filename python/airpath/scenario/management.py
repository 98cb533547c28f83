"""Queues with active management, and schedulers: how they stand in a plan."""

from collections.abc import Callable, Mapping, Sequence
from math import exp
from types import MappingProxyType
from typing import Any, Final

from airpath.declared import plan_values
from airpath.errors import UsageError
from airpath.messages import FieldError
from airpath.nearest import suggestion
from airpath.scenario.amounts import LinkFigures
from airpath.scenario.managed_queues import (
    AvqQueue,
    CodelQueue,
    DrrQueue,
    DualPi2Queue,
    FqCodelQueue,
    ManagedQueue,
    PieQueue,
    PriorityQueue,
    RedQueue,
    RemQueue,
)
from airpath.units import AmountUnit

RED_WEIGHT: Final = 0.002
"""The weight that Floyd and Jacobson (1993) recommend."""
RED_LEAST_MINIMUM: Final = 5.0
"""Packets below which automatic thresholds do not go (Floyd et al. 2001, section 4; ns-2.35)."""
RED_TARGET_DELAY_S: Final = 0.005
"""Queueing delay that automatic thresholds aim at (the same)."""
PIE_MEASURED_BYTES: Final = 16_384
"""`DQ_THRESHOLD` of PIE: with less behind a packet that leaves no measurement begins (RFC 8033)."""


def management_plan(queue: ManagedQueue, link: LinkFigures) -> dict[str, Any]:
    """Return the management of a queue as in a plan.

    Raises
    ------
    FieldError
        If a parameter does not fit the others or the link.
    """
    return _PLANS[type(queue)](queue, link, f"{link.draft.path}.queue")


def _red(queue: RedQueue, link: LinkFigures, path: str) -> dict[str, Any]:
    _refuse_without_ecn(queue, "mark_limit", path)
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
            f"is {maximum:g} packets, which is not above the minimum of {minimum:g} packets",
        )
    if queue.limit.unit is not AmountUnit.UNLIMITED:
        room = link.packets_of(queue.limit, packet, f"{path}.limit")
        if minimum >= room:
            raise FieldError(
                f"{path}.minimum",
                f"is {minimum:g} packets, and the limit {room:g}: no packet would be marked or dropped before"
                " the queue is full",
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
    _refuse_without_ecn(queue, "unmarkable", path)
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


def _avq(queue: AvqQueue, link: LinkFigures, path: str) -> dict[str, Any]:
    if queue.limit.unit is AmountUnit.UNLIMITED:
        raise FieldError(f"{path}.limit", 'found "unlimited"; the virtual queue of avq needs a buffer')
    return {
        "kind": "avq",
        "capacity_bps": _capacity(queue.capacity, link, path),
        "alpha": float(queue.alpha),
        "gamma": float(queue.gamma),
        "initial_share": float(queue.initial_share),
        "ecn": queue.ecn,
    }


def _declared(queue: Any, link: LinkFigures, path: str) -> dict[str, Any]:
    try:
        return plan_values(queue, {"packet": link.packet_bytes, "mean_bps": link.draft.mean_bps})
    except UsageError as error:
        raise FieldError(path, str(error)) from None


def _codel(queue: FqCodelQueue, link: LinkFigures, _path: str) -> dict[str, Any]:
    return {
        "kind": queue.kind,
        "target_ns": queue.target,
        "interval_ns": queue.interval,
        "packet_bytes": queue.packet or link.packet_bytes,
        "ecn": queue.ecn,
    }


def _fq_codel(queue: FqCodelQueue, link: LinkFigures, path: str) -> dict[str, Any]:
    quantum = queue.quantum or link.packet_bytes
    return {**_codel(queue, link, path), "quantum_bytes": quantum, "queues": queue.queues}


def _pie(queue: PieQueue, link: LinkFigures, path: str) -> dict[str, Any]:
    _refuse_without_ecn(queue, "mark_limit", path)
    packet = queue.packet or link.packet_bytes
    if queue.delay == "departure-rate" and queue.limit.unit is not AmountUnit.UNLIMITED:
        room = link.packets_of(queue.limit, packet, f"{path}.limit") * packet
        if room < PIE_MEASURED_BYTES + packet:
            raise FieldError(
                f"{path}.delay",
                f"the departure rate is measured while {PIE_MEASURED_BYTES + packet} bytes wait, and the"
                f" limit comes to {room:.0f} bytes; accepted: timestamps",
            )
    return {
        "kind": "pie",
        "target_ns": queue.target,
        "update_ns": queue.update_interval,
        "alpha": float(queue.alpha),
        "beta": float(queue.beta),
        "burst_ns": queue.max_burst,
        "delay": queue.delay,
        "derandomise": queue.derandomise,
        "ecn": queue.ecn,
        "mark_limit": float(queue.mark_limit),
        "packet_bytes": packet,
    }


def _dual_pi2(queue: DualPi2Queue, link: LinkFigures, _path: str) -> dict[str, Any]:
    return {
        "kind": "dual-pi2",
        "target_ns": queue.target,
        "update_ns": queue.update_interval,
        "alpha": float(queue.alpha),
        "beta": float(queue.beta),
        "coupling": float(queue.coupling),
        "step_ns": queue.step,
        "classic_share": float(queue.classic_share),
        "packet_bytes": queue.packet or link.packet_bytes,
    }


def _priority(queue: PriorityQueue, link: LinkFigures, path: str) -> dict[str, Any]:
    class_of_flow = _classes(queue.classes, link.flow_entries, f"{path}.classes")
    return {"kind": "priority", "classes": len(queue.classes) + 1, "class_of_flow": class_of_flow}


def _drr(queue: DrrQueue, link: LinkFigures, path: str) -> dict[str, Any]:
    quantum = queue.quantum or link.packet_bytes
    if queue.weights is None:
        return {"kind": "drr", "quantum_bytes": quantum, "queues": queue.queues}
    if "queues" in queue.model_fields_set:
        raise FieldError(f"{path}.queues", 'has no effect with "weights", which give each entry one queue')
    weights = [*queue.weights.values(), 1]
    return {
        "kind": "weighted-drr",
        "quanta_bytes": [quantum * weight for weight in weights],
        "class_of_flow": _classes([[name] for name in queue.weights], link.flow_entries, f"{path}.weights"),
    }


_PLANS: Mapping[type, Callable[[Any, LinkFigures, str], dict[str, Any]]] = MappingProxyType(
    {
        RedQueue: _red,
        RemQueue: _rem,
        AvqQueue: _avq,
        CodelQueue: _declared,
        FqCodelQueue: _fq_codel,
        PieQueue: _pie,
        DualPi2Queue: _dual_pi2,
        PriorityQueue: _priority,
        DrrQueue: _drr,
    }
)
"""How the queue of each table stands in a plan."""


def _refuse_without_ecn(queue: RedQueue | RemQueue | PieQueue, key: str, path: str) -> None:
    if key in queue.model_fields_set and not queue.ecn:
        raise FieldError(f"{path}.{key}", 'has no effect with "ecn = false", which disables marks')


def _classes(classes: Sequence[Sequence[str]], entries: Sequence[str], path: str) -> list[int]:
    """Return the class of each flow from that of its entry; one more class has those that are not named."""
    class_of_entry: dict[str, int] = {}
    for number, names in enumerate(classes):
        for name in names:
            if name not in entries:
                raise FieldError(path, f'there is no flow "{name}"; {suggestion(name, set(entries))}')
            if name in class_of_entry:
                raise FieldError(path, f'names the flow "{name}" twice')
            class_of_entry[name] = number
    return [class_of_entry.get(entry, len(classes)) for entry in entries]


def _capacity(given: int | None, link: LinkFigures, path: str) -> int:
    """Return the capacity that was given, else the mean rate of the link."""
    capacity = given or round(link.draft.mean_bps or 0)
    if capacity == 0:
        raise FieldError(f"{path}.capacity", "required: the mean rate of the link is not known")
    return capacity

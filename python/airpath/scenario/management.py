"""Queues with active management, and schedulers: their form in a plan."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from airpath._declared.messages import FieldError
from airpath._declared.tables import ParameterError, Values, plan_values
from airpath._nearest import suggestion
from airpath.scenario.amounts import LinkFigures
from airpath.units import AmountUnit

PIE_MEASURED_BYTES: Final = 16_384
"""`DQ_THRESHOLD` of PIE: no measurement begins with less backlog behind a departing packet (RFC 8033)."""


def management_plan(queue: Values, link: LinkFigures) -> dict[str, Any]:
    """Return the management of a queue as in a plan.

    Raises
    ------
    FieldError
        If a parameter does not fit the others or the link.
    """
    return _PLANS.get(queue["kind"], _declared)(queue, link, f"{link.draft.path}.queue")


def _declared(
    queue: Values, link: LinkFigures, path: str, name: str | None = None, **resolved: Any
) -> dict[str, Any]:
    """Return a queue as in a plan; `name` is the id of its component, if it differs from its kind."""
    context = {"packet": link.packet_bytes, "mean_bps": link.draft.mean_bps}
    component = ("queue", name or queue["kind"])
    try:
        return plan_values(queue, context, component, _thresholds(queue, link, path) | resolved)
    except ParameterError as error:
        raise FieldError(".".join(filter(None, (path, error.parameter))), error.problem) from None


def _thresholds(queue: Values, link: LinkFigures, path: str) -> dict[str, float]:
    """Return the given thresholds of a queue, in packets."""
    return {
        key: link.packets_of(amount, queue["packet"] or link.packet_bytes, f"{path}.{key}")
        for key, amount in queue.given.items()
        if queue.table.keys[key].get("x-unit") == "threshold"
    }


def _red(queue: Values, link: LinkFigures, path: str) -> dict[str, Any]:
    _refuse_without_ecn(queue, "mark_limit", path)
    plan = _declared(queue, link, path)
    if queue["limit"].unit is not AmountUnit.UNLIMITED:
        room = link.packets_of(queue["limit"], plan["packet"], f"{path}.limit")
        if plan["minimum"] >= room:
            raise FieldError(
                f"{path}.minimum",
                f"is {plan['minimum']:g} packets, and the limit {room:g}: no packet would be marked or"
                " dropped before the queue is full",
            )
    return plan


def _rem(queue: Values, link: LinkFigures, path: str) -> dict[str, Any]:
    _refuse_without_ecn(queue, "unmarkable", path)
    return _declared(queue, link, path)


def _avq(queue: Values, link: LinkFigures, path: str) -> dict[str, Any]:
    if queue["limit"].unit is AmountUnit.UNLIMITED:
        raise FieldError(f"{path}.limit", 'found "unlimited"; the virtual queue of avq needs a buffer')
    return _declared(queue, link, path)


def _pie(queue: Values, link: LinkFigures, path: str) -> dict[str, Any]:
    _refuse_without_ecn(queue, "mark_limit", path)
    plan = _declared(queue, link, path)
    if queue["delay"] == "departure-rate" and queue["limit"].unit is not AmountUnit.UNLIMITED:
        packet = plan["packet"]
        room = link.packets_of(queue["limit"], packet, f"{path}.limit") * packet
        if room < PIE_MEASURED_BYTES + packet:
            raise FieldError(
                f"{path}.delay",
                f"the departure rate is measured while {PIE_MEASURED_BYTES + packet} bytes wait, and the"
                f" limit comes to {room:.0f} bytes; accepted: timestamps",
            )
    return plan


def _policer(queue: Values, link: LinkFigures, path: str) -> dict[str, Any]:
    plan = _declared(queue, link, path)
    if plan["burst"] < link.packet_bytes:
        raise FieldError(
            f"{path}.burst",
            f"is {plan['burst']} bytes, less than the largest packet of {link.packet_bytes} bytes: no such"
            " packet would pass",
        )
    return plan


def _priority(queue: Values, link: LinkFigures, path: str) -> dict[str, Any]:
    class_of_flow = _classes(queue["classes"], link.flow_entries, f"{path}.classes")
    return _declared(queue, link, path, classes=len(queue["classes"]) + 1, class_of_flow=class_of_flow)


def _drr(queue: Values, link: LinkFigures, path: str) -> dict[str, Any]:
    if queue["weights"] is None:
        return _declared(queue, link, path)
    if "queues" in queue.given:
        raise FieldError(f"{path}.queues", 'has no effect with "weights", which give each entry one queue')
    quantum = queue["quantum"] or link.packet_bytes
    quanta = [quantum * weight for weight in (*queue["weights"].values(), 1)]
    classes = _classes([[name] for name in queue["weights"]], link.flow_entries, f"{path}.weights")
    return _declared(queue, link, path, "weighted-drr", quanta=quanta, class_of_flow=classes)


_PLANS: Final[Mapping[str, Callable[[Values, LinkFigures, str], dict[str, Any]]]] = MappingProxyType(
    {
        "red": _red,
        "rem": _rem,
        "avq": _avq,
        "pie": _pie,
        "policer": _policer,
        "priority": _priority,
        "drr": _drr,
    }
)
"""Conversion to a plan by kind, for queues with more than their own values."""


def _refuse_without_ecn(queue: Values, key: str, path: str) -> None:
    if key in queue.given and not queue["ecn"]:
        raise FieldError(f"{path}.{key}", 'has no effect with "ecn = false", which disables marks')


def _classes(classes: Sequence[Sequence[str]], entries: Sequence[str], path: str) -> list[int]:
    """Return the class of each flow from that of its entry; unnamed flows form one more class."""
    class_of_entry: dict[str, int] = {}
    for number, names in enumerate(classes):
        for name in names:
            if name not in entries:
                raise FieldError(path, f'there is no flow "{name}"; {suggestion(name, set(entries))}')
            if name in class_of_entry:
                raise FieldError(path, f'names the flow "{name}" twice')
            class_of_entry[name] = number
    return [class_of_entry.get(entry, len(classes)) for entry in entries]

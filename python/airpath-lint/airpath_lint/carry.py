"""The scenario equivalent to a configuration, and the parts of the configuration that it lacks."""

import math
from dataclasses import dataclass
from typing import Any, Final

from airpath.errors import LintError
from airpath.scenario import Scenario
from airpath.units import format_duration, format_rate, format_size
from airpath_lint.amounts import PACKET, Lane
from airpath_lint.linting import Linted
from airpath_lint.losses import FourStateLoss, GilbertElliottLoss, RandomLoss
from airpath_lint.options import Managed, Tbf

LEAST: Final = 1e-12
"""The smallest probability of leaving a state that scenarios accept."""
_DURATION: Final = "30s"


@dataclass(frozen=True, slots=True)
class Carried:
    """A scenario made from a configuration.

    Attributes
    ----------
    scenario
        One flow over the link.
    toml
        The scenario as a file, with the missing parts as comments.
    missing
        The parts that could not be carried over.
    """

    scenario: Scenario
    toml: str
    missing: tuple[str, ...]


def carry_over(linted: Linted) -> Carried:
    """Return the scenario equivalent to a configuration.

    The first path with a rate limit becomes the bottleneck, the first path of another device the reverse
    direction.

    Raises
    ------
    LintError
        If nothing in the configuration can be converted to a link.
    ScenarioError
        If scenarios do not accept a value of the configuration.
    """
    lanes = list(linted.directions.lanes)
    forward = next((lane for lane in lanes if lane.rate_bps), None) or next(iter(lanes), None)
    if forward is None:
        raise LintError(f"{', '.join(linted.sources)}: no queueing discipline can be converted to a link")
    back = next((lane for lane in lanes if lane.tree.device != forward.tree.device), None)
    missing = [f"{lane.name}: further path" for lane in lanes if lane is not forward and lane is not back]
    bottleneck = _link(forward, missing)
    reverse: dict[str, Any] = (
        {"rate": "unlimited", "delay": "0s", "loss": 0.0} if back is None else _link(back, missing)
    )
    # Keys that the reverse direction lacks default to those of the forward direction.
    absent: dict[str, Any] = {"jitter": "0s"} if "jitter" in bottleneck else {}
    absent |= {"queue": {"kind": "drop-tail", "limit": "unlimited"}} if "queue" in bottleneck else {}
    reverse = absent | reverse
    missing += [f"{tree.device}: ingress rules" for tree in linted.trees if tree.filters]
    tables = {
        "name": "linted",
        "description": (
            f"Equivalent of {', '.join(linted.sources)}: {forward.name}, reverse"
            f" {back.name if back else 'none'}."
        ),
        "duration": _DURATION,
        "topology": {"kind": "dumbbell", "bottleneck": bottleneck, "reverse": reverse},
        "flows": [{"name": "flow", "scheme": "cubic"}],
    }
    scenario = Scenario.from_dict(tables)
    head = ["Made by airpath lint; the flow is an example."]
    head += [f"Not carried over: {one}." for one in missing]
    comments = "".join(f"# {' '.join(line.split())}\n" for line in head)
    return Carried(scenario, comments + scenario.to_toml(), tuple(missing))


def _link(lane: Lane, missing: list[str]) -> dict[str, Any]:
    link: dict[str, Any] = {"rate": format_rate(lane.rate_bps) if lane.rate_bps else "unlimited"}
    link |= _delay(lane, missing)
    link["loss"] = _loss(lane, missing)
    if lane.rate_bps is not None:
        link["queue"] = _queue(lane, missing)
    for one, netem in lane.netems:
        where = f"{lane.name}: netem {one.handle}".rstrip()
        for name, value in (
            ("duplicate", netem.duplicate),
            ("corrupt", netem.corrupt),
            ("reorder", netem.reorder),
        ):
            if value:
                missing.append(f"{where} {name} {100 * value:g} %")
        if netem.slotted:
            missing.append(f"{where} slot")
        if netem.ecn:
            missing.append(f"{where} ecn: packets are lost instead of marked")
    bursts = [one.options.burst for one in lane.disciplines if isinstance(one.options, Tbf)]
    missing += [f"{lane.name}: tbf's burst of {format_size(one)}" for one in bursts if one > 2 * PACKET]
    return link


def _delay(lane: Lane, missing: list[str]) -> dict[str, Any]:
    jitters = [netem for _, netem in lane.netems if netem.jitter_ns]
    if not jitters:
        return {"delay": format_duration(lane.delay_ns)}
    if len(jitters) > 1 or jitters[0].distribution:
        what = jitters[0].distribution or "several"
        missing.append(f"{lane.name}: jitter ({what})")
        return {"delay": format_duration(lane.delay_ns)}
    netem = jitters[0]
    if netem.delay_correlation:
        missing.append(f"{lane.name}: the correlation of its jitter")
    if not netem.rate_bps:
        missing.append(f"{lane.name}: reordering by jitter; packets stay in order instead")
    least = max(lane.delay_ns - netem.jitter_ns, 0)
    most = lane.delay_ns + netem.jitter_ns
    if netem.jitter_ns > lane.delay_ns:
        missing.append(f"{lane.name}: delays below zero")
    return {
        "delay": format_duration(least),
        "jitter": {"uniform": [format_duration(0), format_duration(most - least)]},
    }


def _loss(lane: Lane, missing: list[str]) -> float | dict[str, Any]:
    if len(lane.losses) > 1 or any(math.isnan(loss.mean_loss) for loss in lane.losses):
        missing.append(f"{lane.name}: its loss models; no packet is lost")
        return 0.0
    for loss in lane.losses:
        match loss:
            case RandomLoss():
                if loss.correlation:
                    missing.append(f"{lane.name}: the correlation of its losses; the mean is kept")
                return loss.mean_loss
            case GilbertElliottLoss() if loss.r >= LEAST and (loss.p == 0 or loss.p >= LEAST):
                return {
                    "kind": "netem-gemodel",
                    "p": loss.p,
                    "r": loss.r,
                    "loss_bad": loss.loss_bad,
                    "loss_good": loss.loss_good,
                }
            case FourStateLoss() if 0 < loss.mean_loss < 1 and loss.mean_burst * (1 - loss.mean_loss) >= 1:
                missing.append(
                    f"{lane.name}: its four states; replaced by two with the same mean loss and burst"
                )
                return {"kind": "gilbert", "mean_loss": loss.mean_loss, "mean_burst": loss.mean_burst}
            case _:
                missing.append(
                    f"{lane.name}: its loss model; replaced by independent losses with the same mean"
                )
                return loss.mean_loss
    return 0.0


def _queue(lane: Lane, missing: list[str]) -> dict[str, Any]:
    size = lane.buffer_bytes
    last = lane.disciplines[-1]
    in_bytes = isinstance(last.options, Tbf) or (
        isinstance(last.options, Managed) and last.options.limit_bytes
    )
    if size is None:
        limit = "unlimited"
    else:
        limit = format_size(max(size, PACKET)) if in_bytes else f"{max(size // PACKET, 1)} packets"
    managed = lane.aqm
    if managed is None or not isinstance(managed.options, Managed):
        if last.kind not in ("netem", "tbf", "htb", "hfsc", "pfifo", "bfifo", "pfifo_fast"):
            missing.append(f"{lane.name}: {last.kind}; replaced by drop-tail")
        return {"kind": "drop-tail", "limit": limit}
    one = managed.options
    queue: dict[str, Any] = {"limit": limit}
    match managed.kind:
        case "codel" | "fq_codel":
            queue |= {
                "kind": managed.kind.replace("_", "-"),
                "interval": format_duration(one.interval_ns or 1),
            }
            if managed.kind == "fq_codel" and one.flows:
                queue["queues"] = one.flows
            if managed.kind == "fq_codel" and one.quantum:
                queue["quantum"] = format_size(one.quantum)
        case "pie":
            queue |= {"kind": "pie", "update_interval": format_duration(one.interval_ns or 1)}
        case "red" if one.minimum and one.maximum:
            queue |= {
                "kind": "red",
                "unit": "bytes",
                "minimum": format_size(one.minimum),
                "maximum": format_size(one.maximum),
                "adaptive": one.adaptive,
            }
            if one.probability:
                queue["max_probability"] = one.probability
        case _:
            missing.append(f"{lane.name}: {managed.kind}; replaced by drop-tail")
            return {"kind": "drop-tail", "limit": limit}
    if one.target_ns is not None:
        queue["target"] = format_duration(one.target_ns)
    queue["ecn"] = bool(one.ecn)
    return queue

"""Signal delay, and Sprout's end-to-end and self-inflicted delay (Winstein et al., NSDI 2013), of one run."""

import math
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from airpath.metrics.capacity import changes_of
from airpath.metrics.signal_delay import Instants, signal_delay
from airpath.metrics.time_bins import Plan

Columns = Mapping[str, npt.NDArray[Any]]
Numbers = npt.NDArray[np.float64]

FINEST_S = 0.01
"""Longest interval within which the capacity may change, in seconds; it limits the error of the bound."""

MOST_PACKETS = 20_000_000
"""No bound is computed if the link could carry more packets than this: each takes some bytes of memory."""

NAMES = ("signal_delay_p95_ms", "end_to_end_delay_p95_ms", "self_inflicted_delay_ms")


def end_to_end_metrics(
    plan: Plan,
    packets: Columns | None,
    link_series: Columns,
    sources: npt.NDArray[np.bool_],
    link: int,
    from_s: float,
) -> dict[str, float]:
    """Compute signal delay, end-to-end delay and self-inflicted delay of the packets under test.

    Parameters
    ----------
    plan
        The resolved scenario of the run.
    packets
        The columns of the packets under test; ``None`` if no packets were recorded.
    link_series
        The columns of the table of this name.
    sources
        Mask of the plan's sources that are under test.
    link
        Index of the link under test.
    from_s
        Only packets received after this time count, in seconds.

    Returns
    -------
    dict of str to float
        The metrics of `NAMES`, in ms; NaN if not defined.
    """
    metrics = dict.fromkeys(NAMES, math.nan)
    if packets is None:
        return metrics
    sent_ns, received_ns = _nanoseconds(packets["sent_s"]), _nanoseconds(packets["received_s"])
    counts = received_ns > round(from_s * 1e9)
    sent_ns, received_ns = sent_ns[counts], received_ns[counts]
    metrics["signal_delay_p95_ms"] = signal_delay(sent_ns, received_ns) * 1e3
    if sent_ns.size < 2:
        return metrics
    span = int(received_ns.min()), int(received_ns.max())
    age_ms = age(sent_ns, received_ns, span) * 1e3
    metrics["end_to_end_delay_p95_ms"] = age_ms
    best = omniscient(plan, link_series, sources, link, int(packets["bytes"].max()))
    if best is not None:
        # Rounded to the picosecond, because conversion to seconds rounds.
        metrics["self_inflicted_delay_ms"] = round(age_ms - age(*best, span) * 1e3, 9)
    return metrics


def age(
    sent_ns: Instants, received_ns: Instants, span_ns: tuple[int, int], percentile: float = 95.0
) -> float:
    """Return Sprout's end-to-end delay: a percentile over time of the age of the newest received packet.

    The age at an instant is the time since the most recently sent of all packets received so far was sent. It
    grows while nothing arrives.

    Parameters
    ----------
    sent_ns, received_ns
        When each packet was sent and received, in nanoseconds, in any order.
    span_ns
        Start and end of the time considered; before the first packet there is no age.
    percentile
        Above 0, at most 100.

    Returns
    -------
    float
        In seconds; NaN if nothing was received before the end.
    """
    order = np.argsort(received_ns, kind="stable")
    newest = np.maximum.accumulate(sent_ns[order])
    begins = np.clip(received_ns[order], *span_ns)
    lengths = np.diff(begins, append=span_ns[1])
    some = lengths > 0
    if not some.any():
        return math.nan
    youngest, lengths = (begins - newest)[some], lengths[some]
    share = math.ceil(percentile * int(lengths.sum()) / 100.0)
    low, high = int(youngest.min()), int((youngest + lengths).max())
    while low < high:
        middle = (low + high) // 2
        if int(np.clip(middle - youngest, 0, lengths).sum()) >= share:
            high = middle
        else:
            low = middle + 1
    return low / 1e9


def omniscient(
    plan: Plan, link_series: Columns, sources: npt.NDArray[np.bool_], link: int, packet_bytes: int
) -> tuple[Instants, Instants] | None:
    """Return the send and arrival times of an omniscient sender; empty if they cannot be computed.

    The sender knows the link's future: each of its packets, of `packet_bytes`, reaches the link when the
    previous one has left. The packets use the whole capacity without waiting. The capacity is that of
    `link_series`, constant within each interval.
    """
    delay_ns = _constant_delay(plan, sources, link, packet_bytes)
    mine = link_series["link"] == link
    ends_s, offered = link_series["time_s"][mine], link_series["offered_bytes"][mine].astype(np.float64)
    if (
        delay_ns is None
        or packet_bytes <= 0
        or not _is_fine(plan, link, ends_s)
        or not np.isfinite(offered).all()
    ):
        return None
    if offered.sum() > MOST_PACKETS * packet_bytes:
        return None
    carried = np.concatenate([[0.0], np.cumsum(offered)])
    ends = np.concatenate([[0.0], ends_s]) * 1e9
    packets = int(carried[-1] / packet_bytes + _ROUNDING)
    edges: Numbers = np.arange(packets + 1) * np.float64(packet_bytes)
    starts = _instants(edges[:-1], carried, ends, "right")
    departs = _instants(edges[1:], carried, ends, "left")
    return starts, departs + delay_ns


_ROUNDING = 1e-6


def _instants(
    amounts: Numbers, carried: Numbers, ends_ns: Numbers, side: Literal["left", "right"]
) -> Instants:
    """Return when each amount has been carried: the first such instant (left), or the last (right)."""
    slack = _ROUNDING if side == "right" else -_ROUNDING
    after = np.clip(np.searchsorted(carried, amounts + slack, side=side), 1, len(carried) - 1)
    before = after - 1
    width = carried[after] - carried[before]
    part = np.divide(amounts - carried[before], width, out=np.ones_like(amounts), where=width > 0)
    instants: Numbers = ends_ns[before] + np.clip(part, 0, 1) * (ends_ns[after] - ends_ns[before])
    return np.rint(instants).astype(np.int64)


def _constant_delay(plan: Plan, sources: npt.NDArray[np.bool_], link: int, packet_bytes: int) -> int | None:
    """Return a packet's delay other than the link's transmission, in ns; `None` if it is not constant."""
    paths = {tuple(flow["path"]) for flow, mine in zip(plan["flows"], sources, strict=True) if mine}
    if len(paths) != 1:
        return None
    total = 0
    for number in paths.pop():
        hop = plan["links"][number]
        delay = hop.get("delay_ns") or {}
        varies = any(hop.get(name) for name in ("loss", "bursts", "arq", "jitter_ns"))
        if varies or delay.get("kind") != "constant":
            return None
        total += int(delay["value"])
        if number == link:
            continue
        if hop["rate"]["kind"] == "constant":
            total += -(-packet_bytes * 8 * 10**9 // int(hop["rate"]["bps"]))
        elif hop["rate"]["kind"] != "unlimited":
            return None
    return total


def _is_fine(plan: Plan, link: int, ends_s: Numbers) -> bool:
    """Return whether the intervals are short enough to show how the capacity changes."""
    rate, interval_ns = plan["links"][link]["rate"], plan["record"]["interval_ns"]
    if not len(ends_s) or rate["kind"] == "unlimited":
        return False
    if interval_ns <= FINEST_S * 1e9:
        return True
    if (changes := changes_of(plan, link)) is None:
        return False
    starts, period = changes
    return all(change % interval_ns == 0 for change in [*starts, period or 0])


def _nanoseconds(time_s: Numbers) -> Instants:
    return np.rint(time_s * 1e9).astype(np.int64)

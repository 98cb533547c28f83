"""Signal delay: the shortest time in which information at a sender can reach the receiver."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

STEP_NS = 1_000_000
"""Interval between messages, in nanoseconds: one millisecond, as in Mahimahi's scripts."""

Instants = npt.NDArray[np.int64]


def signal_delay(sent_ns: Instants, received_ns: Instants, percentile: float = 95.0) -> float:
    """Return a percentile (nearest rank) of the shortest time for a message made at t to be received.

    A message made at t can go with any packet sent at t or later, and arrives with the first of them to
    arrive. If packets do not overtake each other, that is the next packet. t runs in steps of
    `STEP_NS` from the first packet to the last.

    Parameters
    ----------
    sent_ns
        When each packet was sent, in any order, in nanoseconds.
    received_ns
        When it was received, on the same clock. Lost packets are left out.
    percentile
        Above 0, at most 100.

    Returns
    -------
    float
        In seconds; NaN without packets.
    """
    if sent_ns.size == 0:
        return math.nan
    order = np.argsort(sent_ns, kind="stable")
    sent = sent_ns[order]
    earliest = np.minimum.accumulate(received_ns[order][::-1])[::-1]
    # Messages are numbered; each packet carries those made after the previous packet.
    last = (sent - sent[0]) // STEP_NS
    count = np.diff(last, prepend=-1)
    some = count > 0
    least, count = (earliest - sent[0] - last * STEP_NS)[some], count[some]
    # The messages of one packet wait `least`, `least` + one step, and so on, so they need not be stored.
    rank = math.ceil(percentile * int(count.sum()) / 100.0)
    return smallest_reaching(rank, least, count) / 1e9


def smallest_reaching(rank: int, least: npt.NDArray[Any], count: npt.NDArray[Any]) -> int:
    """Return the smallest number that at least `rank` of the values least, least + step, … do not exceed."""
    low, high = int(least.min()), int((least + (count - 1) * STEP_NS).max())
    while low < high:
        middle = (low + high) // 2
        if int(np.clip((middle - least) // STEP_NS + 1, 0, count).sum()) >= rank:
            high = middle
        else:
            low = middle + 1
    return low

"""The base class of queue disciplines in Python."""

import random
from functools import cached_property

from airpath import _core


class Queue(_core.Queue):
    """A queue discipline in Python: subclass it and decide which packet leaves, and which is dropped.

    A subclass defines `enqueue(now, packet)`, which returns whether the packet is accepted, and
    `dequeue(now)`, which returns a waiting packet or `None`; and optionally `start` and `on_timer`.
    `drop(packet)` drops a waiting packet, which must not be returned later. `packet.mark()` marks a packet
    (congestion experienced) and returns whether the packet may be marked. The engine counts the backlog and
    ends the run if a packet leaves twice, or if the backlog exceeds the buffer. `dequeue` is not called while
    the queue is empty. Parameters are annotated class attributes, as in `Controller`.

    `airpath compare cubic --link 20mbps --queue my.py:Mine` uses it.

    Attributes
    ----------
    bytes, packets : int
        The backlog, without the arriving packet.
    limit_bytes, limit_packets : int or None
        The buffer; `None` if there is no such limit.
    next_timer : float or None
        Time of the next call of `on_timer`, s. It is reset to `None` before the call.

    Examples
    --------
    >>> from collections import deque
    >>> class DropTail(airpath.Queue):
    ...     def start(self, facts):
    ...         self.waiting = deque()
    ...
    ...     def enqueue(self, now, packet):
    ...         if not self.fits(packet):
    ...             return False
    ...         self.waiting.append(packet)
    ...         return True
    ...
    ...     def dequeue(self, now):
    ...         return self.waiting.popleft()
    """

    @cached_property
    def random(self) -> random.Random:
        """Random numbers that depend on the seed of the run, unlike those of the module `random`."""
        return random.Random(self.seed)

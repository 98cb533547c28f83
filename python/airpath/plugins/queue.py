"""The base class of queue disciplines in Python."""

import random
from functools import cached_property

from airpath import _core


class Queue(_core.Queue):
    """A queue discipline in Python: subclass it and decide which packet leaves, and which is dropped.

    A subclass defines `enqueue(now, packet)`, which returns whether the packet is accepted, and
    `dequeue(now)`, which returns a packet that waits or `None`; and if it needs them `start` and `on_timer`.
    `drop(packet)` drops a packet that waits; it must not be returned later. `packet.mark()` marks a packet
    (congestion experienced) and returns whether the packet may be marked. The engine counts what waits and
    ends the run if a packet leaves twice, or if more waits than the buffer has. `dequeue` is not called
    while nothing waits. Parameters are annotated class attributes, as those of `Controller`.

    `airpath compare cubic --link 20mbps --queue my.py:Mine` uses it.

    Attributes
    ----------
    bytes, packets : int
        What waits, without the packet that arrives.
    limit_bytes, limit_packets : int or None
        The buffer; `None` if there is no such limit.
    next_timer : float or None
        When `on_timer` is to be called, s. It is `None` again when it is called.

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
        """Random numbers that follow from the seed of the run; those of the module `random` do not."""
        return random.Random(self.seed)

"""The base class of capacity sources in Python."""

from airpath import _core


class CapacitySource(_core.CapacitySource):
    """An estimator of a link's capacity in its router, in Python: subclass it and set the estimate.

    A subclass defines at least one of `on_arrival`, `on_departure` (each with the time in seconds, the size
    of the packet in bytes, and the backlog: `backlog.bytes`, `backlog.packets`) and `on_timer` (time,
    backlog), and optionally `start` and `spare`. The backlog excludes the packet itself. Parameters are
    annotated class attributes, as in `Controller`.

    Any router protocol can use it: `xcp:source=my.py:Mine`.

    Attributes
    ----------
    capacity : float or None
        The estimate, bit/s. Without one, routers assume the input rate.
    probing : float
        The factor by which the protocol multiplies the estimate; 1 at first.
    next_timer : float or None
        Time of the next call of `on_timer`, s. It is reset to `None` before the call.

    Notes
    -----
    `spare(interval)` may return the unused capacity of a control interval of the router and the queue to
    drain, a pair of bit/s and bytes, for sources without an estimate of the capacity. The default is
    `probing * capacity - input_rate` and the queue of the protocol.

    Examples
    --------
    A packet that leaves while others wait shows the rate of the link. The factor on the estimate keeps a
    few packets waiting.

    >>> class Busy(airpath.CapacitySource):
    ...     def start(self, facts):
    ...         self.capacity, self.probing = 100e6, 1.05
    ...         self.last = None
    ...
    ...     def on_departure(self, now, size, backlog):
    ...         if self.last is not None and now > self.last:  # it was backlogged since then
    ...             self.capacity += 0.1 * (8 * size / (now - self.last) - self.capacity)
    ...         self.last = now if backlog.packets else None
    """

"""The base class of congestion controllers in Python, and the types of their parameters."""

import random
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, ClassVar, Final

from annotated_types import Ge, Le

from airpath import _core


@dataclass(frozen=True)
class Unit:
    """The unit in which a plan counts a quantity: `ns`, `bit/s` or `B`."""

    base: str


Share = Annotated[float, Ge(0), Le(1)]
"""A number from 0 to 1."""
Seconds = Annotated[float, Unit("ns")]
"""A time. It may be given as text ("25ms"); the controller has it in seconds."""
BitsPerSecond = Annotated[float, Unit("bit/s")]
"""A rate. It may be given as text ("12mbps"); the controller has it in bits per second."""
Bytes = Annotated[int, Unit("B")]
"""A size. It may be given as text ("64kB"); the controller has it in bytes."""


RULES: Final = ("rfc5681", "rfc5681-until-recovery-ends", "faster", "routers", "model")
"""The rules for windows that `airpath conform` knows (`Follows` of the crate `airpath-conformance`)."""


class Controller(_core.Controller):
    """A congestion controller in Python: subclass it and set its window and pacing rate.

    A subclass defines `on_ack` and `on_congestion`, and optionally `start`, `on_sent`, `on_spurious` and
    `on_timer`. In these methods it sets its attributes; the engine reads them after each call. Times are in
    seconds, amounts in bytes of payload, rates in bits per second of payload.

    Annotated class attributes with a default are parameters. Their types are `bool`, `int`, `float`,
    ``Literal["a", "b"]``, `Share`, `Seconds`, `BitsPerSecond`, `Bytes`, and numbers with bounds
    (``Annotated[float, Gt(0)]``, from the package `annotated_types`). A docstring below a parameter is its
    help text.

    Attributes
    ----------
    window : float
        Limit of the payload in flight. Less than one segment counts as one segment. Its first value is the
        initial window of the transport.
    pacing_rate : float or None
        The rate at which packets leave; if `None`, the transport paces by window and smoothed RTT if the
        scenario requests it.
    quantum : float or None
        Limit of the payload that leaves back to back if packets are paced; `None` is two segments.
    ssthresh : float or None
        The slow-start threshold, for tables and figures: below it the controller is in slow start.
    next_timer : float or None
        Time of the next call of `on_timer`. It is reset to `None` before the call.
    follows : str
        An attribute of the class: the rules of good sense for its window that `airpath conform` checks.
        ``"rfc5681"`` (default); ``"rfc5681-until-recovery-ends"``, if the window is set to a measured value
        when a recovery ends; ``"faster"``, if one acknowledgment may increase the window by more than it
        acknowledges; ``"routers"``, if the feedback of routers sets the window in recovery; or ``"model"``,
        if the window follows a model of the path.

    Examples
    --------
    >>> class Halving(airpath.Controller):
    ...     keep: airpath.Share = 0.5
    ...
    ...     def on_ack(self, ack):
    ...         if ack.window_limited and not ack.in_recovery:
    ...             self.window += ack.mss * ack.acked / self.window
    ...
    ...     def on_congestion(self, signal):
    ...         self.window = self.keep * signal.flight_size
    """

    follows: ClassVar[str] = RULES[0]

    @cached_property
    def random(self) -> random.Random:
        """Random numbers that depend on the seed of the run, unlike those of the module `random`."""
        return random.Random(self.seed)

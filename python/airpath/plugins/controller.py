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
    """A congestion controller in Python: subclass it and set what may be sent.

    A subclass defines `on_ack` and `on_congestion`, and if it needs them `start`, `on_sent`, `on_spurious`
    and `on_timer`. In these methods it sets its attributes; the engine reads them after each call. Times are
    in seconds, amounts in bytes of payload, rates in bits per second of payload.

    Annotated class attributes with a default are parameters. Their types are `bool`, `int`, `float`,
    ``Literal["a", "b"]``, `Share`, `Seconds`, `BitsPerSecond`, `Bytes`, and numbers with bounds
    (``Annotated[float, Gt(0)]``, from the package `annotated_types`). A text below a parameter is its help.

    Attributes
    ----------
    window : float
        The most payload in flight. Less than one segment counts as one segment. It begins as the initial
        window of the transport.
    pacing_rate : float or None
        The rate at which packets leave; `None` leaves it to the transport, which paces by window and
        smoothed RTT if the scenario says so.
    quantum : float or None
        The most payload that leaves back to back when packets are paced; `None` is two segments.
    ssthresh : float or None
        The slow-start threshold, for tables and figures: below it the controller is in slow start.
    next_timer : float or None
        When `on_timer` is to be called. It is `None` again when it is called.
    follows : str
        An attribute of the class: the rules of good sense for its window that `airpath conform` checks.
        ``"rfc5681"`` (default); ``"rfc5681-until-recovery-ends"``, if the window is set to what was measured
        when a recovery ends; ``"faster"``, if one acknowledgment may open the window by more than it
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
        """Random numbers that follow from the seed of the run; those of the module `random` do not."""
        return random.Random(self.seed)

"""The base class of ACK-rate estimators in Python."""

from typing import ClassVar

from airpath import _core


class Estimator(_core.Estimator):
    """An estimator of bandwidth from acknowledgments in Python: subclass it and set the estimate.

    A subclass defines `on_ack`, and `on_congestion` if it needs congestion signals. In these methods it sets
    its attributes; the engine reads them after each call. Parameters are annotated class attributes, as in
    `Controller`.

    As a scheme, an estimator is Westwood over it: a loss sets the window to the estimate times the minimum
    RTT. Westwood copies an estimator (`copy.deepcopy`) at each loss, and continues with the copy if the loss
    proves spurious.

    Attributes
    ----------
    sample : float or None
        The sample of the current acknowledgment, bit/s; `None` before each call of `on_ack`.
    estimate : float or None
        The estimate, bit/s; `None` before the first.
    minimum_rtt : float or None
        The RTT by which Westwood multiplies the estimate, s; if `None`, Westwood uses its own.
    requires : tuple of str
        The attributes of acknowledgments without which there is no estimate: `receiver_time`,
        `delivery_rate`, `latest_sent_at`, `rtt`. Results name the captures that lack them.

    Examples
    --------
    >>> class Latest(airpath.Estimator):
    ...     requires = ("delivery_rate",)
    ...     keep: airpath.Share = 0.9
    ...
    ...     def on_ack(self, ack):
    ...         if ack.delivery_rate is not None:
    ...             self.sample = ack.delivery_rate
    ...             old = self.sample if self.estimate is None else self.estimate
    ...             self.estimate = self.keep * old + (1 - self.keep) * self.sample
    """

    requires: ClassVar[tuple[str, ...]] = ()

"""The limits of a flow and its bandwidth, as found by the engine, as arrays and plain values."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]

SURE: Final = 0.9
"""The probability from which a label is reported as sure."""
LIKELY: Final = 0.7
"""The probability from which a label is reported as likely."""


@dataclass(frozen=True, slots=True)
class Headline:
    """One bandwidth.

    Attributes
    ----------
    full
        Whether it is the bandwidth of the path, measured while the link was full; otherwise a lower bound.
    rate_bps
        The bandwidth or the lower bound, bit/s of payload.
    low_bps, high_bps
        95 % interval of the mean; of the bin for a lower bound.
    least_bps, most_bps
        The smallest and the largest bin that count.
    full_share
        Fraction of the time in which the link was full, 0 to 1.
    """

    full: bool
    rate_bps: float
    low_bps: float
    high_bps: float
    least_bps: float
    most_bps: float
    full_share: float

    @property
    def kind(self) -> str:
        """`full` or `at least`."""
        return kind_of(self.full)


@dataclass(frozen=True, slots=True)
class Answer:
    """The bandwidth over time, and as one number.

    Attributes
    ----------
    from_s, to_s
        Start and end of each bin, seconds since the first packet of the capture.
    rate_bps, low_bps, high_bps
        Rate of delivery and its 95 % interval, bit/s of payload.
    full
        Whether the link was full; otherwise the rate is a lower bound.
    headline
        One number; ``None`` if nothing was delivered.
    """

    from_s: Numbers
    to_s: Numbers
    rate_bps: Numbers
    low_bps: Numbers
    high_bps: Numbers
    full: npt.NDArray[np.bool_]
    headline: Headline | None


@dataclass(frozen=True, slots=True)
class Share:
    """The share of one limit in a flow.

    Attributes
    ----------
    label
        The limit.
    time, data
        Fractions of the time and of the delivered payload, 0 to 1.
    confidence
        Probability that the label is right, averaged over its time.
    seconds
        Its time.
    queue_s
        Median queueing delay in its windows; NaN if there is none.
    first_s
        Start of its first window, seconds since the start of the capture.
    marks
        Acknowledgments that reported congestion marks.
    """

    label: str
    time: float
    data: float
    confidence: float
    seconds: float
    queue_s: float
    first_s: float
    marks: int

    @property
    def certainty(self) -> str:
        """`sure`, `likely` or `unclear`."""
        return certainty_of(self.confidence)


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The limits of a flow, and its bandwidth.

    Attributes
    ----------
    answer
        The bandwidth.
    even_rate_bps
        The rate at which the link serves packets that were sent back to back, bit/s, of the same bytes as
        the bandwidth; ``None`` if it serves unevenly, or if there are few such packets.
    limits
        Columns of windows of time: `from_s`, `to_s`, `label`, `confidence`, `bytes`, and the evidence.
    shares
        The limits, the one with the largest share of the time first.
    losses
        As in the engine: `segments`, `episodes`, `needless`, `queue_s`, `at_queue`, `flight_variation`,
        `by_queue`.
    policers
        Token buckets that dropped: `from_ns`, `to_ns`, `rate_bps` (headers included), `burst_bytes`, `score`.
    """

    answer: Answer
    even_rate_bps: float | None
    limits: dict[str, list[Any]]
    shares: tuple[Share, ...]
    losses: dict[str, Any]
    policers: list[dict[str, Any]]

    @property
    def link_rate_bps(self) -> float | None:
        """The even rate, if the bandwidth is only a lower bound and no larger, and there is no policer."""
        headline, rate_bps = self.answer.headline, self.even_rate_bps
        if headline is None or rate_bps is None or headline.full or self.policers:
            return None
        return rate_bps if rate_bps > headline.rate_bps else None


@dataclass(frozen=True, slots=True)
class HostSum:
    """All flows that one host received, or sent.

    Attributes
    ----------
    host
        Its address.
    down
        Whether it received the data; otherwise it sent them.
    flows
        Numbers of the flows.
    answer
        The bandwidth of all flows together.
    """

    host: str
    down: bool
    flows: tuple[int, ...]
    answer: Answer


def kind_of(full: bool) -> str:
    """Return the kind of a rate: `full` or `at least`."""
    return "full" if full else "at least"


def certainty_of(confidence: float) -> str:
    """Return `sure`, `likely` or `unclear` for the probability that a label is right."""
    return "sure" if confidence >= SURE else "likely" if confidence >= LIKELY else "unclear"


def diagnosis_of(values: dict[str, Any]) -> Diagnosis:
    """Return the diagnosis of a flow from the values of the engine."""
    limits = values["limits"]
    limits["from_s"] = [time * 1e-9 for time in limits.pop("from_ns")]
    limits["to_s"] = [time * 1e-9 for time in limits.pop("to_ns")]
    return Diagnosis(
        answer=_answer(values["answer"]),
        even_rate_bps=values["even_rate_bps"],
        limits=limits,
        shares=_shares(limits),
        losses=values["losses"],
        policers=values["policers"],
    )


def sum_of(values: dict[str, Any]) -> HostSum:
    """Return the sum of a host's flows from the values of the engine."""
    return HostSum(values["host"], values["down"], tuple(values["flows"]), _answer(values["answer"]))


def _answer(values: dict[str, Any]) -> Answer:
    bins, headline = values["bins"], values["headline"]
    return Answer(
        from_s=np.array(bins["from_ns"], dtype=np.float64) * 1e-9,
        to_s=np.array(bins["to_ns"], dtype=np.float64) * 1e-9,
        rate_bps=np.array(bins["rate_bps"], dtype=np.float64),
        low_bps=np.array(bins["low_bps"], dtype=np.float64),
        high_bps=np.array(bins["high_bps"], dtype=np.float64),
        full=np.array(bins["full"], dtype=np.bool_),
        headline=None if headline is None else Headline(**headline),
    )


def _shares(limits: dict[str, list[Any]]) -> tuple[Share, ...]:
    seconds = np.array(limits["to_s"]) - np.array(limits["from_s"])
    labels = np.array(limits["label"], dtype=str)
    data = np.array(limits["bytes"], dtype=np.float64)
    queues = np.array(limits["queue_s"], dtype=np.float64)  # None becomes NaN
    shares = []
    for label in dict.fromkeys(limits["label"]):
        mine = labels == label
        known = queues[mine & ~np.isnan(queues)]
        shares.append(
            Share(
                label=label,
                time=float(seconds[mine].sum() / seconds.sum()),
                data=float(data[mine].sum() / max(data.sum(), 1.0)),
                confidence=float(np.average(np.array(limits["confidence"])[mine], weights=seconds[mine])),
                seconds=float(seconds[mine].sum()),
                queue_s=float(np.median(known)) if len(known) else float("nan"),
                first_s=float(np.array(limits["from_s"])[mine][0]),
                marks=int(np.array(limits["marks"])[mine].sum()),
            )
        )
    return tuple(sorted(shares, key=lambda share: -share.time))

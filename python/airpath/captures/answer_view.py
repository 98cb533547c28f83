"""The answer of captures as a view: bandwidth with its interval, and the limits of each flow."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

import numpy as np
import numpy.typing as npt

from airpath.captures.analysis import FlowAnalysis
from airpath.captures.diagnosis import Answer, Headline
from airpath.results.formatting import percent
from airpath.units import format_rate
from airpath.views.grid import Grid
from airpath.views.model import Cell, Line, Stretch, Values

NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "bottleneck": "the bottleneck",
        "overflow": "losses at a short queue",
        "random-loss": "random losses",
        "policer": "a policer",
        "application": "the application",
        "receiver-window": "the receive window",
        "sender-window": "a window of the sender",
        "start-up": "start-up",
        "reverse-path": "the reverse path",
        "stall": "stalls",
    }
)
"""Display names of the limits."""
COLOURS: Final[Mapping[str, str]] = MappingProxyType(
    dict(
        zip(
            NAMES.values(),
            (
                "#0072b2",
                "#56b4e9",
                "#d55e00",
                "#882255",
                "#009e73",
                "#e69f00",
                "#cc79a7",
                "#999999",
                "#6464f0",
                "#b3261e",
            ),
            strict=True,
        )
    )
)
"""Colours of the limits; the strips also show their names."""


def answer_lines(place: int, answer: Answer, grid: Grid) -> Iterator[Line]:
    """Return the bandwidth while the link was full, the lower bound at other times, and the interval."""
    if not len(answer.rate_bps):
        return
    # Both are always present: the second line of a scheme is dashed.
    for label, mine in (("link full", answer.full), ("at least", ~answer.full)):
        yield Line(place, 0, _held(answer, answer.rate_bps, mine, grid), label)
    every = np.ones(len(answer.rate_bps), dtype=bool)
    yield Line(place, 0, _held(answer, answer.low_bps, every, grid), "interval", role="low")
    yield Line(place, 0, _held(answer, answer.high_bps, every, grid), "interval", role="high")


def stretches(place: int, flow: FlowAnalysis) -> list[Stretch]:
    """Return the limits of a flow over time; adjacent windows with the same limit form one stretch."""
    limits, joined = flow.diagnosis.limits, list[Stretch]()
    columns = (limits[name] for name in ("from_s", "to_s", "label", "confidence"))
    for from_s, to_s, label, confidence in zip(*columns, strict=True):
        last = joined[-1] if joined else None
        if last is not None and last.label == NAMES[label] and abs(last.to_s - from_s) < 1e-9:
            share = (to_s - from_s) / (to_s - last.from_s)
            mean = last.confidence * (1 - share) + confidence * share
            joined[-1] = Stretch(place, last.from_s, to_s, last.label, mean)
        else:
            joined.append(Stretch(place, from_s, to_s, NAMES[label], confidence))
    return joined


def bandwidth_cell(answer: Answer) -> Cell:
    """Return the headline in Mbit/s as a cell; a lower bound is preceded by ≥."""
    headline = answer.headline
    if headline is None:
        return Cell(np.nan, np.nan, np.nan, "—")
    low, rate, high = (value * 1e-6 for value in (headline.low_bps, headline.rate_bps, headline.high_bps))
    return Cell(rate, low, high, f"{'' if headline.full else '≥ '}{rate:.3g}")


def limit_cell(flow: FlowAnalysis) -> Cell:
    """Return the limit with the largest share of the time as a cell."""
    if not flow.diagnosis.shares:
        return Cell(np.nan, np.nan, np.nan, "—")
    share = flow.diagnosis.shares[0]
    return Cell(share.time, np.nan, np.nan, f"{NAMES[share.label]} {percent(share.time)}")


def answer_text(name: str, answer: Answer, flow: FlowAnalysis | None) -> str:
    """Return the answer in one sentence: the bandwidth, and the limits of a flow."""
    if answer.headline is None:
        return f"{name}: no acknowledgment of the data was captured."
    return f"{name}: {_bandwidth(answer.headline)}{_limits(flow)}."


def _bandwidth(headline: Headline) -> str:
    rate = format_rate(headline.rate_bps, 3)
    if not headline.full:
        return f"at least {rate}"
    return f"{rate} while the link was full, {percent(headline.full_share)} of the time"


def _limits(flow: FlowAnalysis | None) -> str:
    shares: Sequence[str] = [
        f"{NAMES[share.label]} {percent(share.time)} ({share.certainty})"
        for share in (flow.diagnosis.shares[:2] if flow is not None else ())
    ]
    return f"; limited by {' and '.join(shares)}" if shares else ""


def _held(answer: Answer, values: Values, mine: npt.NDArray[np.bool_], grid: Grid) -> Values:
    """Return the value of the bin at the end of each interval of the grid; NaN outside of the chosen bins."""
    ends = grid.end_s
    place = np.minimum(np.searchsorted(answer.to_s, ends - 1e-9), len(values) - 1)
    inside = (
        (ends > answer.from_s[place]) & (ends <= answer.to_s[place] + grid.step_s) & mine[place].astype(bool)
    )
    return np.where(inside, values[place] * 1e-6, np.nan)

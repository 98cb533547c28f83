"""What limited the senders of each scheme over time, as labelled stretches."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import Final

import numpy as np

from airpath.metrics.run import columns
from airpath.results import RunResult
from airpath.views.grid import Grid
from airpath.views.groups import flows_under_test_of
from airpath.views.model import Panel, Stretch, Values
from airpath.views.run_lines import Place

LIMITS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "congestion_window": ("the congestion window", "#0072b2"),
        "pacing": ("pacing", "#56b4e9"),
        "receive_window": ("the receive window", "#e69f00"),
        "send_buffer": ("the send buffer", "#f0e442"),
        "application": ("the application", "#009e73"),
        "recovery": ("loss recovery", "#d55e00"),
    }
)
"""Name and colour of each column of `flow_limits`, in the order within an interval."""
INTERVALS: Final = 150
"""Intervals of a scheme in the panel, at most: each has up to six stretches."""


def limits_panel(places: Mapping[RunResult, Place], grid: Grid) -> list[Panel]:
    """Return the panel of what limited the senders in the first repetition; none if it was not recorded.

    The stretches within an interval are as long as the shares of its time; their order is that of `LIMITS`.
    """
    stretches = [
        stretch
        for run, place in places.items()
        if place.seed == 0
        for stretch in _stretches(run, place.scheme, grid)
    ]
    if not stretches:
        return []
    repeated = any(place.seed for place in places.values())
    return [
        Panel(
            "limits",
            "What limited the senders, share of time" + (" (first seed)" if repeated else ""),
            "",
            (),
            stretches=stretches,
            colours=dict(LIMITS.values()),
            certain=True,
        )
    ]


def _stretches(run: RunResult, scheme: int, grid: Grid) -> Iterator[Stretch]:
    table = run.table("flow_limits")
    if not len(table):
        return
    rows = columns(table)
    mine = np.isin(rows["flow"], flows_under_test_of(run))
    if not mine.any():
        return
    coarse = Grid(grid.step_s * max(1, -(-grid.count // INTERVALS)), grid.duration_s)
    shares = [coarse.mean(rows["time_s"][mine], rows[name][mine]) for name in LIMITS]
    yield from _joined(scheme, coarse.end_s, shares)


def _joined(scheme: int, end_s: Values, shares: Sequence[Values]) -> Iterator[Stretch]:
    """Return stretches of these shares of intervals; neighbours with the same label are one."""
    last: Stretch | None = None
    for number, (begin, end) in enumerate(pairwise(np.concatenate([[0.0], end_s]).tolist())):
        at = begin
        for (label, _), share in zip(LIMITS.values(), (float(of[number]) for of in shares), strict=True):
            if not share > 0:
                continue
            until = at + share * (end - begin)
            if last is not None and last.label == label and abs(last.to_s - at) < 1e-9:
                last = Stretch(scheme, last.from_s, until, label, 1.0)
            else:
                if last is not None:
                    yield last
                last = Stretch(scheme, at, until, label, 1.0)
            at = until
    if last is not None:
        yield last

"""EBE-J, figure 3(a): VCP-EBE's queue in each segment of the schedule, compared with the threshold."""

from collections.abc import Sequence
from typing import Any, Final

from airpath.statistics import TextTable
from airpath_papers.claim import Claim
from airpath_papers.figure import FigureRuns
from airpath_papers.measures import mean_queue, of_each, throughput_mbps, utilisation
from airpath_papers.rules import Between
from airpath_papers.run_data import RunData
from airpath_papers.sample import Sample, sample

THRESHOLD: Final = 0.15
"""EBE-J's threshold of the queue maintainer, a share of the buffer."""
ABOUT_THRESHOLD: Final = Between(0.12, 0.20)
"""Our reading of "about 15 %"."""
HOLD_S: Final = 10.0
"""Duration of each rate of the fixed schedule."""
SCHEME: Final = "vcp-ebe"


def _segments(runs: Sequence[RunData]) -> list[tuple[float, float]]:
    count = round(runs[0].duration_s / HOLD_S)
    return [(HOLD_S * number, HOLD_S * (number + 1)) for number in range(count)]


def _queue_in(runs: Sequence[RunData], segment: tuple[float, float]) -> Sample:
    return sample(of_each(runs, lambda run: mean_queue(run, segment)))


def _farthest(of: Any, begin_s: float = 0.0) -> Sample:
    runs = of(SCHEME)
    queues = [_queue_in(runs, segment) for segment in _segments(runs) if segment[0] >= begin_s]
    return max(queues, key=lambda one: abs(one.mean - THRESHOLD))


def claims(reason: str) -> tuple[Claim, Claim]:
    """Return the claims that the queue is near the threshold in every segment, and in all but the first."""
    saying = (
        "VCP-EBE holds a relatively steady queue of about 15 % of the buffer, at every rate of the schedule"
    )
    measured = "VCP-EBE's mean queue in the segment farthest from 15 %, share of the buffer"
    return (
        Claim("threshold-throughout", saying, ABOUT_THRESHOLD, measured, _farthest, reason=reason),
        Claim(
            "threshold-after-start",
            f"{saying} (after the first 10 s, in which flows start)",
            ABOUT_THRESHOLD,
            f"{measured}, from 10 s on",
            lambda of: _farthest(of, HOLD_S),
            reason=reason,
        ),
    )


def tables(runs: FigureRuns) -> list[TextTable]:
    """Return the queue in each segment under each choice, and whether it is near the threshold."""
    first = runs.of(runs.choices[0])(SCHEME)
    rows = []
    for begin, end in _segments(first):
        capacity = throughput_mbps(first[0], (begin, end)) / utilisation(first[0], (begin, end))
        queues = [_queue_in(runs.of(choice)(SCHEME), (begin, end)) for choice in runs.choices]
        cells = (f"{one} {'✓' if ABOUT_THRESHOLD.holds(one) else '✗'}" for one in queues)
        rows.append((f"{begin:g} to {end:g} s, {capacity:.3g} Mbit/s", *cells))
    return [
        TextTable(
            "VCP-EBE's mean queue, share of the buffer (± half-width of the 95 % interval)",
            ("segment", *runs.choices),
            tuple(rows),
            f"✓: {ABOUT_THRESHOLD}.",
        )
    ]

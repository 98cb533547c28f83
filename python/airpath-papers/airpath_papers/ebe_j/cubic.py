"""Common parts of the figures of CUBIC and CUBIC-EBE: schemes, measures, claims."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from airpath.statistics import TextTable
from airpath_papers.claim import Claim
from airpath_papers.experiment import Experiment
from airpath_papers.figure import FigureRuns
from airpath_papers.measures import Span, catch_up, loss_share, of_each, queue_deviation, utilisation
from airpath_papers.rules import AtLeast, AtMost, Positive
from airpath_papers.run_data import RunData
from airpath_papers.sample import Sample, cell, difference, sample
from airpath_papers.settings import shipped, with_options

CUBIC: Final = "cubic-2008"
"""CUBIC of the paper's time."""
CUBIC_EBE: Final = "cubic-ebe"
SCHEMES: Final = (CUBIC, CUBIC_EBE)

HOLD_S: Final = 10.0
"""Duration of each rate."""
LEAST_RISE: Final = 0.2
"""Smallest rise of the capacity for which a catch-up is measured."""
DURATION_S: Final = 200.0
STARTED: Final[Span] = (100.0, DURATION_S)
"""The time after all flows have started."""

QUICK_S: Final = 2.5
"""Our reading of "very quickly" for a catch-up: a quarter of the duration of a rate."""
MISSED_S: Final = 5.0
"""A catch-up that takes half of the duration of a rate, or longer, counts as a failure to acquire it."""

Measure = Callable[[RunData], float]

second_half: Final[Measure] = partial(utilisation, span=STARTED)
"""Utilisation once all flows have started."""
losses: Final[Measure] = partial(loss_share, span=STARTED)
"""Share of bytes that the bottleneck drops once all flows have started."""


def catch_up_at(name: str | None = None) -> Measure:
    """Return the measure: time to 90 % of a link's capacity after a rise by over a fifth, all flows begun."""
    return partial(catch_up, hold_s=HOLD_S, least=LEAST_RISE, span=STARTED, name=name)


catch_up_s: Final[Measure] = catch_up_at()
"""The measure at the link under test."""

ONE_WAY: Final = "O"
TWO_WAY: Final = "T"
CUBIC_SETTINGS: Final = (ONE_WAY, TWO_WAY)
"""CUBIC's readings, headline first; it has no reverse traffic on a wide link."""

DRAWN_RATES: Final = (
    "Each run samples its own rates, uniformly from 1 to 400 Mbit/s for 10 s each, starting with 200; runs"
    " of the same seed have the same rates and starts and are compared in pairs. The paper does not print"
    " its rates."
)
TRAFFIC: Final = (
    "Our choices, not defined in the paper: short flows of 1 MB, side links of 1 Gbit/s, 1000 bytes of"
    " payload, RTTs spread over 10 ms; SACK with proportional rate reduction, timeouts of at least 1 s,"
    " spurious ones undone. CUBIC is that of 2008, without HyStart."
)
CATCH_UP: Final = (
    "Catch-up: seconds from a rise of the capacity by more than a fifth until the mean throughput over 1 s"
    " is 90 % of the new capacity, 10 s if never; mean over the rises from 100 to 200 s. The first time at"
    " which a mean over 5 s exceeds 90 % is not informative: the slow start of the first flow reaches it in"
    " any scheme."
)
READING: Final = (
    "The maintainer's threshold is 15 % of the queueing delay at the last loss, because RTTs cannot be"
    " below 15 % of R_max on this path; while the maintainer is on, windows grow by Upsilon - 1 segments for"
    " each acknowledged one."
)
SETTINGS: Final = (
    "O: no reverse traffic; T: five long flows in the reverse direction too, over the same variable rate."
)


def pair(scenario: str, repetitions: int, changes: Any = None, **options: Any) -> dict[str, Experiment]:
    """Return CUBIC and CUBIC-EBE in a shipped scenario, the latter with additional options."""
    return {
        CUBIC: shipped(scenario, CUBIC, repetitions, changes),
        CUBIC_EBE: shipped(scenario, with_options(CUBIC_EBE, **options), repetitions, changes),
    }


def gain(of: Any, measure: Measure) -> Sample:
    """Return CUBIC-EBE minus CUBIC, paired."""
    return difference(of_each(of(CUBIC_EBE), measure), of_each(of(CUBIC), measure))


def ratio(of: Any, measure: Measure) -> Sample:
    """Return CUBIC-EBE divided by CUBIC, one value for each pair of runs."""
    return sample(
        [
            one / other
            for one, other in zip(of_each(of(CUBIC_EBE), measure), of_each(of(CUBIC), measure), strict=True)
        ]
    )


def steady_deviation(run: RunData, name: str | None = None) -> float:
    """Return the standard deviation of a link's queue at constant capacity, as a share of the buffer.

    The first 3 s after each change are left out.
    """
    starts = range(int(STARTED[0]), int(STARTED[1]), int(HOLD_S))
    return sum(queue_deviation(run, (start + 3.0, start + HOLD_S), name) for start in starts) / len(starts)


def numbers_table(runs: FigureRuns, numbers: Mapping[str, Measure]) -> list[TextTable]:
    """Return the table of some numbers: for each choice and scheme, mean ± half-width over the runs."""
    rows = [
        (choice, scheme, *(cell(of_each(runs.of(choice)(scheme), number)) for number in numbers.values()))
        for choice in runs.choices
        for scheme in SCHEMES
    ]
    title = "Mean ± half-width of the 95 % interval over runs"
    return [TextTable(title, ("choice", "scheme", *numbers), tuple(rows))]


def responds(link: str | None = None, reason: str = "") -> tuple[Claim, Claim, Claim]:
    """Return the paper's claims on both topologies: CUBIC misses rises, CUBIC-EBE is quick and oscillates.

    Parameters
    ----------
    link
        The link; the link under test if `None`.
    reason
        Reason why CUBIC-EBE is not quick, if it is not.
    """
    caught_up = catch_up_at(link)
    return (
        Claim(
            "misses",
            "CUBIC fails to acquire the increased bandwidth",
            AtLeast(MISSED_S),
            "CUBIC's catch-up, of the 10 s of each rate (failure: half of them or more)",
            lambda of: sample(of_each(of(CUBIC), caught_up)),
            unit="s",
        ),
        Claim(
            "quick",
            "CUBIC-EBE responds very quickly to changes of the bandwidth",
            AtMost(QUICK_S),
            "CUBIC-EBE's catch-up, of the 10 s of each rate (very quick: a quarter of them)",
            lambda of: sample(of_each(of(CUBIC_EBE), caught_up)),
            unit="s",
            reason=reason,
        ),
        Claim(
            "oscillation",
            "CUBIC-EBE oscillates while the capacity does not change",
            Positive(),
            "standard deviation of the queue 3 to 10 s after changes, CUBIC-EBE minus CUBIC, share of the"
            " buffer",
            lambda of: gain(of, partial(steady_deviation, name=link)),
        ),
    )

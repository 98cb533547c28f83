"""EBE-J, figure 10: CUBIC and CUBIC-EBE on the parking lot."""

from functools import partial
from typing import Final

from airpath.statistics import TextTable
from airpath_papers.claim import Claim
from airpath_papers.drawing import over_time_by_choice
from airpath_papers.ebe_j.cubic import (
    CUBIC,
    CUBIC_EBE,
    DURATION_S,
    READING,
    SCHEMES,
    STARTED,
    TRAFFIC,
    Measure,
    catch_up_at,
    gain,
    pair,
    responds,
)
from airpath_papers.ebe_j.paper import NEAR_FULL, PAPER
from airpath_papers.figure import Figure, FigureRuns
from airpath_papers.measures import group_goodput_mbps, loss_share, of_each, utilisation
from airpath_papers.rules import AtLeast, AtMost, Between, Positive
from airpath_papers.run_data import RunData
from airpath_papers.sample import cell, sample

REPETITIONS: Final = 30
MIDDLE: Final = "R2-R3"
SPAN_S: Final = 5.0

_middle = partial(utilisation, name=MIDDLE)
_middle_later = partial(utilisation, span=STARTED, name=MIDDLE)
_middle_catch_up_s: Final[Measure] = catch_up_at(MIDDLE)
_end_to_end = partial(group_goodput_mbps, group="long")
_local = partial(group_goodput_mbps, group="local")


def _first_full_s(run: RunData) -> float:
    """Return the first time at which the utilisation of the middle link over 5 s is at least 90 %."""
    starts = range(0, int(DURATION_S), int(SPAN_S))
    full = (start for start in starts if utilisation(run, (start, start + SPAN_S), MIDDLE) >= 0.9)
    return next((start + SPAN_S for start in full), DURATION_S)


_NUMBERS: Final[dict[str, Measure]] = {
    "utilisation": _middle,
    "utilisation, 100 to 200 s": _middle_later,
    "catch-up (s)": _middle_catch_up_s,
    "bytes dropped, 100 to 200 s": partial(loss_share, span=STARTED, name=MIDDLE),
    "end-to-end flows together (Mbit/s)": _end_to_end,
    "local flows together (Mbit/s)": _local,
}


def _table(runs: FigureRuns) -> list[TextTable]:
    of = runs.of(runs.choices[0])
    return [
        TextTable(
            "Middle link, and goodput of the groups: mean ± half-width of the 95 % interval over runs",
            ("scheme", *_NUMBERS),
            tuple(
                (scheme, *(cell(of_each(of(scheme), number)) for number in _NUMBERS.values()))
                for scheme in SCHEMES
            ),
        )
    ]


FIG10: Final = Figure(
    id="ebe-j/fig10",
    paper=PAPER,
    title="Utilisation of the middle link of the parking lot, CUBIC and CUBIC-EBE",
    experiments={"1 to 400 Mbit/s": pair("ebe-cubic-parking-lot", REPETITIONS)},
    sentences={"converges": ("sixty", "near-full")},
    not_in_paper=("end-to-end",),
    draw=lambda runs: over_time_by_choice(runs, "utilisation", MIDDLE, 1.0),
    tables=_table,
    claims=(
        Claim(
            "never",
            "CUBIC fails to converge during the simulation",
            AtMost(0.75),
            "CUBIC's utilisation from 100 to 200 s",
            lambda of: sample(of_each(of(CUBIC), _middle_later)),
        ),
        *responds(
            MIDDLE,
            "one local flow for each direction must fill the free capacity, as for “close to 100 %”; in the"
            " dumbbell, with five flows (figure 7), this takes 1.7 s",
        ),
        Claim(
            "sixty",
            "CUBIC-EBE converges in about 60 s",
            Between(40.0, 80.0),
            "first time at which CUBIC-EBE's utilisation over 5 s is at least 90 %",
            lambda of: sample(of_each(of(CUBIC_EBE), _first_full_s)),
            unit="s",
            reason="starts of flows are random within 100 s and dominate this time",
        ),
        Claim(
            "near-full",
            "CUBIC-EBE reaches close to 100 %",
            AtLeast(NEAR_FULL),
            "CUBIC-EBE's utilisation from 100 to 200 s",
            lambda of: sample(of_each(of(CUBIC_EBE), _middle_later)),
            reason="one local flow for each direction must fill a link of up to 400 Mbit/s: the end-to-end"
            " flows,"
            " with a round trip of 2.1 s and five lossy hops, starve",
        ),
        Claim(
            "above",
            "CUBIC-EBE uses more than CUBIC",
            Positive(),
            "utilisation from 100 to 200 s, CUBIC-EBE minus CUBIC",
            lambda of: gain(of, _middle_later),
        ),
        Claim(
            "end-to-end",
            "not stated in the paper: the end-to-end flows gain as well",
            Positive(),
            "goodput of the five end-to-end flows together, CUBIC-EBE minus CUBIC",
            lambda of: gain(of, _end_to_end),
            unit="Mbit/s",
            reason=(
                "the end-to-end flows lose packets at five links, and on each a local flow with a quarter"
                " of their round trip probes"
            ),
        ),
    ),
    notes=(
        "Each link has its own random rates from 1 to 400 Mbit/s for 10 s each, the middle one starting"
        " with 200, the others with 400 Mbit/s; five end-to-end flows, and two local flows on each link, one"
        " in each direction (the paper's two local flows read as in the other parking lot).",
        TRAFFIC,
        READING,
        "The first timeout is 3 s (RFC 2988, ns-2), because 1 s is shorter than the round trip of 2.1 s.",
        "Bins of 1 s; the figure shows the first run.",
    ),
)

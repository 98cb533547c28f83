"""EBE-J, section IV-D, on TCP: CUBIC-EBE at small delays and rates."""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from airpath_papers.claim import Claim, Runs
from airpath_papers.ebe_j.cubic import (
    CATCH_UP,
    CUBIC,
    CUBIC_EBE,
    DRAWN_RATES,
    catch_up_s,
    gain,
    losses,
    numbers_table,
    pair,
    second_half,
)
from airpath_papers.ebe_j.paper import PAPER
from airpath_papers.experiment import Experiment
from airpath_papers.figure import Figure
from airpath_papers.measures import jain, of_each
from airpath_papers.rules import AtMost, Positive
from airpath_papers.sample import difference

REPETITIONS: Final = 30
COMPARABLE: Final = 0.05
"""Gain, as a share of the link's capacity, below which there is no significant improvement, as for flows that
join and leave.
"""

_LARGE: Final = "1 to 400 Mbit/s, 500 ms: "


def _small(limit: str, delay: str = "5ms", access_delay: str = "2.5ms") -> Mapping[str, Any]:
    return {
        "topology.bottleneck.rate.low": "1mbps",
        "topology.bottleneck.rate.high": "20mbps",
        "topology.bottleneck.rate.initial": "10mbps",
        "topology.bottleneck.delay": delay,
        "topology.bottleneck.queue.limit": limit,
        "topology.access.delay": access_delay,
    }


def _beside_large(changes: Mapping[str, Any]) -> dict[str, Experiment]:
    large = {_LARGE + scheme: one for scheme, one in pair("ebe-cubic-o", REPETITIONS).items()}
    return pair("ebe-cubic-o", REPETITIONS, changes) | large


_NUMBERS: Final = {
    "utilisation, 100 to 200 s": second_half,
    "catch-up (s)": catch_up_s,
    "bytes dropped, 100 to 200 s": losses,
    "Jain index": jain,
}


def _gain_in_large(of: Runs) -> list[float]:
    one, other = (of_each(of(_LARGE + scheme), second_half) for scheme in (CUBIC_EBE, CUBIC))
    return list(difference(one, other).values)


CUBIC_SMALL: Final = Figure(
    id="ebe-j/cubic-small",
    paper=PAPER,
    title="Section IV-D: CUBIC and CUBIC-EBE at low delay and low rate",
    experiments={
        "20 ms, a quarter of the BDP": _beside_large(_small("12.5kB")),
        "20 ms, a BDP": _beside_large(_small("50kB")),
        "20 ms, four BDP": _beside_large(_small("200kB")),
        "500 ms, a quarter of the BDP": _beside_large(_small("312.5kB", "200ms", "25ms")),
    },
    draw=None,
    tables=partial(numbers_table, numbers=_NUMBERS),
    claims=(
        Claim(
            "no-improvement",
            "in low-delay and low-bandwidth networks EBE does not significantly improve CUBIC",
            AtMost(COMPARABLE),
            "utilisation from 100 to 200 s, CUBIC-EBE minus CUBIC (up to .05: no significant improvement)",
            lambda of: gain(of, second_half),
        ),
        Claim(
            "best-in-large",
            "the best use of EBE for CUBIC is in high-delay and high-bandwidth networks",
            Positive(),
            "gain of CUBIC-EBE at 1 to 400 Mbit/s and 500 ms minus its gain here, utilisation from 100 to"
            " 200 s, pairs of the same seed",
            lambda of: difference(_gain_in_large(of), gain(of, second_half).values),
        ),
    ),
    notes=(
        DRAWN_RATES.replace("from 1 to 400 Mbit/s for 10 s each, starting with 200", "for 10 s each"),
        "Our choices, because the paper gives no numbers here: 1 to 20 Mbit/s, a round trip of 20 ms,"
        " buffers of a quarter of the bandwidth-delay product of 20 Mbit/s (as in figure 7, nearly), of all"
        " of it, and of four times that; for comparison the same rates over figure 7's 500 ms. Everything"
        " else is as in figure 7, setting O.",
        CATCH_UP,
    ),
)

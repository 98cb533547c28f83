"""EBE-J, figure 7 and section IV-C for TCP: CUBIC and CUBIC-EBE on the dumbbell."""

from functools import partial
from typing import Final

from airpath.statistics import TextTable
from airpath_papers.anova_tables import anova_tables
from airpath_papers.claim import Claim
from airpath_papers.drawing import over_time_by_choice
from airpath_papers.ebe_j.cubic import (
    CATCH_UP,
    CUBIC_EBE,
    CUBIC_SETTINGS,
    DRAWN_RATES,
    ONE_WAY,
    READING,
    SCHEMES,
    SETTINGS,
    TRAFFIC,
    TWO_WAY,
    catch_up_s,
    gain,
    losses,
    numbers_table,
    pair,
    ratio,
    responds,
    second_half,
)
from airpath_papers.ebe_j.paper import NEAR_FULL, PAPER
from airpath_papers.figure import Figure, FigureRuns
from airpath_papers.measures import jain, of_each, throughput_mbps, utilisation
from airpath_papers.rules import AtLeast, AtMost, Positive
from airpath_papers.sample import sample
from airpath_papers.settings import readings

REPETITIONS: Final = 30
JOURNAL: Final = "O, filter journal"
SMALLER: Final = "O, Upsilon 1.2"
LITERAL: Final = "O, literal threshold"
SHORT_TIMEOUTS: Final = "O, timeouts ≥ 200 ms"

_EXPERIMENTS = {
    ONE_WAY: pair("ebe-cubic-o", REPETITIONS),
    TWO_WAY: pair("ebe-cubic-t", REPETITIONS),
    JOURNAL: pair("ebe-cubic-o", REPETITIONS, profile="journal"),
    SMALLER: pair("ebe-cubic-o", REPETITIONS, upsilon=1.2),
    LITERAL: pair("ebe-cubic-o", REPETITIONS, rtt_threshold="literal"),
    SHORT_TIMEOUTS: pair(
        "ebe-cubic-o",
        REPETITIONS,
        {"transport.min_rto": "200ms", "transport.spurious_timeout_undo": False},
    ),
}
_NOTES: Final = (
    DRAWN_RATES,
    TRAFFIC,
    READING,
    CATCH_UP,
    SETTINGS,
    "“Timeouts ≥ 200 ms” (ns-2) are not undone: a full buffer is 2.6 s at 10 Mbit/s, so timeouts expire"
    " without losses.",
)

_NUMBERS: Final = {
    "utilisation": utilisation,
    "utilisation, 100 to 200 s": second_half,
    "catch-up (s)": catch_up_s,
    "bytes dropped, 100 to 200 s": losses,
    "Jain index": jain,
}


FIG7: Final = Figure(
    id="ebe-j/fig7",
    paper=PAPER,
    title="Utilisation of the bottleneck, CUBIC and CUBIC-EBE",
    experiments=_EXPERIMENTS,
    readings=readings(_EXPERIMENTS, CUBIC_SETTINGS),
    alternatives={"near-full": ("near-full-later",)},
    not_in_paper=("losses",),
    draw=lambda runs: over_time_by_choice(runs, "utilisation", span_s=1.0),
    tables=partial(numbers_table, numbers=_NUMBERS),
    claims=(
        *responds(),
        Claim(
            "third",
            "CUBIC-EBE takes one third of the time that CUBIC takes to converge",
            AtMost(0.5),
            "catch-up, CUBIC-EBE over CUBIC (accepted up to one half, because the rates are ours)",
            lambda of: ratio(of, catch_up_s),
        ),
        Claim(
            "near-full",
            "CUBIC-EBE is near 100 % during the whole simulation",
            AtLeast(NEAR_FULL),
            "CUBIC-EBE's utilisation",
            lambda of: sample(of_each(of(CUBIC_EBE), utilisation)),
            reason=(
                "flows start over 100 s: before the first start nothing is sent, and the maintainer is"
                " active only after a first loss"
            ),
        ),
        Claim(
            "near-full-later",
            "the same once all flows have started",
            AtLeast(NEAR_FULL),
            "CUBIC-EBE's utilisation from 100 to 200 s",
            lambda of: sample(of_each(of(CUBIC_EBE), second_half)),
            reason="catch-up takes several of the ten seconds of each rate",
        ),
        Claim(
            "above",
            "CUBIC-EBE uses more than CUBIC",
            Positive(),
            "utilisation from 100 to 200 s, CUBIC-EBE minus CUBIC",
            lambda of: gain(of, second_half),
        ),
        Claim(
            "losses",
            "not stated in the paper: CUBIC-EBE drops no more than CUBIC",
            AtMost(0.0),
            "share of bytes dropped from 100 to 200 s, CUBIC-EBE minus CUBIC",
            lambda of: gain(of, losses),
            reason=(
                "overshoot is inherent: the maintainer observes the effect of its growth a round trip late,"
                " and the buffer is a quarter of the bandwidth-delay product"
            ),
        ),
    ),
    notes=(*_NOTES, "Bins of 1 s; the figure shows the first run."),
)


def _anova_tables(runs: FigureRuns) -> list[TextTable]:
    return [
        table
        for choice in runs.choices
        for what, unit, measure in (
            ("Bandwidth Utilisation", "Mbit/s", throughput_mbps),
            ("Jain Fairness Index", "", jain),
        )
        for table in anova_tables(
            f"{what}, {choice}",
            unit,
            {scheme: of_each(runs.of(choice)(scheme), measure) for scheme in SCHEMES},
        )
    ]


CUBIC_ANOVA: Final = Figure(
    id="ebe-j/anova-cubic",
    paper=PAPER,
    title="Section IV-C: analysis of variance for CUBIC and CUBIC-EBE; the paper gives no numbers",
    experiments={choice: _EXPERIMENTS[choice] for choice in (ONE_WAY, TWO_WAY, SMALLER)},
    readings=readings((ONE_WAY, TWO_WAY, SMALLER), CUBIC_SETTINGS),
    sentences={"better": ("throughput", "fairness")},
    draw=None,
    tables=_anova_tables,
    claims=(
        Claim(
            "throughput",
            "CUBIC-EBE is significantly above CUBIC in utilisation",
            Positive(),
            "mean throughput, CUBIC-EBE minus CUBIC",
            lambda of: gain(of, throughput_mbps),
            unit="Mbit/s",
        ),
        Claim(
            "fairness",
            "CUBIC-EBE is significantly above CUBIC in fairness",
            Positive(),
            "Jain index of the long flows over the whole run, CUBIC-EBE minus CUBIC",
            lambda of: gain(of, jain),
            reason=(
                "the maintainer reduces fairness: without it, or with the printed threshold, flows are"
                " about as fair as under CUBIC"
            ),
        ),
    ),
    notes=_NOTES,
)

"""Figures of EBE-C: the conference paper on EBE (ICC)."""

from dataclasses import replace
from typing import Any, Final

from airpath_papers.claim import Claim
from airpath_papers.drawing import over_time_by_choice
from airpath_papers.ebe_j import xcp_dumbbell
from airpath_papers.ebe_j.paper import (
    FALLEN,
    FIXED_SCHEDULE,
    LOW_QUEUE,
    NEAR_FULL,
    RISING,
    SETTINGS,
    TRAFFIC,
    TWO_WAY_LIMIT,
)
from airpath_papers.ebe_j.vcp_dumbbell import QUEUE_CEILING, SCALING_NOTE
from airpath_papers.figure import Figure
from airpath_papers.measures import mean_queue, of_each, p95_queue, queue_deviation, utilisation
from airpath_papers.rules import AtLeast, AtMost, Between, Positive
from airpath_papers.sample import difference, sample
from airpath_papers.settings import (
    ALL_SETTINGS,
    ONE_WAY,
    TWO_WAY,
    VCP_SCHEMES,
    WIDE_REVERSE,
    XCP_SCHEMES,
    dumbbell,
    readings,
    with_options,
)

PAPER: Final = "EBE-C"
REPETITIONS: Final = 10
THRESHOLD: Final = 0.20
"""EBE-C's threshold of the queue maintainer (EBE-J: 0.15)."""

_OPTIONS: Final[dict[str, dict[str, Any]]] = {
    WIDE_REVERSE: {"threshold": THRESHOLD},
    TWO_WAY: {"threshold": THRESHOLD},
    ONE_WAY: {"threshold": THRESHOLD},
    "L, linear filter": {"threshold": THRESHOLD, "profile": "linear"},
    "T, linear filter": {"threshold": THRESHOLD, "profile": "linear"},
}
_UNSCALED = {f"{setting}, unscaled": setting for setting in ALL_SETTINGS}

_VCP = {
    choice: {
        "vcp": dumbbell(choice[0], "vcp", REPETITIONS),
        "vcp-ebe": dumbbell(choice[0], with_options("vcp-ebe", **options), REPETITIONS),
    }
    for choice, options in _OPTIONS.items()
} | {
    choice: {
        scheme: dumbbell(
            setting,
            with_options(
                scheme, rtt_scaling="unscaled", **({"threshold": THRESHOLD} if scheme == "vcp-ebe" else {})
            ),
            REPETITIONS,
        )
        for scheme in VCP_SCHEMES
    }
    for choice, setting in _UNSCALED.items()
}
_XCP = {
    choice: {
        scheme: dumbbell(
            choice[0], with_options(scheme, **options) if scheme == "xcp-ebe" else scheme, REPETITIONS
        )
        for scheme in XCP_SCHEMES
    }
    for choice, options in _OPTIONS.items()
}
_NOTES = (
    FIXED_SCHEDULE,
    TRAFFIC,
    SETTINGS,
    "The threshold is 20 % here. The filter is an extended Kalman filter as in EBE-J, except for “linear"
    " filter”: EBE-C's equations (3) to (7) are linear.",
)

FIG2: Final = Figure(
    id="ebe-c/fig2",
    paper=PAPER,
    title="Persistent queue of the bottleneck, VCP and VCP-EBE",
    experiments=_VCP,
    readings=readings(_VCP),
    draw=lambda runs: over_time_by_choice(runs, "queue"),
    claims=(
        Claim(
            "low-queue",
            "VCP maintains a low queue while the capacity is not below the configured one",
            AtMost(LOW_QUEUE),
            "VCP's mean queue from 10 to 60 s, share of the buffer",
            lambda of: sample(of_each(of("vcp"), lambda run: mean_queue(run, RISING))),
        ),
        Claim(
            "oscillation",
            "oscillations when the capacity is below the configured one",
            Positive(),
            "standard deviation of VCP's queue, 60 to 120 s minus 10 to 60 s, share of the buffer",
            lambda of: difference(
                of_each(of("vcp"), lambda run: queue_deviation(run, FALLEN)),
                of_each(of("vcp"), lambda run: queue_deviation(run, RISING)),
            ),
        ),
        Claim(
            "threshold",
            "VCP-EBE holds a relatively steady queue of about 20 % of the buffer",
            Between(0.17, 0.23),
            "VCP-EBE's mean queue, share of the buffer",
            lambda of: sample(of_each(of("vcp-ebe"), mean_queue)),
            reason=QUEUE_CEILING,
        ),
    ),
    notes=(*_NOTES, SCALING_NOTE),
)

FIG3: Final = Figure(
    id="ebe-c/fig3",
    paper=PAPER,
    title="Utilisation of the bottleneck, VCP and VCP-EBE",
    experiments=_VCP,
    readings=readings(_VCP),
    draw=lambda runs: over_time_by_choice(runs, "utilisation", span_s=1.0),
    claims=(
        Claim(
            "waste",
            "VCP fails to use what is above 10 Mbit/s from 10 to 60 s",
            AtMost(0.75),
            "VCP's utilisation from 10 to 60 s (10 of 16.4 Mbit/s is 0.61)",
            lambda of: sample(of_each(of("vcp"), lambda run: utilisation(run, RISING))),
        ),
        Claim(
            "near-full",
            "VCP-EBE is near 100 % during the whole simulation",
            AtLeast(NEAR_FULL),
            "VCP-EBE's utilisation",
            lambda of: sample(of_each(of("vcp-ebe"), utilisation)),
            reason=TWO_WAY_LIMIT,
        ),
    ),
    notes=(*_NOTES, SCALING_NOTE, "Bins of 1 s."),
)

_B_SWINGS: Final = (
    "with reverse traffic over the same link its queue oscillates nearly as much as XCP-EBE's; without it,"
    " or with a wide link for it, its queue is steadier than XCP-EBE's"
)
"""XCP-b in setting T; the choices of loss recovery of figure 6(a) of EBE-J are not run here."""

FIG4: Final = Figure(
    id="ebe-c/fig4",
    paper=PAPER,
    title="Persistent queue of the bottleneck, XCP, XCP-b and XCP-EBE",
    experiments=_XCP,
    readings=readings(_XCP),
    sentences={"steady": ("xcp-b-steady", "xcp-ebe-steady")},
    draw=lambda runs: over_time_by_choice(runs, "queue"),
    claims=(
        *(
            replace(claim, reason=_B_SWINGS) if claim.name == "xcp-b-steady" else claim
            for claim in xcp_dumbbell.FIG6A.claims
            if claim.name in ("low-queue", "oscillation", "larger-than-xcp", "ebe-above-b", "xcp-b-steady")
        ),
        Claim(
            "xcp-ebe-steady",
            "XCP-EBE's queue is relatively steady",
            AtMost(2 * THRESHOLD),
            "95th percentile of XCP-EBE's queue, share of the buffer (at most twice the threshold)",
            lambda of: sample(of_each(of("xcp-ebe"), p95_queue)),
            reason="in T a limit cycle of 2 to 3 s, as in figure 6(a) of EBE-J",
        ),
    ),
    notes=_NOTES,
)

FIG5: Final = Figure(
    id="ebe-c/fig5",
    paper=PAPER,
    title="Utilisation of the bottleneck, XCP, XCP-b and XCP-EBE",
    experiments=_XCP,
    readings=readings(_XCP),
    draw=lambda runs: over_time_by_choice(runs, "utilisation", span_s=1.0),
    claims=(
        *(
            claim
            for claim in xcp_dumbbell.FIG6B.claims
            if claim.name in ("waste", "losses", "near-full", "faster-than-b")
        ),
        Claim(
            "above-b",
            "XCP-EBE typically reaches a higher utilisation than XCP-b",
            Positive(),
            "utilisation, XCP-EBE minus XCP-b",
            lambda of: difference(of_each(of("xcp-ebe"), utilisation), of_each(of("xcp-b"), utilisation)),
        ),
    ),
    notes=(*_NOTES, "Bins of 1 s."),
)

FIGURES = (FIG2, FIG3, FIG4, FIG5)
"""In the order of the paper; figures 1 and 6 are diagrams."""

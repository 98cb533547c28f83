"""EBE-J, figures 3 to 5: VCP and VCP-EBE on the dumbbell."""

from collections.abc import Mapping
from typing import Any, Final

from matplotlib.figure import Figure as Picture

from airpath.plots.style import styled
from airpath_papers.claim import Claim
from airpath_papers.drawing import looks_of, over_time_by_choice, panels, windows
from airpath_papers.ebe_j import segments
from airpath_papers.ebe_j.paper import (
    FALLEN,
    FIXED_SCHEDULE,
    LOW_QUEUE,
    NEAR_FULL,
    PAPER,
    RISING,
    SETTINGS,
    TRAFFIC,
    TWO_WAY_LIMIT,
)
from airpath_papers.experiment import Experiment
from airpath_papers.figure import Figure, FigureRuns
from airpath_papers.measures import (
    drops,
    mean_queue,
    of_each,
    queue_deviation,
    utilisation,
    window_band,
    window_variation,
)
from airpath_papers.rules import AtLeast, AtMost, Positive
from airpath_papers.sample import difference, sample
from airpath_papers.settings import (
    ONE_WAY,
    TWO_WAY,
    VCP_SCHEMES,
    WIDE_REVERSE,
    dumbbell,
    in_setting,
    readings,
    with_options,
)

REPETITIONS: Final = 10
REPETITIONS_OF_WINDOWS: Final = 30
"""For figures 4 and 5, because ratios of windows vary much from run to run."""

SCALINGS: Final[Mapping[str, dict[str, Any]]] = {
    WIDE_REVERSE: {},
    TWO_WAY: {},
    ONE_WAY: {},
    "L, unscaled": {"rtt_scaling": "unscaled"},
    "T, unscaled": {"rtt_scaling": "unscaled"},
    "O, unscaled": {"rtt_scaling": "unscaled"},
    "L, smoothed RTT": {"rtt_scaling": "smoothed"},
    "T, smoothed RTT": {"rtt_scaling": "smoothed"},
}
"""The choices for VCP: which round-trip time scales its increases (by default the minimum)."""

SCALING_NOTE: Final = (
    "VCP scales its increases by a round-trip time that the paper does not define. The minimum is our"
    " choice; “unscaled” and “smoothed RTT” are shown for comparison."
)


def _experiments(
    repetitions: int,
    changes: Mapping[str, Any] | None = None,
    choices: Mapping[str, dict[str, Any]] = SCALINGS,
) -> dict[str, dict[str, Experiment]]:
    return {
        choice: {
            scheme: dumbbell(choice[0], with_options(scheme, **options), repetitions, changes)
            for scheme in VCP_SCHEMES
        }
        for choice, options in choices.items()
    }


QUEUE_CEILING: Final = (
    "with increases scaled by the minimum RTT the load factor reaches 1 before the queue reaches the"
    " threshold: q = (0.98 Upsilon - 1) C t_rho / kappa_q, 10 % of the buffer at 10 Mbit/s and 2 % at 2"
    " Mbit/s, so the threshold is never reached"
)

FIG3A: Final = Figure(
    id="ebe-j/fig3a",
    paper=PAPER,
    title="Persistent queue of the bottleneck, VCP and VCP-EBE",
    experiments=_experiments(REPETITIONS),
    readings=readings(SCALINGS),
    sentences={
        "below-configured": ("overflow", "oscillation"),
        "threshold": ("threshold", "threshold-throughout"),
    },
    alternatives={"threshold": ("threshold-after-start",)},
    draw=lambda runs: over_time_by_choice(runs, "queue"),
    tables=segments.tables,
    claims=(
        Claim(
            "low-queue",
            "VCP maintains a low queue while the capacity is not below the configured one",
            AtMost(LOW_QUEUE),
            "VCP's mean queue from 10 to 60 s, share of the buffer",
            lambda of: sample(of_each(of("vcp"), lambda run: mean_queue(run, RISING))),
        ),
        Claim(
            "overflow",
            "VCP's queue overflows when the capacity is below the configured one",
            AtLeast(1),
            "packets that VCP loses from 60 to 120 s",
            lambda of: sample(of_each(of("vcp"), lambda run: drops(run, FALLEN))),
            unit="packets",
            reason="VCP overflows only if its additive increase is scaled by the smoothed RTT, which grows"
            " with the queue that it causes; VCP-EBE then overflows as well",
        ),
        Claim(
            "oscillation",
            "VCP's queue oscillates severely there",
            Positive(),
            "standard deviation of VCP's queue, 60 to 120 s minus 10 to 60 s, share of the buffer",
            lambda of: difference(
                of_each(of("vcp"), lambda run: queue_deviation(run, FALLEN)),
                of_each(of("vcp"), lambda run: queue_deviation(run, RISING)),
            ),
        ),
        Claim(
            "threshold",
            "VCP-EBE holds a relatively steady queue of about 15 % of the buffer",
            segments.ABOUT_THRESHOLD,
            "VCP-EBE's mean queue, share of the buffer",
            lambda of: sample(of_each(of("vcp-ebe"), mean_queue)),
            reason=QUEUE_CEILING,
        ),
        *segments.claims(
            f"{QUEUE_CEILING}; unscaled increases reach it in L at every rate, 14 to 19 %, in O from 10 s on,"
            " 12 to 16 % (11.9 % in the first 10 s, in which flows start); in T 10 to 14 % (the table has"
            " each rate)"
        ),
        Claim(
            "average",
            "the average queue of VCP-EBE is larger than that of VCP while VCP's is low",
            Positive(),
            "mean queue from 10 to 60 s, VCP-EBE minus VCP, share of the buffer",
            lambda of: difference(
                of_each(of("vcp-ebe"), lambda run: mean_queue(run, RISING)),
                of_each(of("vcp"), lambda run: mean_queue(run, RISING)),
            ),
        ),
    ),
    notes=(FIXED_SCHEDULE, TRAFFIC, SETTINGS, SCALING_NOTE),
)

FIG3B: Final = Figure(
    id="ebe-j/fig3b",
    paper=PAPER,
    title="Utilisation of the bottleneck, VCP and VCP-EBE",
    experiments=_experiments(REPETITIONS),
    readings=readings(SCALINGS),
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
            "VCP-EBE is near 100 % over the whole simulation",
            AtLeast(NEAR_FULL),
            "VCP-EBE's utilisation",
            lambda of: sample(of_each(of("vcp-ebe"), utilisation)),
            reason=TWO_WAY_LIMIT,
        ),
        Claim(
            "better",
            "VCP-EBE uses the link better than VCP",
            Positive(),
            "utilisation, VCP-EBE minus VCP",
            lambda of: difference(of_each(of("vcp-ebe"), utilisation), of_each(of("vcp"), utilisation)),
        ),
    ),
    notes=(FIXED_SCHEDULE, TRAFFIC, SETTINGS, SCALING_NOTE, "Bins of 1 s."),
)

# Figure 4 has five long flows and no others: a single entry of flows, and no short ones.
_FIFTY: Final[dict[str, Any]] = {"flows.0.count": 50}
_WINDOW_CHOICES: Final = {
    WIDE_REVERSE: {},
    TWO_WAY: {},
    ONE_WAY: {},
    "L, smoothed RTT": {"rtt_scaling": "smoothed"},
    "T, smoothed RTT": {"rtt_scaling": "smoothed"},
}


def _windows_of(scheme: str, experiments: dict[str, dict[str, Experiment]]) -> Any:
    """Return the function that plots the windows under one scheme, a panel for each choice."""

    @styled
    def draw(runs: FigureRuns) -> Picture:
        picture, axes = panels(len(experiments))
        for choice, panel in zip(runs.choices, axes, strict=True):
            windows(panel, runs.of(choice)(scheme)[0], looks_of(runs.labels(choice))[scheme])
            panel.set_title(choice, loc="right")
        return picture

    return draw


def _band(scheme: str, span: tuple[float, float]) -> Any:
    return lambda of: sample(of_each(of(scheme), lambda run: window_band(run, span)))


_FIVE_FLOWS = {
    choice: {
        scheme: in_setting(
            "ebe-five-flows", choice[0], with_options(scheme, **options), REPETITIONS_OF_WINDOWS
        )
        for scheme in VCP_SCHEMES
    }
    for choice, options in _WINDOW_CHOICES.items()
}
_FIFTY_FLOWS = _experiments(REPETITIONS_OF_WINDOWS, _FIFTY, _WINDOW_CHOICES)
_BAND = "90th over 10th percentile of the windows, mean over time"
_FIVE_NOTE = "Five long flows in each direction (T) or forward only (O), no short flows."
_FIFTY_NOTE = "50 long flows in each direction (T) or forward only (O), 10 short flows."

FIG4A: Final = Figure(
    id="ebe-j/fig4a",
    paper=PAPER,
    title="Windows of five flows, VCP-EBE",
    experiments=_FIVE_FLOWS,
    readings=readings(_WINDOW_CHOICES),
    draw=_windows_of("vcp-ebe", _FIVE_FLOWS),
    claims=(
        Claim(
            "steady",
            "VCP-EBE maintains relatively steady windows that follow the capacity",
            AtMost(3, surely=True),
            f"{_BAND}, VCP-EBE, from 10 s on",
            _band("vcp-ebe", (10.0, 120.0)),
        ),
    ),
    notes=(FIXED_SCHEDULE, _FIVE_NOTE),
)
FIG4B: Final = Figure(
    id="ebe-j/fig4b",
    paper=PAPER,
    title="Windows of five flows, VCP",
    experiments=_FIVE_FLOWS,
    readings=readings(_WINDOW_CHOICES),
    sentences={"oscillation": ("oscillation", "variation")},
    draw=_windows_of("vcp", _FIVE_FLOWS),
    claims=(
        Claim(
            "oscillation",
            "VCP fails to regulate windows efficiently, with severe oscillations",
            AtLeast(5, surely=True),
            f"{_BAND}, VCP, from 60 to 120 s",
            _band("vcp", FALLEN),
        ),
        Claim(
            "variation",
            "VCP's windows oscillate more than those of VCP-EBE",
            Positive(),
            "coefficient of variation of a window from 60 to 120 s, VCP minus VCP-EBE",
            lambda of: difference(
                of_each(of("vcp"), lambda run: window_variation(run, FALLEN)),
                of_each(of("vcp-ebe"), lambda run: window_variation(run, FALLEN)),
            ),
        ),
    ),
    notes=(FIXED_SCHEDULE, _FIVE_NOTE),
)
FIG5A: Final = Figure(
    id="ebe-j/fig5a",
    paper=PAPER,
    title="Windows of 50 flows, VCP-EBE",
    experiments=_FIFTY_FLOWS,
    readings=readings(_WINDOW_CHOICES),
    draw=_windows_of("vcp-ebe", _FIFTY_FLOWS),
    claims=(
        Claim(
            "small-range",
            "the windows of all flows fall into a small range",
            AtMost(3, surely=True),
            f"{_BAND}, VCP-EBE, from 10 s on",
            _band("vcp-ebe", (10.0, 120.0)),
        ),
    ),
    notes=(FIXED_SCHEDULE, _FIFTY_NOTE),
)
FIG5B: Final = Figure(
    id="ebe-j/fig5b",
    paper=PAPER,
    title="Windows of 50 flows, VCP",
    experiments=_FIFTY_FLOWS,
    readings=readings(_WINDOW_CHOICES),
    draw=_windows_of("vcp", _FIFTY_FLOWS),
    claims=(
        Claim(
            "inefficient",
            "VCP converges in a small range during the first 60 s, yielding inefficiency",
            AtMost(3, surely=True),
            f"{_BAND}, VCP, from 10 to 60 s",
            _band("vcp", RISING),
        ),
        Claim(
            "fails",
            "VCP fails to converge after the capacity decreases at 60 s",
            AtLeast(5, surely=True),
            f"{_BAND}, VCP, from 60 to 120 s",
            _band("vcp", FALLEN),
            reason="with increases scaled by the minimum RTT the windows of 50 flows stay together; they"
            " spread if the smoothed RTT scales them",
        ),
    ),
    notes=(FIXED_SCHEDULE, _FIFTY_NOTE),
)

"""EBE-J, figure 6: XCP, XCP-b and XCP-EBE on the dumbbell."""

from typing import Final

from airpath.statistics import TextTable
from airpath_papers.claim import Claim
from airpath_papers.drawing import over_time_by_choice
from airpath_papers.ebe_j import rises
from airpath_papers.ebe_j.choices import (
    LONGER_TIMEOUT,
    SACK,
    STANDARD_SENDER,
    TODAYS_SENDER,
    longer_timeout,
    sack,
    standard_sender,
    todays_sender,
)
from airpath_papers.ebe_j.paper import (
    FALLEN,
    FIXED_SCHEDULE,
    LATE_REACTION,
    LOW_QUEUE,
    NEAR_FULL,
    PAPER,
    RISING,
    SETTINGS,
    TIMEOUTS,
    TRAFFIC,
    TWO_WAY_LIMIT,
)
from airpath_papers.figure import Figure, FigureRuns
from airpath_papers.measures import (
    drops,
    mean_queue,
    of_each,
    p95_queue,
    queue_deviation,
    time_to,
    utilisation,
)
from airpath_papers.rules import AtLeast, AtMost, Positive
from airpath_papers.run_data import RunData
from airpath_papers.sample import cell, difference, sample
from airpath_papers.settings import ALL_SETTINGS, XCP_SCHEMES, dumbbell, readings

REPETITIONS: Final = 30

_EXPERIMENTS = {
    setting: {scheme: dumbbell(setting, scheme, REPETITIONS) for scheme in XCP_SCHEMES}
    for setting in ALL_SETTINGS
} | {
    LONGER_TIMEOUT: longer_timeout(REPETITIONS),
    SACK: sack(REPETITIONS),
    TODAYS_SENDER: todays_sender(REPETITIONS),
    STANDARD_SENDER: standard_sender(REPETITIONS),
}
RISES_S: Final = (10.0, 20.0, 30.0, 50.0, 80.0, 100.0)
"""Times at which the fixed schedule rises."""
HOLD_S: Final = 10.0
"""Duration of each rate."""
STEADY: Final = 0.30
"""Our reading of "steady": the queue is below twice the threshold of 15 % for 95 % of the time."""


def _mean_time_to_90(run: RunData) -> float:
    times = [time_to(run, rise, 0.9, rise + HOLD_S) for rise in RISES_S]
    return sum(times) / len(times)


def _queues(runs: FigureRuns) -> list[TextTable]:
    """Return the lengths of the two queues that the paper calls steady, under each choice."""
    rows = []
    for choice in runs.choices:
        of = runs.of(choice)
        cells = [
            cell(of_each(of(scheme), measure))
            for measure in (p95_queue, mean_queue)
            for scheme in ("xcp-b", "xcp-ebe")
        ]
        rows.append((choice, str(len(of("xcp-b"))), *cells))
    return [
        TextTable(
            "Queues, shares of the buffer (mean ± half-width of the 95 % interval)",
            (
                "",
                "runs",
                "XCP-b, 95th percentile",
                "XCP-EBE, 95th percentile",
                "XCP-b, mean",
                "XCP-EBE, mean",
            ),
            tuple(rows),
        )
    ]


_NOTES = (FIXED_SCHEDULE, TRAFFIC, SETTINGS, TIMEOUTS, LATE_REACTION)


FIG6A: Final = Figure(
    id="ebe-j/fig6a",
    paper=PAPER,
    title="Persistent queue of the bottleneck, XCP, XCP-b and XCP-EBE",
    experiments=_EXPERIMENTS,
    readings=readings(_EXPERIMENTS),
    sentences={"steady": ("xcp-b-steady", "xcp-ebe-steady")},
    draw=lambda runs: over_time_by_choice(runs, "queue"),
    claims=(
        Claim(
            "low-queue",
            "XCP maintains a low queue while the capacity is not below the configured one",
            AtMost(LOW_QUEUE),
            "XCP's mean queue from 10 to 60 s, share of the buffer",
            lambda of: sample(of_each(of("xcp"), lambda run: mean_queue(run, RISING))),
        ),
        Claim(
            "oscillation",
            "XCP's queue oscillates when the capacity is below the configured one",
            Positive(),
            "standard deviation of XCP's queue, 60 to 120 s minus 10 to 60 s, share of the buffer",
            lambda of: difference(
                of_each(of("xcp"), lambda run: queue_deviation(run, FALLEN)),
                of_each(of("xcp"), lambda run: queue_deviation(run, RISING)),
            ),
        ),
        Claim(
            "xcp-b-steady",
            "XCP-b's queue is relatively steady",
            AtMost(STEADY),
            "95th percentile of XCP-b's queue, share of the buffer",
            lambda of: sample(of_each(of("xcp-b"), p95_queue)),
            reason=(
                "in T its queue oscillates nearly as much as XCP-EBE's, with any loss"
                " repair (the table has each choice)"
            ),
        ),
        Claim(
            "xcp-ebe-steady",
            "XCP-EBE's queue is relatively steady",
            AtMost(STEADY),
            "95th percentile of XCP-EBE's queue, share of the buffer",
            lambda of: sample(of_each(of("xcp-ebe"), p95_queue)),
            reason=(
                "in T a boost of 40 % with a loop delay of two queues and an estimate that is 200 to 400 ms"
                " old causes a limit cycle of 2 to 3 s"
            ),
        ),
        Claim(
            "larger-than-xcp",
            "the average queues of XCP-b and XCP-EBE are larger than XCP's over the whole simulation",
            Positive(),
            "mean queue, the smaller of XCP-b's and XCP-EBE's minus XCP's, share of the buffer",
            lambda of: difference(
                [
                    min(pair)
                    for pair in zip(
                        of_each(of("xcp-b"), mean_queue), of_each(of("xcp-ebe"), mean_queue), strict=True
                    )
                ],
                of_each(of("xcp"), mean_queue),
            ),
            reason="after 60 s XCP sends 10 Mbit/s into a link of 2 to 8 and fills the buffer",
        ),
        Claim(
            "ebe-above-b",
            "the average queue of XCP-EBE is typically larger than that of XCP-b",
            Positive(),
            "mean queue, XCP-EBE minus XCP-b, share of the buffer",
            lambda of: difference(of_each(of("xcp-ebe"), mean_queue), of_each(of("xcp-b"), mean_queue)),
        ),
    ),
    tables=_queues,
    notes=_NOTES,
)

FIG6B: Final = Figure(
    id="ebe-j/fig6b",
    paper=PAPER,
    title="Utilisation of the bottleneck, XCP, XCP-b and XCP-EBE",
    experiments=_EXPERIMENTS,
    readings=readings(_EXPERIMENTS),
    sentences={"rises": [claim.name for claim in rises.CLAIMS]},
    draw=lambda runs: over_time_by_choice(runs, "utilisation", span_s=1.0),
    claims=(
        Claim(
            "waste",
            "XCP fails to use increases of the capacity above the configured value",
            AtMost(0.75),
            "XCP's utilisation from 10 to 60 s (10 of 16.4 Mbit/s is 0.61)",
            lambda of: sample(of_each(of("xcp"), lambda run: utilisation(run, RISING))),
        ),
        Claim(
            "losses",
            "when the capacity drops, XCP blindly increases its rate, with significant losses",
            AtLeast(100),
            "packets that XCP loses from 60 to 120 s",
            lambda of: sample(of_each(of("xcp"), lambda run: drops(run, FALLEN))),
            unit="packets",
        ),
        Claim(
            "near-full",
            "XCP-EBE is near 100 % over the whole simulation",
            AtLeast(NEAR_FULL),
            "XCP-EBE's utilisation",
            lambda of: sample(of_each(of("xcp-ebe"), utilisation)),
            reason=TWO_WAY_LIMIT,
        ),
        Claim(
            "above-b",
            "XCP-EBE typically reaches a higher utilisation than XCP-b",
            Positive(),
            "utilisation, XCP-EBE minus XCP-b",
            lambda of: difference(of_each(of("xcp-ebe"), utilisation), of_each(of("xcp-b"), utilisation)),
        ),
        Claim(
            "faster-than-b",
            "XCP-EBE responds faster than XCP-b as the capacity varies",
            Positive(),
            "time to 90 % of the capacity after a rise, XCP-b minus XCP-EBE, mean over six rises",
            lambda of: difference(
                of_each(of("xcp-b"), _mean_time_to_90), of_each(of("xcp-ebe"), _mean_time_to_90)
            ),
            unit="s",
        ),
        *rises.CLAIMS,
    ),
    tables=rises.tables,
    notes=(*_NOTES, rises.NOTE, "Bins of 1 s."),
)

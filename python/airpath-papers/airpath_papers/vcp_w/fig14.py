"""VCP-W, figure 14: the capacity halves, unknown to VCP's routers."""

from typing import Any, Final

from matplotlib.figure import Figure as Picture

from airpath.plots.style import styled
from airpath.statistics import TextTable
from airpath_papers.claim import Claim, Runs
from airpath_papers.drawing import panels
from airpath_papers.figure import Figure, FigureRuns
from airpath_papers.kernel.form import KernelForm
from airpath_papers.measures import Span, loss_share, mean_queue, utilisation
from airpath_papers.rules import AtLeast, AtMost, Positive
from airpath_papers.sample import Sample, cell, difference
from airpath_papers.settings import with_options
from airpath_papers.vcp_w.paper import AFTER_FREEZE, PAPER, readings
from airpath_papers.vcp_w.testbed_drawing import each, queue_over_time, utilisation_over_time
from airpath_papers.vcp_w.testbed_measures import dismissed_share, queue_deviation_share
from airpath_papers.vcp_w.testbed_settings import (
    AUTHOR,
    ENDLESS,
    FEW,
    GUARDED,
    HEURISTIC_NOTE,
    LOOKS,
    OBEY,
    RULE_NOTE,
    TRAFFIC_NOTE,
    VCP,
    VCP_EBE,
    on_testbed,
)

BEFORE: Final[Span] = (15.0, 20.0)
AFTER: Final[Span] = (40.0, 120.0)
_SMALL: Final = "author, buffer of 100 packets"
_HALVED: Final[dict[str, Any]] = {
    **ENDLESS,
    "duration": "120s",
    "topology.bottleneck.rate": {"kind": "steps", "steps": [["0s", "10mbps"], ["20s", "5mbps"]]},
}


def halved(label: str, rule: str = AUTHOR, changes: dict[str, Any] | None = None) -> Any:
    """Return VCP or VCP-EBE, configured for 10 Mbit/s, on a link whose capacity halves."""
    made = on_testbed(label, {**_HALVED, **(changes or {})}, FEW, rule)
    scheme = with_options(made.scheme, capacity="10mbps") if label == VCP else made.scheme
    return type(made)(made.scenario, scheme, made.changes, made.repetitions)


@styled
def _draw(runs: FigureRuns) -> Picture:
    shown = runs.choices[:2]
    picture, axes = panels(2 * len(shown))
    for number, choice in enumerate(shown):
        first = {label: runs.of(choice)(label)[0] for label in (VCP, VCP_EBE)}
        utilisation_over_time(axes[2 * number], first, LOOKS, 120.0)
        queue_over_time(axes[2 * number + 1], first, LOOKS, 120.0)
        axes[2 * number].set_title(choice, loc="right")
    return picture


def _tables(runs: FigureRuns) -> list[TextTable]:
    def row(choice: str, label: str) -> tuple[str, ...]:
        of = runs.of(choice)
        return (
            choice,
            label,
            cell(each(of, label, lambda run: utilisation(run, AFTER))),
            cell(each(of, label, lambda run: 100 * mean_queue(run, AFTER))),
            cell(each(of, label, lambda run: 100 * queue_deviation_share(run, AFTER))),
            cell(each(of, label, lambda run: 100 * loss_share(run, AFTER))),
            cell(each(of, label, lambda run: 100 * dismissed_share(run))),
        )

    return [
        TextTable(
            "From 40 to 120 s; queues in percent of the buffer",
            (
                "choice",
                "protocol",
                "utilisation",
                "mean queue",
                "range of the queue",
                "lost (%)",
                "losses classified as errors (%)",
            ),
            tuple(row(choice, label) for choice in runs.choices for label in (VCP, VCP_EBE)),
        )
    ]


def _swing(of: Runs, label: str) -> Sample:
    return each(of, label, lambda run: queue_deviation_share(run, AFTER))


_RULES: Final = (AUTHOR, GUARDED, OBEY)

FIG14: Final = Figure(
    id="vcp-w/fig14",
    paper=PAPER,
    title="VCP when the capacity halves at 20 s, and VCP-EBE",
    experiments={
        **{rule: {VCP: halved(VCP, rule), VCP_EBE: halved(VCP_EBE, rule)} for rule in _RULES},
        _SMALL: {
            label: halved(label, AUTHOR, {"topology.bottleneck.queue.limit": "150kB"})
            for label in (VCP, VCP_EBE)
        },
    },
    readings=readings((*_RULES, _SMALL), AFTER_FREEZE),
    draw=_draw,
    tables=_tables,
    not_in_paper=("ebe-converges", "ebe-steady", "ebe-full", "heuristic-misled"),
    claims=(
        Claim(
            "converged-before",
            "before, the estimate agrees with the capacity and VCP converges",
            AtLeast(0.8),
            "VCP's utilisation from 15 to 20 s",
            lambda of: each(of, VCP, lambda run: utilisation(run, BEFORE)),
        ),
        Claim(
            "does-not-converge",
            "VCP fails to converge after the capacity has halved",
            AtLeast(0.2),
            "longest minus shortest queue from 40 to 120 s, VCP, share of the buffer",
            lambda of: _swing(of, VCP),
        ),
        Claim(
            "ebe-converges",
            "(ours) VCP-EBE on the same link does: its queue oscillates less",
            Positive(),
            "longest minus shortest queue from 40 to 120 s, VCP minus VCP-EBE, share of the buffer",
            lambda of: difference(_swing(of, VCP).values, _swing(of, VCP_EBE).values),
        ),
        Claim(
            "ebe-steady",
            "(ours) and stays small",
            AtMost(0.15),
            "longest minus shortest queue from 40 to 120 s, VCP-EBE, share of the buffer",
            lambda of: _swing(of, VCP_EBE),
        ),
        Claim(
            "ebe-full",
            "(ours) while it uses the link",
            AtLeast(0.85),
            "VCP-EBE's utilisation from 40 to 120 s",
            lambda of: each(of, VCP_EBE, lambda run: utilisation(run, AFTER)),
        ),
        Claim(
            "heuristic-misled",
            "(ours) if routers are configured with too much capacity, the heuristic classifies congestion"
            " as errors",
            AtLeast(0.5),
            "share of the losses that VCP's senders classified as errors, buffer of 100 packets",
            lambda of: each(of, VCP, dismissed_share),
            choices=(_SMALL,),
        ),
    ),
    notes=(
        "10 Mbit/s become 5 Mbit/s at 20 s; VCP's routers remain configured with 10, VCP-EBE's start with"
        " it. Transfers do not end.",
        RULE_NOTE,
        HEURISTIC_NOTE,
        TRAFFIC_NOTE,
    ),
    kernel=KernelForm({"": AUTHOR}, dict.fromkeys((VCP, VCP_EBE), "120s")),
)

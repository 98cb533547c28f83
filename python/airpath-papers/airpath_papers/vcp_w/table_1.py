"""VCP-W, Table I: mean completion times of the testbed's transfers."""

from typing import Final

from airpath.statistics import TextTable
from airpath_papers.claim import Claim, Runs
from airpath_papers.figure import Figure, FigureRuns
from airpath_papers.kernel.form import KernelForm
from airpath_papers.rules import Between, Near, Positive
from airpath_papers.sample import Sample, cell, difference
from airpath_papers.vcp_w.paper import AFTER_FREEZE, PAPER, readings
from airpath_papers.vcp_w.testbed_drawing import each
from airpath_papers.vcp_w.testbed_measures import last_end_s, mean_transfer_s
from airpath_papers.vcp_w.testbed_settings import (
    AUTHOR,
    DECREASES_ONLY,
    DELAYS_EACH_WAY,
    DROP_TAIL,
    GUARDED,
    HEURISTIC_NOTE,
    IN_FREEZE,
    IN_SMALL_PACKETS,
    NEWRENO,
    OBEY,
    RED,
    RULE_NOTE,
    SMALLEST,
    SQUARE,
    TRAFFIC_NOTE,
    VCP,
    XCP,
    all_four,
    on_testbed,
)

PAPER_S: Final = {DROP_TAIL: 121.0, RED: 102.5, XCP: 55.2, VCP: 72.1}
"""Mean completion times of the paper, in seconds."""
TOLERANCE: Final = 0.15
"""Tolerance for agreement between a testbed of kernels and one of simulated packets."""

_SACK: Final = "author, TCP with SACK (today)"
_HEAVIER: Final = "author, background window of 64 kB"
_MARKING: Final = "author, RED marks"
_ECN: Final = {**NEWRENO, "transport.ecn": True}
_MARKS: Final = {"topology.bottleneck.queue.ecn": True, "topology.bottleneck.queue.mark_limit": 1.0}
"""RED in Linux marks if possible; that of ns-2 drops from a probability of 0.1 on."""


_EXPERIMENTS: Final = {
    **{rule: all_four(rule) for rule in (AUTHOR, GUARDED, OBEY, SQUARE)},
    _SACK: all_four(AUTHOR, tcp={}),
    _HEAVIER: all_four(AUTHOR, changes={"flows.6.transport.receive_window": "64kB"}),
    _MARKING: {**all_four(AUTHOR, tcp=_ECN), RED: on_testbed(RED, {**_ECN, **_MARKS})},
    f"{AUTHOR}{IN_FREEZE}": all_four(AUTHOR, changes=DELAYS_EACH_WAY, **DECREASES_ONLY),
    **{
        choice: all_four(rule, small_packets=True, **further)
        for choice, (rule, further) in IN_SMALL_PACKETS.items()
        if not choice.endswith(SMALLEST)
    },
}


def _tables(runs: FigureRuns) -> list[TextTable]:
    return [
        TextTable(
            f"{words} in seconds (± half-width of the 95 % interval)",
            ("protocol", "paper", *runs.choices),
            tuple(
                (
                    protocol,
                    f"{PAPER_S[protocol]:g}" if measure is mean_transfer_s else "",
                    *(cell(each(runs.of(choice), protocol, measure)) for choice in runs.choices),
                )
                for protocol in PAPER_S
            ),
        )
        for words, measure in (
            ("Mean completion time of the 15 forward transfers", mean_transfer_s),
            ("When the last forward transfer ends", last_end_s),
        )
    ]


def _time(protocol: str, reason: str = "") -> Claim:
    return Claim(
        protocol.lower().replace("/", "-"),
        f"transfers take {PAPER_S[protocol]:g} s on average under {protocol}",
        Near(PAPER_S[protocol], TOLERANCE),
        "mean completion time of 15 transfers",
        lambda of: each(of, protocol, mean_transfer_s),
        unit="s",
        reason=reason,
    )


def _slower(of: Runs, one: str, other: str) -> Sample:
    return difference(each(of, one, mean_transfer_s).values, each(of, other, mean_transfer_s).values)


def _order(slow: str, fast: str, reason: str = "") -> Claim:
    return Claim(
        f"{slow}-{fast}".lower().replace("/", "-"),
        f"transfers under {fast} are shorter than under {slow}",
        Positive(),
        f"mean completion time, {slow} minus {fast}",
        lambda of: _slower(of, slow, fast),
        unit="s",
        reason=reason,
    )


_TOO_FAST: Final = (
    "15 times 5 MB in 60 s is the capacity of the link; nothing in the traffic keeps BIC from using it, and"
    " a background heavy enough to slow TCP this much slows VCP far more"
)

TABLE_1: Final = Figure(
    id="vcp-w/table1",
    paper=PAPER,
    title="Mean completion times of 5-MB transfers",
    experiments=_EXPERIMENTS,
    readings=readings(_EXPERIMENTS, AFTER_FREEZE),
    draw=None,
    tables=_tables,
    sentences={"order": ("vcp-xcp", "tcp-red-vcp", "tcp-dt-vcp", "tcp-dt-tcp-red")},
    claims=(
        _time(DROP_TAIL, _TOO_FAST),
        _time(RED, _TOO_FAST),
        _time(XCP),
        _time(VCP),
        _order(VCP, XCP),
        _order(
            RED, VCP, "a mean of completions rewards unfairness; with SACK the TCPs have the shortest means"
        ),
        _order(
            DROP_TAIL,
            VCP,
            "nothing in this traffic keeps BIC from filling a buffer of 1000 packets and the link; VCP"
            " needs 17 s to fill the link",
        ),
        _order(
            DROP_TAIL,
            RED,
            "with NewReno's one repair a round trip, RED's early drops cost more than the full queue of"
            " drop-tail; with SACK both reach the limit of the link. If RED marks, it drops no packet",
        ),
        Claim(
            "last",
            "the last transfer under VCP ends before 120 s (figure 10(a))",
            Between(75, 120),
            "end of VCP's last transfer",
            lambda of: each(of, VCP, last_end_s),
            unit="s",
        ),
    ),
    notes=(
        TRAFFIC_NOTE,
        RULE_NOTE,
        HEURISTIC_NOTE,
        "The paper compares with “TCP/AQM+ECN in Linux” in its introduction and mentions a “drop"
        " probability” for its testbed: RED drops here, and marks in one choice, in which it is ahead of"
        " drop-tail and of VCP.",
        "Packets of 1040 bytes do not change the order of the means: drop-tail 70 s, RED 86 s, XCP 61 s,"
        " VCP 76 s with “author”. With “obey” VCP's lead over RED is significant only then.",
        "75 MB in each direction at 10 Mbit/s take 60 s at least, so an average of 55.2 s implies that some"
        " transfers end early.",
    ),
    kernel=KernelForm({"": AUTHOR}, dict.fromkeys(PAPER_S, "130s")),
)

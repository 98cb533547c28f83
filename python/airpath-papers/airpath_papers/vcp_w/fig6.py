"""VCP-W, figure 6: the queues of the parking lot."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from matplotlib.figure import Figure as Picture

from airpath.plots.style import styled
from airpath.statistics import TextTable
from airpath.views.styles import SchemeStyle
from airpath_papers.claim import Claim, Runs
from airpath_papers.drawing import bars, panels, without_legend
from airpath_papers.experiment import Experiment
from airpath_papers.figure import Figure, FigureRuns
from airpath_papers.measures import Span, mean_queue, of_each
from airpath_papers.rules import AtMost, Between
from airpath_papers.run_data import RunData
from airpath_papers.sample import Sample, cell, sample
from airpath_papers.vcp_w.channel import DATA_BYTES
from airpath_papers.vcp_w.paper import (
    AFTER_FREEZE,
    DRAFTS_X,
    LOOKS,
    NS2_TIMEOUTS,
    OBEYING,
    PAPER,
    PROFILE,
    QUARTER,
    RULES,
    SHORT_TIMEOUTS,
    VCP,
    XCP,
    readings,
    xcp,
)
from airpath_papers.vcp_w.parking_lot import LINKS, PARKING_LOT, RULES_NOTE, SETTING, on
from airpath_papers.vcp_w.parking_lot_ns2 import ALL_LINKS, ns2_rows
from airpath_papers.vcp_w.parking_lot_ns2 import NOTE as NS2_NOTE

REPETITIONS: Final = 10
BEFORE: Final[Span] = (100.0, 1000.0)
"""The span in which CD has no local flows."""
AFTER: Final[Span] = (1100.0, 1500.0)
"""The span in which it has, without their start."""
WHOLE: Final[Span] = (100.0, 1500.0)
"""The span of the paper's single mean, without the start."""
_SPANS: Final[Mapping[str, Span]] = {"before R3": BEFORE, "after": AFTER}
_LOCAL: Final = ("AB", "BC", "DE")
"""Links that always have local flows."""
_SCHEMES: Final = (XCP, VCP)
_SHADES: Final = {(XCP, "before R3"): LOOKS[XCP].colour, (XCP, "after"): "#8fc7b8"} | {
    (VCP, "before R3"): LOOKS[VCP].colour,
    (VCP, "after"): "#e6bfd4",
}


def _share(label: str, span: Span, links: Sequence[str]) -> Callable[[Runs], Sample]:
    """Return the mean queue over links, as a share of the buffer."""

    def share(run: RunData) -> float:
        return sum(mean_queue(run, span, link) for link in links) / len(links)

    return lambda of: sample(of_each(of(label), share))


def _packets(run: RunData, span: Span, link: str) -> float:
    return mean_queue(run, span, link) * run.links[link].buffer_bytes / DATA_BYTES


def _times(span: Span, links: Sequence[str]) -> Callable[[Runs], Sample]:
    """Return VCP's queue as a multiple of XCP's, in mean packets over links, seed by seed."""

    def packets(run: RunData) -> float:
        return sum(_packets(run, span, link) for link in links)

    def measure(of: Runs) -> Sample:
        pairs = zip(of_each(of(VCP), packets), of_each(of(XCP), packets), strict=True)
        return sample([one / other for one, other in pairs])

    return measure


def _samples(runs: FigureRuns, choice: str, label: str, span: Span) -> list[Sample]:
    found = runs.of(choice)(label)
    return [sample([_packets(run, span, link) for run in found]) for link in LINKS]


@styled
def _draw(runs: FigureRuns) -> Picture:
    looks = {
        f"{LOOKS[label].display_name}, {when}": SchemeStyle(
            f"{LOOKS[label].display_name}, {when}", colour, LOOKS[label].marker
        )
        for (label, when), colour in _SHADES.items()
    }
    picture, axes = panels(len(runs.choices), columns=2)
    for choice, panel in zip(runs.choices, axes, strict=True):
        values = {}
        for name, (label, when) in zip(looks, _SHADES, strict=True):
            samples = _samples(runs, choice, label, _SPANS[when])
            halves = [(one.interval[1] - one.interval[0]) / 2 for one in samples]
            values[name] = ([one.mean for one in samples], halves)
        bars(panel, LINKS, values, looks, "mean queue (packets)")
        without_legend(panel)
        panel.set_title(choice, loc="right", fontsize=8)
    picture.legend(*axes[0].get_legend_handles_labels(), loc="outside upper left", ncols=len(looks))
    return picture


def _table(runs: FigureRuns) -> list[TextTable]:
    return [
        TextTable(
            f"Mean queue in packets from {span[0]:g} to {span[1]:g} s, {when}"
            " (± half-width of the 95 % interval)",
            ("choice", "scheme", *LINKS),
            (
                *(
                    (
                        choice,
                        LOOKS[label].display_name,
                        *(cell(one.values) for one in _samples(runs, choice, label, span)),
                    )
                    for choice in runs.choices
                    for label in _SCHEMES
                ),
                *(
                    (name, LOOKS[XCP].display_name, *cells)
                    for name, *cells in ns2_rows("queue_packets", ALL_LINKS[span == AFTER], cell)
                ),
            ),
        )
        for when, span in _SPANS.items()
    ]


_HALF_LIMIT: Final = "XCP limit 0.5 s"


def _experiments(
    rule: str, limit: str = XCP, changes: Mapping[str, Any] | None = None
) -> dict[str, Experiment]:
    return {
        label: on(PARKING_LOT, scheme, REPETITIONS, changes) for label, scheme in ((XCP, limit), (VCP, rule))
    }


_REASON: Final = (
    "equilibrium windows of 8 alpha_s packets overfill the links with linear or square AI and alpha 1"
)
_BOTH_PARTS: Final = (
    f"{_REASON}; with “obey” 1.6 times before R3 started, 1.3 times after, and 0.6 times on CD, which has 60"
    " local flows then"
)
_AT_CD: Final = (
    "a fair share of CD is 1.4 packets for each of the 60 local flows, and windows are whole packets (likely)"
)
_XCP_RISES: Final = (
    f"{_REASON}; with “obey” 1.3 times, because XCP's own queue is longer then, most on DE, as with ns-2's"
    " XCP if no timeout expires without a loss; with ns-2's timeouts it is shorter, see the notes"
)
_PLACES: Final[Mapping[str, tuple[str, Span, tuple[str, ...]]]] = {
    "whole": ("whole run, all links", WHOLE, LINKS),
    "before": ("before R3, on AB, BC and DE", BEFORE, _LOCAL),
    "after": ("after R3 started, on AB, BC and DE", AFTER, _LOCAL),
    "cd": ("after R3 started, on CD", AFTER, ("CD",)),
}
"""Places of the claims: span, and links that have local flows in it."""


def _claims(place: str) -> tuple[Claim, ...]:
    where, span, links = _PLACES[place]
    seconds = f"{span[0]:g} to {span[1]:g} s"
    return (
        Claim(
            f"twice-{place}",
            f"VCP builds a queue twice as long as XCP's; {where}",
            Between(1.5, 3.0),
            f"mean queue in packets from {seconds}, VCP over XCP",
            _times(span, links),
            reason={"whole": _BOTH_PARTS, "before": _REASON, "after": _XCP_RISES, "cd": _AT_CD}[place],
        ),
        *(
            Claim(
                f"{label}-low-{place}",
                f"{LOOKS[label].display_name} retains a low queue; {where}",
                AtMost(0.04),
                f"mean queue from {seconds}, share of the buffer",
                _share(label, span, links),
                reason=_AT_CD if place == "cd" else _REASON,
            )
            for label in _SCHEMES
        ),
    )


_EXPERIMENTS: Final = (
    {rule: _experiments(rule) for rule in RULES}
    | {f"{rule}, {_HALF_LIMIT}": _experiments(rule, xcp("500ms")) for rule in (OBEYING, QUARTER)}
    | {f"{rule}, {NS2_TIMEOUTS}": _experiments(rule, XCP, SHORT_TIMEOUTS) for rule in (OBEYING, QUARTER)}
    | {f"{OBEYING}, {DRAFTS_X}": _experiments(OBEYING, xcp("1s", drafts_x=True))}
)

FIG6: Final = Figure(
    id="vcp-w/fig6",
    paper=PAPER,
    title="Average queue of each bottleneck of the parking lot, XCP and VCP",
    experiments=_EXPERIMENTS,
    readings=readings(_EXPERIMENTS, AFTER_FREEZE),
    draw=_draw,
    tables=_table,
    sentences={"low": ("xcp-low-whole", "vcp-low-whole")},
    alternatives={
        "twice-whole": ("twice-before", "twice-after", "twice-cd"),
        "low": (
            "xcp-low-before",
            "vcp-low-before",
            "xcp-low-after",
            "vcp-low-after",
            "xcp-low-cd",
            "vcp-low-cd",
        ),
    },
    claims=tuple(claim for place in _PLACES for claim in _claims(place)),
    notes=(
        "“author” is the headline, as in other figures, although it fills the links. Two rules were selected"
        " by their queues: equilibrium windows fit the links with “obey” and AI not scaled, and mostly with"
        " alpha 0.25. XCP's limit is 1.0 s; 0.5 s, with a shorter queue before R3, was added after the first"
        " results. The figure has one mean for each link, which is evaluated first. The parts before and"
        " after R3 are also evaluated separately, because XCP's queue differs: it is 15 packets on CD from"
        " R3's first seconds on, and 8.5 instead of 5.4 on DE behind it, while AB and BC stay at 5. With the"
        " draft's X (figure 5) it is 11 and 6.6, and 2.3 on AB and BC.",
        NS2_NOTE,
        "Low is 4 % of the buffer. Small windows are paced over the round trip, as in the authors' code,"
        " except for choices named “not paced”. Whether pacing shortens the queue depends on the rule.",
        RULES_NOTE,
        SETTING,
        PROFILE,
    ),
)

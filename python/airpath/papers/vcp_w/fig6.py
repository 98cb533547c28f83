"""VCP-W, figure 6: the queues of the parking lot."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from matplotlib.figure import Figure as Picture

from airpath.papers.claim import Claim, Runs
from airpath.papers.drawing import bars, panels, without_legend
from airpath.papers.figure import Figure, FigureRuns
from airpath.papers.measures import Span, mean_queue, of_each
from airpath.papers.rules import AtMost, Between
from airpath.papers.run_data import RunData
from airpath.papers.sample import Sample, sample
from airpath.papers.vcp_w.channel import DATA_BYTES
from airpath.papers.vcp_w.paper import LOOKS, PAPER, PROFILE, RULES, VCP, XCP, cell
from airpath.papers.vcp_w.parking_lot import LINKS, PARKING_LOT, RULES_NOTE, SETTING, on
from airpath.plots.style import styled
from airpath.statistics import TextTable

REPETITIONS: Final = 10
_SPAN: Final[Span] = (100.0, 1500.0)
_BUSY: Final[Mapping[str, Span]] = {"AB": _SPAN, "BC": _SPAN, "CD": (1100.0, 1500.0), "DE": _SPAN}
"""When each link has local flows."""
_SCHEMES: Final = (XCP, VCP)


def _over_links(run: RunData) -> float:
    """Return the mean queue over the four links, as a share of the buffer."""
    return sum(mean_queue(run, _BUSY[link], link) for link in LINKS) / len(LINKS)


def _share(label: str) -> Callable[[Runs], Sample]:
    return lambda of: sample(of_each(of(label), _over_links))


def _packets(run: RunData, link: str) -> float:
    return mean_queue(run, _BUSY[link], link) * run.links[link].buffer_bytes / DATA_BYTES


def _times(links: Sequence[str]) -> Callable[[Runs], Sample]:
    """Return how many times XCP's queue VCP's is, mean in packets over links, seed by seed."""

    def packets(run: RunData) -> float:
        return sum(_packets(run, link) for link in links)

    def measure(of: Runs) -> Sample:
        pairs = zip(of_each(of(VCP), packets), of_each(of(XCP), packets), strict=True)
        return sample([one / other for one, other in pairs])

    return measure


def _samples(runs: FigureRuns, choice: str, label: str) -> list[Sample]:
    found = runs.of(choice)(label)
    return [sample([_packets(run, link) for run in found]) for link in LINKS]


@styled
def _draw(runs: FigureRuns) -> Picture:
    picture, axes = panels(len(runs.choices), columns=2)
    for choice, panel in zip(runs.choices, axes, strict=True):
        values = {}
        for label in _SCHEMES:
            samples = _samples(runs, choice, label)
            halves = [(one.interval[1] - one.interval[0]) / 2 for one in samples]
            values[label] = ([one.mean for one in samples], halves)
        bars(panel, LINKS, values, LOOKS, "mean queue (packets)")
        if panel is not axes[0]:
            without_legend(panel)
        panel.set_title(choice, loc="right", fontsize=8)
    return picture


def _table(runs: FigureRuns) -> list[TextTable]:
    return [
        TextTable(
            "Mean queue in packets from 100 s on, of CD from 1100 s on (± half-width of the 95 % interval)",
            ("choice", "scheme", *LINKS),
            tuple(
                (
                    choice,
                    LOOKS[label].display_name,
                    *(cell(one.values) for one in _samples(runs, choice, label)),
                )
                for choice in runs.choices
                for label in _SCHEMES
            ),
        )
    ]


_REASON: Final = (
    "resting windows of 8 alpha_s packets overfill the links with linear or square AI and alpha 1"
)

FIG6: Final = Figure(
    id="vcp-w/fig6",
    paper=PAPER,
    title="Average queue of each bottleneck of the parking lot, XCP and VCP",
    experiments={
        rule: {XCP: on(PARKING_LOT, XCP, REPETITIONS), VCP: on(PARKING_LOT, rule, REPETITIONS)}
        for rule in RULES
    },
    draw=_draw,
    tables=_table,
    claims=(
        Claim(
            "twice",
            "VCP builds a queue twice as long as XCP's",
            Between(1.5, 3.0),
            "mean queue in packets over AB, BC and DE, which have local flows all along, VCP over XCP",
            _times(("AB", "BC", "DE")),
            reason=_REASON,
        ),
        Claim(
            "twice-cd",
            "the same on CD alone",
            Between(1.5, 3.0),
            "mean queue on CD from 1100 s on, VCP over XCP",
            _times(("CD",)),
            reason=_REASON,
        ),
        Claim(
            "xcp-low",
            "XCP retains a low queue",
            AtMost(0.05),
            "XCP's mean queue over the four links, share of the buffer",
            _share(XCP),
        ),
        Claim(
            "vcp-low",
            "VCP retains a low queue",
            AtMost(0.05),
            "VCP's mean queue over the four links, share of the buffer",
            _share(VCP),
            reason=_REASON,
        ),
    ),
    notes=(
        "Each choice is a reading of VCP's sender; XCP is the same in all, with the limit of 1.0 s. Small"
        " windows are spread over the round trip, as in the authors' code, unless the name says “not paced”."
        " Which of the two makes the shorter queue depends on the rule.",
        RULES_NOTE,
        SETTING,
        PROFILE,
    ),
)

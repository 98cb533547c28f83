"""Causes of the starvation of long flows under VCP in VCP-W's parking lot: two, one at a time."""

from typing import Any, Final

from matplotlib.figure import Figure as Picture

from airpath.plots.style import styled
from airpath.statistics import TextTable
from airpath_papers.claim import Claim, Runs
from airpath_papers.drawing import bars, looks_of, panels
from airpath_papers.figure import Figure, FigureRuns
from airpath_papers.rules import AtLeast
from airpath_papers.run_data import RunData
from airpath_papers.sample import Sample, cell, sample
from airpath_papers.vcp_w.paper import AFTER_FREEZE, AUTHOR, GUARDED, OBEYING, PAPER, PROFILE, readings
from airpath_papers.vcp_w.parking_lot import (
    BEFORE,
    ONE_HOP,
    PARKING_LOT,
    RULES_NOTE,
    SETTING,
    capped,
    local_to_long,
    on,
    ratio,
)

REPETITIONS: Final = 5

_ONE_CAP, _ONE, _FOUR_CAP, _FOUR = (
    f"{links}, {cap}" for links in ("one link", "four links") for cap in ("capped", "not capped")
)
_PLACES: Final = {
    _ONE_CAP: (ONE_HOP, True),
    _ONE: (ONE_HOP, False),
    _FOUR_CAP: (PARKING_LOT, True),
    _FOUR: (PARKING_LOT, False),
}


def _of(label: str) -> Any:
    return ratio(label, "AB", BEFORE)


def _factor(one: str, other: str) -> Any:
    """Return the ratio of one label divided by that of another, seed by seed."""

    def measure(of: Runs) -> Sample:
        pairs = zip(_of(one)(of).values, _of(other)(of).values, strict=True)
        return sample([first / second for first, second in pairs])

    return measure


def _ab(run: RunData) -> float:
    return local_to_long(run, "AB", BEFORE)


@styled
def _draw_causes(runs: FigureRuns) -> Picture:
    picture, (panel,) = panels(1, height_in=3.2)
    looks = looks_of(tuple(_PLACES))
    values = {}
    for place in _PLACES:
        samples = [sample([_ab(run) for run in runs.of(rule)(place)]) for rule in runs.choices]
        halves = [(one.interval[1] - one.interval[0]) / 2 for one in samples]
        values[place] = ([one.mean for one in samples], halves)
    bars(panel, runs.choices, values, looks, "local over long flows on AB")
    panel.axhline(2.0, color="#444444", linewidth=0.8, linestyle=":")
    return picture


def _table_causes(runs: FigureRuns) -> list[TextTable]:
    return [
        TextTable(
            "Local over long flows on AB, 500 to 1000 s (± half-width of the 95 % interval); fair is 2",
            ("choice", *_PLACES),
            tuple(
                (rule, *(cell([_ab(run) for run in runs.of(rule)(place)]) for place in _PLACES))
                for rule in runs.choices
            ),
        )
    ]


_RULES: Final = (AUTHOR, GUARDED, OBEYING)
_ONE_CAUSE: Final = "with “author” the two causes together exceed the bound, each alone is just below it"

CAUSES: Final = Figure(
    id="vcp-w/causes",
    ours=True,
    paper=PAPER,
    title="Starvation of long flows under VCP: caps of scaling and the number of links, one at a time",
    experiments={
        rule: {
            place: on(scenario, capped(rule, cap), REPETITIONS) for place, (scenario, cap) in _PLACES.items()
        }
        for rule in _RULES
    },
    readings=readings(_RULES, AFTER_FREEZE),
    draw=_draw_causes,
    tables=_table_causes,
    claims=(
        Claim(
            "caps",
            "one cause is the cap of scaling at 500 ms (ours)",
            AtLeast(1.5),
            "ratio on one link, capped over not capped (a cause: 1.5 or more)",
            _factor(_ONE_CAP, _ONE),
        ),
        Claim(
            "links",
            "one cause is the overload of four links on the path of long flows (ours)",
            AtLeast(1.5),
            "ratio on AB with the caps, four links over one",
            _factor(_FOUR_CAP, _ONE_CAP),
        ),
        Claim(
            "links-alone",
            "four links starve long flows without the caps (ours)",
            AtLeast(8.0),
            "ratio on AB with four links, not capped",
            _of(_FOUR),
            reason=_ONE_CAUSE,
        ),
        Claim(
            "caps-alone",
            "the caps starve long flows on one link (ours)",
            AtLeast(8.0),
            "ratio on one link, capped",
            _of(_ONE_CAP),
            reason=_ONE_CAUSE,
        ),
    ),
    notes=(
        "Not in the paper: this figure separates two explanations. With one link the long flows keep their"
        " base RTT of 2.02 s by delay at their access link and cross AB alone. The paper's own explanation,"
        " more frequent reactions of local flows, applies to all four places.",
        RULES_NOTE,
        SETTING,
        PROFILE,
    ),
)

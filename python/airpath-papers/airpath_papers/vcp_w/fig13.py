"""VCP-W, figure 13: the heuristic over a link that corrupts packets."""

from typing import Any, Final

from matplotlib.figure import Figure as Picture

from airpath.plots.style import styled
from airpath.statistics import TextTable
from airpath_papers.claim import Claim, Runs
from airpath_papers.drawing import panels
from airpath_papers.figure import Figure, FigureRuns
from airpath_papers.kernel.form import KernelForm
from airpath_papers.measures import Span, goodput_mbps, utilisation
from airpath_papers.rules import AtLeast, AtMost, Between, Positive
from airpath_papers.sample import Sample, cell, difference
from airpath_papers.vcp_w.paper import CHANNEL_STEPS, PAPER, readings
from airpath_papers.vcp_w.testbed_drawing import each, utilisation_over_time
from airpath_papers.vcp_w.testbed_measures import variation
from airpath_papers.vcp_w.testbed_settings import (
    BARE_VCP,
    BIT,
    CHANNEL_NOTE,
    ENDLESS,
    FEW,
    LOOKS,
    RULE_NOTE,
    SYMBOL,
    TRAFFIC_NOTE,
    VCP,
    on_testbed,
    over_air,
)

STEADY: Final[Span] = (30.0, 200.0)
_PRINTED: Final = "per bit, 10 dB (printed)"
_SYMBOL: Final = "per symbol, 10 dB"
_SHIFTED: Final = "per bit, 15 dB"
_SHOWN: Final = (BARE_VCP, VCP)
_CLEAN: Final = "VCP, no corruption"
_POINTS: Final = {_PRINTED: (BIT, 10.0), _SYMBOL: (SYMBOL, 10.0), _SHIFTED: (BIT, 15.0)}


def _experiments(clock: str, snr: float) -> dict[str, Any]:
    changes = {**ENDLESS, "duration": "200s", **over_air(clock, snr, "2x1", 0.95)}
    clean = on_testbed(VCP, {**ENDLESS, "duration": "200s"}, FEW)
    return {label: on_testbed(label, changes, FEW) for label in _SHOWN} | {_CLEAN: clean}


@styled
def _draw(runs: FigureRuns) -> Picture:
    picture, axes = panels(len(runs.choices))
    for choice, panel in zip(runs.choices, axes, strict=True):
        shown = {label: runs.of(choice)(label)[0] for label in _SHOWN}
        utilisation_over_time(panel, shown, LOOKS, 200.0)
        panel.set_title(choice, loc="right")
    return picture


def _tables(runs: FigureRuns) -> list[TextTable]:
    return [
        TextTable(
            "Utilisation from 30 to 200 s",
            ("choice", *_SHOWN),
            tuple(
                (
                    choice,
                    *(
                        cell(each(runs.of(choice), label, lambda run: utilisation(run, STEADY)))
                        for label in _SHOWN
                    ),
                )
                for choice in runs.choices
            ),
        )
    ]


def _steady(of: Runs, label: str) -> Sample:
    return each(of, label, lambda run: utilisation(run, STEADY))


def _swing(of: Runs, label: str) -> Sample:
    return each(of, label, lambda run: variation(run, STEADY))


_NO_BARE: Final = "VCP in the kernel always has loss differentiation"
_NO_CLEAN: Final = "runs without corruption for comparison take too long in real time"
_DEAD: Final = "by the printed model every packet is lost at 10 dB, with or without the heuristic"

FIG13: Final = Figure(
    id="vcp-w/fig13",
    paper=PAPER,
    title="VCP with and without the heuristic, 2x1 at 10 dB, FEC 0.95",
    experiments={choice: _experiments(*point) for choice, point in _POINTS.items()},
    readings=readings(_POINTS, CHANNEL_STEPS),
    draw=_draw,
    tables=_tables,
    sentences={"better": ("better-with", "rescued")},
    not_in_paper=("dead-as-printed",),
    claims=(
        Claim(
            "low-without",
            "without the heuristic the utilisation is low, yet there is one",
            Between(0.1, 0.4),
            "utilisation from 30 to 200 s without the heuristic",
            lambda of: _steady(of, BARE_VCP),
            reason=_DEAD,
        ),
        Claim(
            "better-with",
            "with it the utilisation is significantly better",
            AtLeast(0.3),
            "utilisation from 30 to 200 s, with minus without",
            lambda of: difference(_steady(of, VCP).values, _steady(of, BARE_VCP).values),
            reason=_DEAD,
        ),
        Claim(
            "rescued",
            "VCP with the heuristic achieves a good utilisation",
            AtLeast(0.6),
            "utilisation from 30 to 200 s with the heuristic",
            lambda of: _steady(of, VCP),
            reason=_DEAD,
        ),
        Claim(
            "oscillates",
            "though it oscillates: more than without corruption, where it oscillates by two per cent as well",
            Positive(),
            "standard deviation of the utilisation of 5 s, with the heuristic minus without corruption",
            lambda of: difference(_swing(of, VCP).values, _swing(of, _CLEAN).values),
            reason=_DEAD,
        ),
        Claim(
            "dead-as-printed",
            "(ours) as printed the channel carries nothing for either",
            AtMost(0.05),
            "utilisation from 30 to 200 s with the heuristic, minus the lost bits",
            lambda of: each(of, VCP, lambda run: goodput_mbps(run) / 10.0),
            choices=(_PRINTED,),
        ),
    ),
    notes=(
        "Departures from the bottleneck count as utilisation, as in the paper, including packets that"
        " arrive corrupted. Transfers do not end.",
        CHANNEL_NOTE,
        RULE_NOTE,
        TRAFFIC_NOTE,
    ),
    kernel=KernelForm(
        {_SYMBOL: _SYMBOL},
        {VCP: "120s"},
        without=dict.fromkeys(("low-without", "better-with"), _NO_BARE) | {"oscillates": _NO_CLEAN},
    ),
)

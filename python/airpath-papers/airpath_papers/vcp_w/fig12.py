"""VCP-W, figure 12: an RTT of 1600 ms."""

from typing import Any, Final

from matplotlib.figure import Figure as Picture

from airpath.plots.style import styled
from airpath.statistics import TextTable
from airpath_papers.claim import Claim, Runs
from airpath_papers.drawing import panels
from airpath_papers.figure import Figure, FigureRuns
from airpath_papers.kernel.form import KernelForm
from airpath_papers.measures import Span, utilisation
from airpath_papers.rules import Positive
from airpath_papers.sample import Sample, cell, difference
from airpath_papers.settings import with_options
from airpath_papers.vcp_w.paper import PAPER
from airpath_papers.vcp_w.testbed_drawing import each, ran, utilisation_over_time
from airpath_papers.vcp_w.testbed_measures import mean_transfer_s, variation
from airpath_papers.vcp_w.testbed_settings import (
    AUTHOR,
    BIT,
    CHANNEL_NOTE,
    ENDLESS,
    FEW,
    HEURISTIC_NOTE,
    LOOKS,
    PACED,
    RULE_NOTE,
    SQUARE,
    TRAFFIC_NOTE,
    VCP,
    XCP,
    on_testbed,
    over_air,
)

STEADY: Final[Span] = (100.0, 300.0)
_TRANSFERS: Final = ", transfers"
_PACED_VCP: Final = "author, VCP paced"
_LIMIT_2S: Final = "author, XCP's interval up to 2 s"
_LONG: Final[dict[str, Any]] = {"topology.bottleneck.delay": "800ms", **over_air(BIT, 30, "2x2", 0.93)}


def _experiments(rule: str, paced: dict[str, Any], xcp: dict[str, str]) -> dict[str, Any]:
    def xcp_of(changes: dict[str, Any]) -> Any:
        made = on_testbed(XCP, changes, FEW)
        return type(made)(made.scenario, with_options(made.scheme, **xcp), made.changes, made.repetitions)

    endless = {**_LONG, **ENDLESS}
    return {
        VCP: on_testbed(VCP, {**endless, **paced}, FEW, rule),
        XCP: xcp_of(endless),
        VCP + _TRANSFERS: on_testbed(VCP, {**_LONG, **paced, "duration": "500s"}, FEW, rule),
        XCP + _TRANSFERS: xcp_of({**_LONG, "duration": "500s"}),
    }


@styled
def _draw(runs: FigureRuns) -> Picture:
    picture, axes = panels(len(runs.choices))
    for choice, panel in zip(runs.choices, axes, strict=True):
        of = runs.of(choice)
        ends = _TRANSFERS if ran(of, VCP + _TRANSFERS) else ""
        shown = {label: of(label + ends)[0] for label in (VCP, XCP)}
        utilisation_over_time(panel, shown, LOOKS, 250.0, 2.0)
        panel.set_title(choice, loc="right")
    return picture


def _tables(runs: FigureRuns) -> list[TextTable]:
    transfers = ran(runs.of(runs.choices[0]), VCP + _TRANSFERS)

    def row(choice: str, label: str) -> tuple[str, ...]:
        of = runs.of(choice)
        return (
            choice,
            label,
            cell(each(of, label, lambda run: utilisation(run, STEADY))),
            cell(each(of, label, lambda run: variation(run, STEADY))),
            *((cell(each(of, label + _TRANSFERS, mean_transfer_s)),) if transfers else ()),
        )

    return [
        TextTable(
            "Without end from 100 to 300 s" + (", and transfers of 5 MB" if transfers else ""),
            (
                *("choice", "protocol", "utilisation", "deviation of 5 s"),
                *(("completion (s)",) if transfers else ()),
            ),
            tuple(row(choice, label) for choice in runs.choices for label in (VCP, XCP)),
        )
    ]


def _minus(of: Runs, one: str, other: str, measure: Any) -> Sample:
    return difference(each(of, one, measure).values, each(of, other, measure).values)


FIG12: Final = Figure(
    id="vcp-w/fig12",
    paper=PAPER,
    title="Utilisation with an RTT of 1600 ms, VCP and XCP",
    experiments={
        AUTHOR: _experiments(AUTHOR, {}, {}),
        SQUARE: _experiments(SQUARE, {}, {}),
        _PACED_VCP: _experiments(AUTHOR, dict(PACED), {}),
        _LIMIT_2S: _experiments(AUTHOR, {}, {"max_interval": "2s"}),
    },
    draw=_draw,
    tables=_tables,
    claims=(
        Claim(
            "steadier",
            "VCP does not oscillate much, XCP varies widely",
            Positive(),
            "standard deviation of the utilisation of 5 s from 100 to 300 s, XCP minus VCP",
            lambda of: _minus(of, XCP, VCP, lambda run: variation(run, STEADY)),
        ),
        Claim(
            "higher",
            "VCP achieves a higher utilisation",
            Positive(),
            "utilisation from 100 to 300 s, VCP minus XCP",
            lambda of: _minus(of, VCP, XCP, lambda run: utilisation(run, STEADY)),
            reason=(
                "on average VCP is ahead only if it grows fast, with square AI, and equal if it is paced:"
                " its decreases are an eighth each time, while XCP oscillates around a higher mean"
            ),
        ),
        Claim(
            "xcp-sooner",
            "XCP completes sooner",
            Positive(),
            "mean completion time of 5 MB, VCP minus XCP",
            lambda of: _minus(of, VCP + _TRANSFERS, XCP + _TRANSFERS, mean_transfer_s),
            unit="s",
        ),
    ),
    notes=(
        "2x2, 30 dB, FEC of 0.93 and 0.5 as in figure 3; hardly a packet is lost. Random errors per bit,"
        " the printed reading. The interval limit of XCP is 1 s, below the RTT. Steadiness is measured from"
        " transfers without end; the figure shows transfers of 5 MB.",
        RULE_NOTE,
        HEURISTIC_NOTE,
        CHANNEL_NOTE,
        TRAFFIC_NOTE,
    ),
    kernel=KernelForm(
        {"": AUTHOR},
        dict.fromkeys((VCP, XCP), "200s"),
        without={"xcp-sooner": "its transfers take 500 s of real time"},
    ),
)

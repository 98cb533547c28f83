"""The loss-differentiation heuristic over independent losses. Not from the paper (only figure 13 is)."""

from collections.abc import Mapping
from typing import Any, Final

from matplotlib.figure import Figure as Picture

from airpath.plots.style import styled
from airpath.statistics import TextTable
from airpath.views.styles import SchemeStyle
from airpath_papers.claim import Claim, Runs
from airpath_papers.drawing import panels
from airpath_papers.experiment import Experiment
from airpath_papers.figure import Figure, FigureRuns
from airpath_papers.measures import Span, utilisation
from airpath_papers.rules import AtLeast, AtMost, Between, Rule
from airpath_papers.sample import Sample, cell, difference
from airpath_papers.vcp_w.paper import PAPER
from airpath_papers.vcp_w.testbed_drawing import each, over
from airpath_papers.vcp_w.testbed_settings import (
    AUTHOR,
    BARE_VCP,
    BARE_XCP,
    FEW,
    LOOKS,
    NEWRENO,
    VCP,
    XCP,
    of_rule,
)

SCENARIO: Final = "vcpw-heuristic"
LOSSES: Final = (0.0, 0.01, 0.05, 0.2)
STEADY: Final[Span] = (50.0, 300.0)
HALVED: Final = "a loss halves VCP's window"
DECREASED: Final = "a loss is an MD by 0.875"
_ANSWERS: Final[Mapping[str, Mapping[str, Any]]] = {HALVED: {}, DECREASED: {"loss_factor": 0.875}}
"""VCP's reaction to a loss that counts as congestion, by the name of the choice."""

_TOTAL: Final = "VCP, any 16 of 32"
_EIGHT: Final = "VCP, 8 of 32"
_NEWRENO: Final = "VCP, NewReno's repair"
_CUBIC: Final = "CUBIC"
_BARE_CUBIC: Final = "CUBIC without heuristic"

_OTHERS: Final[Mapping[str, str]] = {
    XCP: "xcp-ld",
    BARE_XCP: "xcp",
    _CUBIC: "cubic-ld",
    _BARE_CUBIC: "cubic",
}
_SENDERS: Final = (VCP, BARE_VCP, *_OTHERS, _TOTAL, _EIGHT, _NEWRENO)
_LOOKS: Final[Mapping[str, SchemeStyle]] = {
    **LOOKS,
    _CUBIC: SchemeStyle(_CUBIC, "#d55e00", "s"),
    _BARE_CUBIC: SchemeStyle(_BARE_CUBIC, "#e69f00", "s"),
}


def _senders(answer: Mapping[str, Any]) -> dict[str, tuple[str, Mapping[str, Any]]]:
    """Return scheme and changes of each sender, given VCP's reaction to a loss."""
    return {
        VCP: (of_rule(AUTHOR, **answer), {}),
        BARE_VCP: (of_rule(AUTHOR, "vcp", **answer), {}),
        **{name: (scheme, {}) for name, scheme in _OTHERS.items()},
        _TOTAL: (of_rule(AUTHOR, history_rule="total", **answer), {}),
        _EIGHT: (of_rule(AUTHOR, history_threshold=8, **answer), {}),
        _NEWRENO: (of_rule(AUTHOR, **answer), NEWRENO),
    }


def at(sender: str, loss: float) -> str:
    """Return the label of one point."""
    return f"{sender}, {100 * loss:g} %"


def _steady(of: Runs, sender: str, loss: float) -> Sample:
    return each(of, at(sender, loss), lambda run: utilisation(run, STEADY))


@styled
def _draw(runs: FigureRuns) -> Picture:
    of = runs.of(HALVED)
    picture, (panel,) = panels(1, height_in=3.2)
    lines = {
        sender: (_LOOKS[sender], lambda percent, sender=sender: _steady(of, sender, percent / 100).values)
        for sender in (VCP, BARE_VCP, XCP, BARE_XCP, _CUBIC, _BARE_CUBIC)
    }
    over(panel, [100 * loss for loss in LOSSES], lines, "packets corrupted (%)", "utilisation")
    panel.set_ylim(0, 1.02)
    return picture


def _tables(runs: FigureRuns) -> list[TextTable]:
    return [
        TextTable(
            f"Utilisation from 50 to 300 s by the share of corrupted packets; {choice}",
            ("sender", *(f"{100 * loss:g} %" for loss in LOSSES)),
            tuple(
                (sender, *(cell(_steady(runs.of(choice), sender, loss)) for loss in LOSSES))
                for sender in _SENDERS
            ),
        )
        for choice in runs.choices
    ]


def _claim(sender: str, loss: float, statement: str, rule: Rule, reason: str = "") -> Claim:
    return Claim(
        f"{sender.lower().replace(' ', '-')}-{100 * loss:g}",
        statement,
        rule,
        f"utilisation from 50 to 300 s with {100 * loss:g} % of the packets corrupted, {sender}",
        lambda of: _steady(of, sender, loss),
        reason=reason,
    )


def _same(name: str, sender: str, what: str) -> Claim:
    return Claim(
        name,
        f"{what} makes no difference",
        Between(-0.05, 0.05),
        f"utilisation at 5 %, {sender} minus VCP",
        lambda of: difference(_steady(of, sender, 0.05).values, _steady(of, VCP, 0.05).values),
        reason=(
            "overloads occur in clusters, so any 16 of 32 are reached more often and more losses reduce the"
            " window"
        ),
    )


HEURISTIC: Final = Figure(
    id="vcp-w/heuristic",
    ours=True,
    paper=PAPER,
    title="Utilisation over independent losses with and without the heuristic",
    experiments={
        choice: {
            at(sender, loss): Experiment(SCENARIO, scheme, {**changes, "topology.bottleneck.loss": loss}, FEW)
            for sender, (scheme, changes) in _senders(answer).items()
            for loss in LOSSES
        }
        for choice, answer in _ANSWERS.items()
    },
    draw=_draw,
    tables=_tables,
    claims=(
        _claim(BARE_VCP, 0.01, "without the heuristic VCP loses most of the link at 1 %", AtMost(0.4)),
        _claim(BARE_VCP, 0.05, "and nearly all at 5 %", AtMost(0.1)),
        _claim(BARE_XCP, 0.01, "XCP without it keeps more at 1 %", Between(0.5, 0.75)),
        _claim(BARE_XCP, 0.05, "and at 5 %", Between(0.5, 0.75)),
        _claim(VCP, 0.01, "with the heuristic VCP is rescued at 1 %", AtLeast(0.7)),
        _claim(VCP, 0.05, "at 5 %", AtLeast(0.65)),
        _claim(VCP, 0.2, "and at 20 %", AtLeast(0.6)),
        _claim(XCP, 0.01, "with it XCP is rescued at 1 %", AtLeast(0.8)),
        _claim(XCP, 0.05, "at 5 %", AtLeast(0.8)),
        _claim(XCP, 0.2, "and at 20 %", AtLeast(0.7)),
        _same("total", _TOTAL, "any 16 of 32 instead of the newest 16"),
        _same("eight", _EIGHT, "T = 8 instead of 16"),
        Claim(
            "repair-matters",
            "loss repair matters as much as the heuristic",
            AtLeast(0.15),
            "utilisation at 5 %, repair by SACK minus NewReno's",
            lambda of: difference(_steady(of, VCP, 0.05).values, _steady(of, _NEWRENO, 0.05).values),
            reason=(
                "here codes continue to change the window while a dismissed loss is repaired, so a slow"
                " repair costs less"
            ),
        ),
    ),
    notes=(
        "Data packets are corrupted independently, acknowledgments are not corrupted. SACK recovery, VCP's"
        " rule “author”. CUBIC has no router feedback: its evidence of congestion is a queueing delay above"
        " half of the largest so far.",
        "Bytes that leave the bottleneck count, including corrupted ones, so the useful part is at most 1"
        " minus the loss.",
        "The paper says that a loss that counts as congestion triggers “an MD operation”. Under VCP a loss"
        " halves the window, as under Reno; its MD at overload leaves 0.875. Both are shown; the figure"
        " shows the former.",
    ),
)

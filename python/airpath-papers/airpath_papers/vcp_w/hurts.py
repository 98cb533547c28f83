"""Cases in which loss differentiation hurts: congestion mistaken for errors. Not from the paper."""

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from matplotlib.figure import Figure as Picture

from airpath.plots.style import legend_above, styled
from airpath.statistics import TextTable
from airpath_papers.claim import Claim, Runs
from airpath_papers.drawing import panels
from airpath_papers.experiment import Experiment
from airpath_papers.figure import Figure, FigureRuns
from airpath_papers.measures import Span, loss_share, utilisation
from airpath_papers.rules import AtLeast, Between, Positive, Rule
from airpath_papers.run_data import RunData
from airpath_papers.sample import Sample, cell, difference
from airpath_papers.vcp_w.paper import PAPER
from airpath_papers.vcp_w.testbed_drawing import each
from airpath_papers.vcp_w.testbed_measures import dismissed_share
from airpath_papers.vcp_w.testbed_settings import AUTHOR, of_rule

SCENARIO: Final = "vcpw-hurts"
REPETITIONS: Final = 20
"""Enough runs to show how often a run collapses, losing nearly everything."""
STEADY: Final[Span] = (50.0, 200.0)
LARGE: Final = "buffer of 1 BDP"
SMALL: Final = "buffer of 0.1 BDP"
BUFFERS: Final = {LARGE: "1bdp", SMALL: "0.1bdp"}

RENO: Final = "Reno"
CUBIC: Final = "CUBIC"
VCP: Final = "VCP"
_SCHEMES: Final[dict[str, tuple[str, str]]] = {
    RENO: ("newreno", "newreno-ld"),
    CUBIC: ("cubic", "cubic-ld"),
    VCP: (of_rule(AUTHOR, "vcp"), of_rule(AUTHOR)),
}
"""Without and with loss differentiation."""
_OTHERS: Final = (RENO, CUBIC)
_ITSELF: Final = "its own scheme"


def at(tested: str, differentiates: bool, other: str) -> str:
    """Return the label of one experiment."""
    return f"{tested}{' with' if differentiates else ''} against {other}"


def _experiments(limit: str) -> dict[str, Experiment]:
    def one(scheme: str, other: str) -> Experiment:
        return Experiment(
            SCENARIO, scheme, {"flows.1.scheme": other, "topology.bottleneck.queue.limit": limit}, REPETITIONS
        )

    made = {
        at(tested, differentiates, other): one(_SCHEMES[tested][differentiates], _SCHEMES[other][0])
        for tested in _SCHEMES
        for other in _OTHERS
        for differentiates in (False, True)
    }
    return made | {
        at(tested, differentiates, _ITSELF): one(scheme, scheme)
        for tested, schemes in _SCHEMES.items()
        for differentiates, scheme in zip((False, True), schemes, strict=True)
    }


def _share(run: RunData) -> float:
    """Return the tested group's share of the bytes of both groups."""
    rows = run.group_time_s > STEADY[0]
    departed = run.group_departed_bytes[:, rows].sum(axis=1)
    return float(departed[run.groups.index("tested")] / departed.sum())


def _loss(run: RunData) -> float:
    return loss_share(run, STEADY)


_COLUMNS: Final[dict[str, Callable[[RunData], float]]] = {
    "its share": _share,
    "lost (%)": lambda run: 100 * _loss(run),
    "runs that collapse": lambda run: float(_loss(run) > 0.5),
    "utilisation": lambda run: utilisation(run, STEADY),
    "classified as errors (%)": lambda run: 100 * dismissed_share(run),
}


def _tables(runs: FigureRuns) -> list[TextTable]:
    return [
        TextTable(
            f"{choice}: no corruption, every loss is congestion; “with”: loss differentiation",
            ("tested", *_COLUMNS),
            tuple(
                (label, *(cell(each(runs.of(choice), label, measure)) for measure in _COLUMNS.values()))
                for label in runs.labels(choice)
            ),
        )
        for choice in runs.choices
    ]


@styled
def _draw(runs: FigureRuns) -> Picture:
    picture, axes = panels(4, height_in=2.6, columns=2)
    pairs = [(tested, other) for tested in _SCHEMES for other in (*_OTHERS, _ITSELF)]
    places = np.arange(len(pairs))
    for row, choice in enumerate(runs.choices):
        for column, (measure, name) in enumerate(((_share, "share of the tested"), (_loss, "lost"))):
            panel = axes[2 * row + column]
            for shift, differentiates in ((-0.2, False), (0.2, True)):
                samples = [
                    each(runs.of(choice), at(one, differentiates, other), measure) for one, other in pairs
                ]
                panel.bar(
                    places + shift,
                    [100 * one.mean for one in samples],
                    0.4,
                    yerr=[50 * (one.interval[1] - one.interval[0]) for one in samples],
                    error_kw={"elinewidth": 0.6, "capsize": 1.2},
                    color="#d55e00" if differentiates else "#56b4e9",
                    label="with differentiation" if differentiates else "without",
                )
            panel.set_xticks(places, [f"{one}\n{other}" for one, other in pairs], fontsize=5)
            panel.set_ylabel(f"{name} (%)")
            panel.set_title(choice, loc="right")
            panel.set_ylim(bottom=0)
            if column == 0:
                panel.axhline(50, color="#7f7f7f", linewidth=0.6)
            if not row and not column:
                legend_above(panel)
    return picture


def _more(tested: str, other: str, measure: Callable[[RunData], float]) -> Callable[[Runs], Sample]:
    def minus(of: Runs) -> Sample:
        with_it, without = (each(of, at(tested, one, other), measure) for one in (True, False))
        return difference(with_it.values, without.values)

    return minus


def _claim(
    name: str, statement: str, rule: Rule, measured: str, measure: Any, choice: str, reason: str = ""
) -> Claim:
    return Claim(name, statement, rule, measured, measure, choices=(choice,), reason=reason)


_RUNAWAY: Final = (
    "more is lost in every run, in a few nearly everything, so the mean has a wide interval: a flow whose"
    " losses are all dismissed grows without limit"
)

HURTS: Final = Figure(
    id="vcp-w/hurts",
    ours=True,
    paper=PAPER,
    title="Congestion classified as errors: the cost of loss differentiation",
    experiments={choice: _experiments(limit) for choice, limit in BUFFERS.items()},
    draw=_draw,
    tables=_tables,
    claims=(
        *(
            _claim(
                f"harmless-{tested}-{other}".lower(),
                f"with a buffer of one BDP, {tested} with differentiation takes no more from {other} than"
                " without",
                Between(-0.06, 0.06),
                f"share of the tested flows, with minus without, {tested} competing with {other}",
                _more(tested, other, _share),
                LARGE,
            )
            for tested in _SCHEMES
            for other in _OTHERS
        ),
        *(
            _claim(
                f"unfair-{tested}-{other}".lower(),
                f"with a tenth of that buffer, {tested} with differentiation takes bandwidth from {other}",
                Positive(),
                f"share of the tested flows, with minus without, {tested} competing with {other}",
                _more(tested, other, _share),
                SMALL,
            )
            for tested in _SCHEMES
            for other in _OTHERS
        ),
        *(
            _claim(
                f"lossy-{tested}".lower(),
                f"with a tenth of that buffer, all-{tested} traffic with differentiation loses more",
                Positive(),
                f"share of bytes lost, with minus without, all {tested}",
                _more(tested, _ITSELF, _loss),
                SMALL,
                _RUNAWAY,
            )
            for tested in (RENO, CUBIC)
        ),
        _claim(
            "misjudged",
            "with a tenth of that buffer, most losses are classified as errors",
            AtLeast(0.5),
            "share of losses classified as errors, Reno competing with Reno",
            lambda of: each(of, at(RENO, True, RENO), dismissed_share),
            SMALL,
        ),
    ),
    notes=(
        "Ten flows over 10 Mbit/s and 100 to 110 ms on drop-tail, five of them tested; 1 BDP is 125 kB. No"
        " packet is corrupted, so each dismissed loss is a mistake. Reno and CUBIC use delay as evidence:"
        " behind a short queue the delay is too rarely above half of the largest for 16 consecutive"
        " acknowledgments.",
        "A run collapses when more than half of all bytes are lost. Reno and CUBIC detect congestion by"
        " losses only: if these are dismissed nothing ends their growth, including slow start.",
        "VCP shares the queue of its router with TCP, which ignores the router: VCP's share is small with"
        " any setting.",
    ),
)

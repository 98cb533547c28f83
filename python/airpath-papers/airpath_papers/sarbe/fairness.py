"""SARBE, figure 5: fairness among ten flows of one scheme."""

from typing import Any, Final

from matplotlib.figure import Figure as Picture

from airpath.plots.style import styled
from airpath.statistics import TextTable
from airpath_papers.claim import Claim, Runs
from airpath_papers.drawing import panels
from airpath_papers.figure import Figure, FigureRuns
from airpath_papers.measures import jain
from airpath_papers.rules import AtLeast, Positive
from airpath_papers.sample import cell, difference, sample
from airpath_papers.sarbe.paper import (
    DYNAPARA,
    DYNAPARA_TIMED,
    PAPER,
    RENO,
    SARBE,
    SCHEMES,
    STAND_INS,
    TRANSPORT,
    WESTWOOD,
    WESTWOOD_PLUS,
    WHICH_WESTWOOD,
)
from airpath_papers.sarbe.wireless import LINKS, LOSSES, SETTING, at, at_losses, over_loss
from airpath_papers.settings import title

REPETITIONS: Final = 10
HIGH: Final = 0.95
"""Our reading of "quite high"."""


def _indices(of: Runs, scheme: str) -> list[float]:
    """Return the Jain index of each repetition, averaged over the loss rates."""
    by_loss = [at(of, scheme, loss, jain) for loss in LOSSES]
    return [sum(run) / len(run) for run in zip(*by_loss, strict=True)]


def _above(one: str, other: str) -> Any:
    return lambda of: difference(_indices(of, one), _indices(of, other))


@styled
def _draw(runs: FigureRuns) -> Picture:
    picture, axes = panels(len(runs.choices), height_in=3.0)
    for choice, panel in zip(runs.choices, axes, strict=True):
        over_loss(panel, runs.of(choice), SCHEMES, jain, "Jain index")
        panel.set_title(choice, loc="right")
    return picture


def _tables(runs: FigureRuns) -> list[TextTable]:
    return [
        TextTable(
            f"Jain index of ten flows, {choice}",
            ("loss (%)", *(title(scheme) for scheme in SCHEMES)),
            tuple(
                (f"{100 * loss:g}", *(cell(at(runs.of(choice), scheme, loss, jain)) for scheme in SCHEMES))
                for loss in LOSSES
            ),
        )
        for choice in runs.choices
    ]


_STEADIER: Final = (
    "an estimate averaged over an RTT is steadier than SARBE's, and so are the shares; the paper compares"
    " with none"
)
_MEAN: Final = "Jain index, mean over loss rates"

FIG5: Final = Figure(
    id="sarbe/fig5",
    paper=PAPER,
    title="Fairness among ten flows of one scheme over the loss rate",
    experiments={
        choice: at_losses("sarbe-wireless-ten", SCHEMES, REPETITIONS, changes)
        for choice, changes in LINKS.items()
    },
    draw=_draw,
    tables=_tables,
    sentences={"second": ("second-to-westwood", "second-to-dynapara")},
    alternatives={"second": ("second-to-westwood+", "second-to-dynapara-timed")},
    claims=(
        Claim(
            "reno-best",
            "Reno is always the fairest",
            Positive(),
            f"{_MEAN}, NewReno minus SARBE",
            _above(RENO, SARBE),
        ),
        *(
            Claim(
                f"second-to-{other}",
                f"SARBE is second: fairer than {title(other)}",
                Positive(),
                f"{_MEAN}, SARBE minus {title(other)}",
                _above(SARBE, other),
                reason=_STEADIER,
            )
            for other in (WESTWOOD, WESTWOOD_PLUS, DYNAPARA, DYNAPARA_TIMED)
        ),
        Claim(
            "high",
            "SARBE's index is quite high",
            AtLeast(HIGH),
            f"{_MEAN}, SARBE",
            lambda of: sample(_indices(of, SARBE)),
        ),
    ),
    notes=(
        SETTING,
        "Ten flows start within the first second and last to the end. The index is that of the departures"
        " from the wireless hop over the whole run.",
        TRANSPORT,
        WHICH_WESTWOOD,
        STAND_INS,
    ),
)

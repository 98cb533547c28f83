"""SARBE, figure 6: ten flows, some SARBE and some of another scheme, at 1 % loss."""

from typing import Any, Final

import numpy as np
from matplotlib.figure import Figure as Picture

from airpath.plots.style import legend_above, styled
from airpath.statistics import TextTable
from airpath_papers.claim import Claim, Runs
from airpath_papers.drawing import looks_of, panels
from airpath_papers.experiment import Experiment
from airpath_papers.figure import Figure, FigureRuns
from airpath_papers.measures import of_each
from airpath_papers.rules import AtLeast, Positive
from airpath_papers.run_data import RunData
from airpath_papers.sample import cell, difference, sample
from airpath_papers.sarbe.paper import (
    DYNAPARA,
    DYNAPARA_TIMED,
    PAPER,
    RENO,
    SARBE,
    STAND_INS,
    TRANSPORT,
    WESTWOOD,
    WESTWOOD_PLUS,
    WHICH_WESTWOOD,
    of_the_era,
)
from airpath_papers.sarbe.wireless import LINKS, SETTING
from airpath_papers.settings import title

REPETITIONS: Final = 10
FLOWS: Final = 10
COUNTS: Final = (1, 3, 5, 7, 9)
"""Numbers of flows, of the ten, that use the other scheme."""
OTHERS: Final = (RENO, WESTWOOD, WESTWOOD_PLUS, DYNAPARA, DYNAPARA_TIMED)
FRIENDLY: Final = 0.8
"""Our reading of "friendly": the part of the fair share that the other scheme keeps at five to five."""


def _label(other: str, count: int) -> str:
    return f"{count} of {other}"


def _experiments(changes: Any) -> dict[str, Experiment]:
    return {
        _label(other, count): Experiment(
            "sarbe-friendliness",
            of_the_era(SARBE),
            {
                **changes,
                "flows.0.count": FLOWS - count,
                "flows.1.count": count,
                "flows.1.scheme": of_the_era(other),
            },
            REPETITIONS,
        )
        for other in OTHERS
        for count in COUNTS
    }


def _mean_kbps(run: RunData, group: str) -> float:
    """Return the mean goodput of a group's flows in kbit/s."""
    mine = np.array([name == group for name in run.flow_group], dtype=bool)
    return float(run.flow_goodput_bytes[mine].mean()) * 8e-3 / run.duration_s


def _fair_kbps(run: RunData) -> float:
    return float(run.flow_goodput_bytes.mean()) * 8e-3 / run.duration_s


def _goodput(of: Runs, other: str, count: int, group: str) -> list[float]:
    return of_each(of(_label(other, count)), lambda run: _mean_kbps(run, group))


def _advantage(other: str) -> Any:
    """Return the excess of a SARBE flow over one of the other scheme, averaged over the mixes."""

    def measure(of: Runs) -> Any:
        def mean(group: str) -> list[float]:
            by_count = [_goodput(of, other, count, group) for count in COUNTS]
            return [sum(run) / len(run) for run in zip(*by_count, strict=True)]

        return difference(mean("sarbe"), mean("other"))

    return measure


def _kept(other: str) -> Any:
    return lambda of: sample(
        of_each(of(_label(other, 5)), lambda run: _mean_kbps(run, "other") / _fair_kbps(run))
    )


@styled
def _draw(runs: FigureRuns) -> Picture:
    of = runs.of(runs.choices[0])
    picture, axes = panels(len(OTHERS), height_in=2.2, columns=2)
    looks = looks_of((SARBE, *OTHERS))
    for other, panel in zip(OTHERS, axes, strict=True):
        for scheme, group in ((SARBE, "sarbe"), (other, "other")):
            samples = [sample(_goodput(of, other, count, group)) for count in COUNTS]
            panel.errorbar(
                COUNTS,
                [one.mean for one in samples],
                [0.0 if one.n < 2 else (one.interval[1] - one.interval[0]) / 2 for one in samples],
                color=looks[scheme].colour,
                marker=looks[scheme].marker,
                markersize=3.5,
                linewidth=1.0,
                elinewidth=0.7,
                capsize=1.5,
                label=looks[scheme].display_name,
            )
        fair = [sample(of_each(of(_label(other, count)), _fair_kbps)).mean for count in COUNTS]
        panel.plot(COUNTS, fair, color="black", linestyle=":", label="fair share")
        panel.set_xlim(0, FLOWS)
        panel.set_xticks(COUNTS)
        panel.set_xlabel(f"flows of {title(other)}, of ten")
        panel.set_ylabel("goodput (kbit/s)")
        panel.set_ylim(0, 400)
        legend_above(panel)
    return picture


def _tables(runs: FigureRuns) -> list[TextTable]:
    return [_table(runs, choice) for choice in runs.choices]


def _table(runs: FigureRuns, choice: str) -> TextTable:
    of = runs.of(choice)
    return TextTable(
        f"Mean goodput of a SARBE flow / of a flow of the other scheme in kbit/s, {choice}",
        ("other scheme", *(f"{FLOWS - count} SARBE, {count} others" for count in COUNTS)),
        tuple(
            (
                title(other),
                *(
                    f"{cell(_goodput(of, other, count, 'sarbe'))} /"
                    f" {cell(_goodput(of, other, count, 'other'))}"
                    for count in COUNTS
                ),
            )
            for other in OTHERS
        ),
    )


_REASONS: Final = {
    WESTWOOD: (
        "Westwood's per-ACK estimate exceeds its share if its packets arrive in bunches; its window falls"
        " less at a loss"
    ),
    DYNAPARA: "over per-ACK samples the stand-in's window falls at a loss as little as SARBE's",
}

FIG6: Final = Figure(
    id="sarbe/fig6",
    paper=PAPER,
    title="Goodput of SARBE competing with Reno, Westwood and DynaPara at 1 % loss",
    experiments={choice: _experiments(changes) for choice, changes in LINKS.items()},
    draw=_draw,
    tables=_tables,
    sentences={
        "outdoes": ("outdoes-newreno", "outdoes-westwood", "outdoes-dynapara"),
        "friendly": ("friendly-to-newreno", "friendly-to-westwood", "friendly-to-dynapara"),
    },
    alternatives={
        "outdoes": ("outdoes-westwood+", "outdoes-dynapara-timed"),
        "friendly": ("friendly-to-westwood+", "friendly-to-dynapara-timed"),
    },
    claims=(
        *(
            Claim(
                f"outdoes-{other}",
                f"SARBE outdoes {title(other)} in goodput",
                Positive(),
                f"goodput of a flow, SARBE minus {title(other)}, mean over five mixes",
                _advantage(other),
                unit="kbit/s",
                reason=_REASONS.get(other, ""),
            )
            for other in OTHERS
        ),
        *(
            Claim(
                f"friendly-to-{other}",
                f"SARBE preserves friendliness with {title(other)}",
                AtLeast(FRIENDLY),
                f"goodput of a {title(other)} flow as a share of the fair share, five flows competing with"
                " five of SARBE",
                _kept(other),
            )
            for other in OTHERS
        ),
    ),
    notes=(
        SETTING,
        "The fair share (dotted) is a tenth of the total goodput. “Friendly” means at least 80 % of it.",
        TRANSPORT,
        WHICH_WESTWOOD,
        STAND_INS,
    ),
)

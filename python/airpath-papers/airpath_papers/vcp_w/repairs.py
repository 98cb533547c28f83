"""How much of VCP's problems each repair cures, by scenario. Not from the paper."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from matplotlib.figure import Figure as Picture

from airpath.plots import PAGE_IN
from airpath.plots.style import styled
from airpath.statistics import TextTable
from airpath_papers.claim import Claim, Runs
from airpath_papers.experiment import Experiment
from airpath_papers.figure import Figure, FigureRuns
from airpath_papers.measures import Span, loss_share, mean_queue, of_each, utilisation
from airpath_papers.rules import AtLeast
from airpath_papers.run_data import RunData
from airpath_papers.sample import Sample, cell, of_means
from airpath_papers.settings import with_options
from airpath_papers.vcp_w import fig14, heuristic
from airpath_papers.vcp_w.paper import PAPER
from airpath_papers.vcp_w.parking_lot import PARKING_LOT, local_to_long
from airpath_papers.vcp_w.testbed_measures import (
    near_over_far,
    queue_deviation_share,
    rolling_utilisation,
)
from airpath_papers.vcp_w.testbed_settings import (
    ENDLESS,
    PACED,
    RULE_NOTE,
    TRAFFIC_NOTE,
    VCP,
    Changes,
    on_testbed,
)

REPETITIONS: Final = 10


@dataclass(frozen=True)
class Repair:
    """A modification of VCP against its problems."""

    name: str
    """Readable name."""
    scheme: str = "vcp"
    """The scheme that replaces VCP."""
    options: Mapping[str, Any] | None = None
    """Additional options of the sender."""
    changes: Changes | None = None
    """Changes to the scenario."""

    def written(self, **told: Any) -> str:
        """Return the scheme with VCP's rule “author”; a configured capacity applies to EBE only."""
        rule = {"additive_scaling": "linear", "rtt_scaling": "smoothed", **(self.options or {})}
        return with_options(self.scheme, **rule, **(told if "ebe" in self.scheme else {}))


NONE: Final = "none"
AFTER_FREEZE: Final = "guarded"
OBEY: Final = "obey"
PACING: Final = "pacing"
EBE: Final = "EBE"
DIFFERENTIATION: Final = "heuristic"
FINER_CODE: Final = "MPCP"
ALL: Final = "all"

REPAIRS: Final = (
    Repair(NONE),
    Repair(AFTER_FREEZE, options={"after_freeze": "guarded"}),
    Repair(OBEY, options={"after_freeze": "obey"}),
    Repair(PACING, changes=PACED),
    Repair(EBE, "vcp-ebe"),
    Repair(DIFFERENTIATION, "vcp-ld"),
    Repair(FINER_CODE, "mpcp"),
    Repair(ALL, "mpcp-ebe-ld", {"after_freeze": "guarded"}, PACED),
)
"""Each repair alone; “all” is MPCP over EBE with heuristic, guarded rule and pacing."""


@dataclass(frozen=True)
class Trouble:
    """A problem of VCP in a scenario, as a number."""

    name: str
    """Readable name, with its unit."""
    measure: Callable[[RunData], float]
    """The number in a run."""
    ideal: float
    """Its value without the problem."""


@dataclass(frozen=True)
class Trial:
    """A scenario with the problems of VCP in it."""

    name: str
    """Readable name."""
    make: Callable[[Repair], Experiment]
    """The scenario with a repair."""
    troubles: tuple[Trouble, ...]
    """The problems."""


def cure(of: Runs, repair: str, trouble: Trouble) -> Sample:
    """Return the part of a problem that a repair removes on average: 1 all, 0 none, negative if worse."""
    plain, repaired = (of_each(of(one), trouble.measure) for one in (NONE, repair))
    return of_means(lambda before, after: (before - after) / (before - trouble.ideal), plain, repaired)


def figure(trials: Sequence[Trial], claims: tuple[Claim, ...], notes: tuple[str, ...]) -> Figure:
    """Return the figure of these trials: experiments, one table, and the plot of all cures."""
    return Figure(
        id="vcp-w/repairs",
        ours=True,
        paper=PAPER,
        title="Share of VCP's problems that each repair removes",
        experiments={trial.name: {one.name: trial.make(one) for one in REPAIRS} for trial in trials},
        draw=lambda runs: _draw(runs, trials),
        tables=lambda runs: [_table(runs, trials)],
        claims=claims,
        notes=notes,
    )


def _table(runs: FigureRuns, trials: Sequence[Trial]) -> TextTable:
    def entry(of: Runs, name: str, trouble: Trouble) -> str:
        number = cell(of_each(of(name), trouble.measure))
        return number if name == NONE else f"{number} ({cure(of, name, trouble).mean:.0%})"

    return TextTable(
        "Problems of VCP, without and with each repair (± half-width of the 95 % interval; in brackets the"
        " share that is removed)",
        ("scenario", "trouble", *(one.name for one in REPAIRS)),
        tuple(
            (
                trial.name,
                trouble.name,
                *(entry(runs.of(trial.name), one.name, trouble) for one in REPAIRS),
            )
            for trial in trials
            for trouble in trial.troubles
        ),
    )


@styled
def _draw(runs: FigureRuns, trials: Sequence[Trial]) -> Picture:
    rows = [(trial, trouble) for trial in trials for trouble in trial.troubles]
    names = [one.name for one in REPAIRS if one.name != NONE]
    parts = np.array(
        [[cure(runs.of(trial.name), name, trouble).mean for name in names] for trial, trouble in rows]
    )
    picture = Picture(figsize=(PAGE_IN, 0.32 * len(rows) + 0.7), layout="constrained")
    axes = picture.add_subplot()
    axes.imshow(np.clip(parts, -1, 1), cmap="RdBu", vmin=-1.3, vmax=1.3, aspect="auto")
    for row in range(len(rows)):
        for column in range(len(names)):
            axes.text(
                column,
                row,
                f"{parts[row, column]:.0%}",
                ha="center",
                va="center",
                fontsize=6.5,
                color="white" if abs(parts[row, column]) > 0.75 else "black",
            )
    axes.set_xticks(range(len(names)), names)
    axes.xaxis.tick_top()
    axes.set_yticks(
        range(len(rows)), [f"{trial.name}: {trouble.name}" for trial, trouble in rows], fontsize=6.5
    )
    axes.tick_params(length=0)
    axes.grid(visible=False)
    return picture


def _with(experiment: Experiment, scheme: str, repair: Repair) -> Experiment:
    changes = {**experiment.changes, **(repair.changes or {})}
    return replace(experiment, scheme=scheme, changes=changes, repetitions=REPETITIONS)


_BUSY: Final[Span] = (20.0, 50.0)
_STEADY: Final[Span] = (100.0, 300.0)


def _on_testbed(repair: Repair) -> Experiment:
    return _with(on_testbed(VCP, ENDLESS), repair.written(capacity="10mbps"), repair)


def _on_halved(repair: Repair) -> Experiment:
    made = _with(fig14.halved(VCP), repair.written(), repair)
    return replace(made, scheme=with_options(made.scheme, capacity="10mbps"))


def _over_losses(loss: float) -> Callable[[Repair], Experiment]:
    def make(repair: Repair) -> Experiment:
        made = Experiment(heuristic.SCENARIO, "vcp", {"topology.bottleneck.loss": loss})
        return _with(made, repair.written(capacity="10mbps"), repair)

    return make


def _on_satellite(repair: Repair) -> Experiment:
    return _with(
        Experiment("vcpw-satellite", "vcp", {"duration": "400s"}), repair.written(capacity="2mbps"), repair
    )


def _on_parking_lot(repair: Repair) -> Experiment:
    return _with(Experiment(PARKING_LOT, "vcp", {"duration": "1000s"}), repair.written(), repair)


def _converged_s(run: RunData) -> float:
    starts, share = rolling_utilisation(run)
    there = np.flatnonzero(share > 0.9)
    return float(starts[there[0]]) if there.size else run.duration_s


def _swing(run: RunData) -> float:
    return 100 * queue_deviation_share(run, fig14.AFTER)


def _idle(span: Span) -> Callable[[RunData], float]:
    return lambda run: 100 * (1 - utilisation(run, span))


_SWING: Final = Trouble("range of the queue (% of buffer)", _swing, 0.0)
_UNFAIR: Final = Trouble("400-ms flows over 550-ms flows", lambda run: near_over_far(run, _STEADY), 1.0)
_IDLE_LOSSY: Final = Trouble("unused (%)", _idle(heuristic.STEADY), 0.0)
_LOCAL: Final = Trouble(
    "local over long flows, AB", lambda run: local_to_long(run, "AB", (500.0, 1000.0)), 2.0
)
_FULL: Final = Trouble(
    "queue of AB (% of buffer)", lambda run: 100 * mean_queue(run, (500.0, 1000.0), "AB"), 0.0
)

TESTBED: Final = Trial(
    "testbed",
    _on_testbed,
    (
        Trouble("seconds to 90 %", _converged_s, 0.0),
        Trouble("unused from 20 to 50 s (%)", _idle(_BUSY), 0.0),
        _UNFAIR,
        Trouble("queue (% of buffer)", lambda run: 100 * mean_queue(run, _STEADY), 0.0),
    ),
)
HALVED: Final = Trial("capacity halves", _on_halved, (_SWING, Trouble("unused (%)", _idle(fig14.AFTER), 0.0)))
HALVED_SMALL: Final = Trial(
    "capacity halves, 100 packets of buffer",
    lambda repair: replace(
        made := _on_halved(repair), changes={**made.changes, "topology.bottleneck.queue.limit": "150kB"}
    ),
    (Trouble("lost (%)", lambda run: 100 * loss_share(run, fig14.AFTER), 0.0),),
)
LOSSY: Final = Trial("1 % corrupted", _over_losses(0.01), (_IDLE_LOSSY,))
LOSSIER: Final = Trial("5 % corrupted", _over_losses(0.05), (_IDLE_LOSSY,))
SATELLITE: Final = Trial(
    "satellite",
    _on_satellite,
    (
        Trouble("unused from 100 s on (%)", _idle((100.0, 400.0)), 0.0),
        Trouble("queue (% of buffer)", lambda run: 100 * mean_queue(run, (100.0, 400.0)), 0.0),
    ),
)
LOT: Final = Trial("parking lot", _on_parking_lot, (_LOCAL, _FULL))


def _cures(name: str, repair: str, trial: Trial, trouble: Trouble, what: str, reason: str = "") -> Claim:
    return Claim(
        name,
        f"(ours) {what}",
        AtLeast(0.5),
        f"share of “{trouble.name}” that “{repair}” removes, {trial.name}",
        lambda of: cure(of, repair, trouble),
        choices=(trial.name,),
        reason=reason,
    )


REPAIRS_FIGURE: Final = figure(
    (TESTBED, HALVED, HALVED_SMALL, LOSSY, LOSSIER, SATELLITE, LOT),
    (
        _cures(
            "heuristic-1",
            DIFFERENTIATION,
            LOSSY,
            _IDLE_LOSSY,
            "the heuristic removes most of the effect of 1 % corruption",
        ),
        _cures(
            "heuristic-5",
            DIFFERENTIATION,
            LOSSIER,
            _IDLE_LOSSY,
            "the heuristic removes most of the effect of 5 % corruption",
        ),
        _cures("ebe", EBE, HALVED, _SWING, "EBE removes most of the effect of a wrong capacity"),
        _cures(
            "mpcp",
            FINER_CODE,
            TESTBED,
            _UNFAIR,
            "MPCP's finer code removes most of the unfairness by RTT",
            "of 1.9 to 1, 1.6 to 1 remains",
        ),
        _cures(
            "guarded",
            AFTER_FREEZE,
            LOT,
            _FULL,
            "the guarded rule removes most of the standing queue of the parking lot",
        ),
        _cures(
            "mpcp-lot",
            FINER_CODE,
            LOT,
            _LOCAL,
            "MPCP's finer code removes most of the long flows' starvation",
        ),
        _cures("all-1", ALL, LOSSY, _IDLE_LOSSY, "all together still remove the effect of 1 % corruption"),
        _cures("all-swing", ALL, HALVED, _SWING, "all together still remove the effect of a wrong capacity"),
    ),
    (
        "A run that never reaches 90 % counts with its length of 300 s. Each repair is applied alone to VCP"
        " under the rule “author”, without the heuristic. The ideal is no unused capacity, no queue, equal"
        " rates; in the parking lot 2, the shares of max-min fairness. A share below 0 % is a deterioration;"
        " the colours end at 100 %. Shares of small problems are not meaningful: see the numbers.",
        "“obey” and “guarded” are “author” with another rule after the freeze, and therefore linear AI; in"
        " figures of the testbed “obey” has square AI as well.",
        RULE_NOTE,
        TRAFFIC_NOTE,
        "The links of the satellite and of the parking lot fade, with 2x2 antennas at 30 dB and random"
        " errors per bit.",
    ),
)

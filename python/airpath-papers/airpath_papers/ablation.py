"""Ablation of EBE: one part of XCP-EBE changed at a time, over paired runs. Not from a paper."""

from collections.abc import Callable
from typing import Any, Final

from matplotlib.figure import Figure as Picture

from airpath.plots.style import styled
from airpath.statistics import TextTable
from airpath_papers.claim import Claim
from airpath_papers.drawing import panels
from airpath_papers.ebe_j.paper import FIXED_SCHEDULE, SETTINGS, TRAFFIC
from airpath_papers.experiment import Experiment
from airpath_papers.figure import Figure, FigureRuns
from airpath_papers.measures import (
    bottlenecks,
    drops,
    jain,
    mean_queue,
    median_estimate_error,
    of_each,
    over_bottlenecks,
    utilisation,
)
from airpath_papers.rules import AtMost, Between, Positive
from airpath_papers.run_data import RunData
from airpath_papers.sample import Sample, difference, sample
from airpath_papers.settings import dumbbell, parking_lot, with_options

REPETITIONS: Final = 30
DEFAULT: Final = "default"
ORACLE: Final = "oracle"
PARKING_LOT: Final = "parking lot, 1 to 40 Mbit/s"

VARIANTS: Final[dict[str, dict[str, Any]]] = {
    DEFAULT: {},
    "filter none": {"profile": "none"},
    "filter journal": {"profile": "journal"},
    "filter counting": {"profile": "counting"},
    "filter normalised": {"profile": "normalised"},
    "filter linear": {"profile": "linear"},
    "counted in packets": {"unit": "packets"},
    "last queue": {"sampled_queue": "last"},
    "maintainer off": {"maintainer": "off"},
    "maintainer strict": {"maintainer": "strict"},
    "maintainer below threshold": {"maintainer": "below-threshold"},
    "monitor idle-corrected": {"monitor": "idle-corrected"},
    "monitor hold": {"monitor": "hold"},
    "spare bandwidth of EBE's interval": {"spare_arrivals": "estimator"},
    "Upsilon 1.0": {"upsilon": 1.0},
    "Upsilon 1.1": {"upsilon": 1.1},
    "Upsilon 1.2": {"upsilon": 1.2},
    "Upsilon 1.3": {"upsilon": 1.3},
    "Upsilon 1.5": {"upsilon": 1.5},
    "Upsilon 1.6": {"upsilon": 1.6},
    "XCP's window form": {"form": "window"},
    "Upsilon on positive feedback": {"upsilon_on": "positive-feedback"},
    "hold, Upsilon 1.2": {"monitor": "hold", "upsilon": 1.2},
    "hold, Upsilon 1.2, threshold 5 %": {"monitor": "hold", "upsilon": 1.2, "threshold": 0.05},
    "Upsilon 1.2, threshold 5 %": {"upsilon": 1.2, "threshold": 0.05},
    "linear, hold, Upsilon 1.2": {"profile": "linear", "monitor": "hold", "upsilon": 1.2},
    "linear, hold, Upsilon 1.1": {"profile": "linear", "monitor": "hold", "upsilon": 1.1},
    "linear, hold, Upsilon 1.05": {"profile": "linear", "monitor": "hold", "upsilon": 1.05},
    "maintainer off, hold": {"maintainer": "off", "monitor": "hold"},
}
"""Differences from the default: filter `icc`, plain monitor, latch, Upsilon = 1.40, threshold 15 %.

The last seven are combinations, since `hold` with Upsilon = 1.40 overshoots.
"""

_BUILDERS: Final[dict[str, Callable[[str], Experiment]]] = {
    "T": lambda scheme: dumbbell("T", scheme, REPETITIONS),
    "O": lambda scheme: dumbbell("O", scheme, REPETITIONS),
    PARKING_LOT: lambda scheme: parking_lot(40, scheme, REPETITIONS),
}

_EXPERIMENTS = {
    choice: {label: build(with_options("xcp-ebe", **options)) for label, options in VARIANTS.items()}
    | {ORACLE: build("xcp-oracle")}
    for choice, build in _BUILDERS.items()
}


_UTILISATION = over_bottlenecks(utilisation)
_QUEUE = over_bottlenecks(mean_queue)
_ERROR = over_bottlenecks(median_estimate_error)


def _total_drops(run: RunData) -> float:
    return sum(drops(run, name=name) for name in bottlenecks(run))


def _against_default(of: Any, label: str) -> Sample:
    return difference(of_each(of(label), _UTILISATION), of_each(of(DEFAULT), _UTILISATION))


@styled
def _draw(runs: FigureRuns) -> Picture:
    labels = [label for label in runs.labels(runs.choices[0]) if label != DEFAULT]
    picture, axes = panels(len(runs.choices), height_in=0.15 * len(labels), columns=len(runs.choices))
    places = list(range(len(labels)))[::-1]
    for choice, panel in zip(runs.choices, axes, strict=True):
        of = runs.of(choice)
        samples = [_against_default(of, label) for label in labels]
        means = [100 * one.mean for one in samples]
        halves = [50 * (one.interval[1] - one.interval[0]) for one in samples]
        colours = ["#009e73" if mean > 0 else "#d55e00" for mean in means]
        panel.barh(
            places,
            means,
            0.7,
            xerr=halves,
            color=colours,
            error_kw={"elinewidth": 0.7, "capsize": 1.5},
        )
        panel.axvline(0, color="#444444", linewidth=0.8)
        panel.set_yticks(places, labels if panel is axes[0] else [""] * len(labels))
        panel.set_xmargin(0.05)
        base = sample(of_each(of(DEFAULT), _UTILISATION)).mean
        panel.set_xlabel(f"points; default {100 * base:.1f} %")
        panel.set_title(choice, loc="right")
    return picture


def _table(runs: FigureRuns) -> list[TextTable]:
    return [_table_of(runs, choice) for choice in runs.choices]


def _table_of(runs: FigureRuns, choice: str) -> TextTable:
    of = runs.of(choice)

    def row(label: str) -> tuple[str, ...]:
        numbers = (
            sample(of_each(of(label), _UTILISATION)),
            _against_default(of, label),
            sample(of_each(of(label), _QUEUE)),
            sample(of_each(of(label), _total_drops)),
            sample(of_each(of(label), jain)),
            sample(of_each(of(label), _ERROR)),
        )
        return (label, *map(str, numbers))

    return TextTable(
        f"XCP-EBE, {choice}: mean ± half-width of the 95 % interval over {len(of(DEFAULT))} paired runs",
        (
            "variant",
            "utilisation",
            "against default, paired",
            "mean queue (share of buffer)",
            "drops",
            "Jain index",
            "median error of C",
        ),
        tuple(row(label) for label in runs.labels(choice)),
    )


ABLATION: Final = Figure(
    id="ebe/ablation",
    ours=True,
    paper="EBE, ablation",
    title="Ablation of XCP-EBE: one component changed at a time",
    experiments=_EXPERIMENTS,
    draw=_draw,
    tables=_table,
    claims=(
        Claim(
            "filter-hardly-matters",
            "the filter hardly matters: without it utilisation is the same",
            Between(-0.02, 0.02),
            "utilisation, no filter minus default",
            lambda of: _against_default(of, "filter none"),
        ),
        Claim(
            "journal-is-asleep",
            "the filter as printed in EBE-J (R by running variance) is worse",
            Positive(),
            "utilisation, default minus `journal`",
            lambda of: difference(
                of_each(of(DEFAULT), _UTILISATION), of_each(of("filter journal"), _UTILISATION)
            ),
        ),
        Claim(
            "maintainer-does-the-work",
            "the maintainer does nearly all the work: without it utilisation falls to 0.3 to 0.5",
            AtMost(0.5),
            "utilisation without maintainer",
            lambda of: sample(of_each(of("maintainer off"), _UTILISATION)),
            reason=(
                "with reverse traffic slightly more utilisation remains, because bunched acknowledgments"
                " queue occasionally"
            ),
        ),
        Claim(
            "hold-for-several-bottlenecks",
            "with several bottlenecks an empty queue must not lower the estimate",
            Positive(),
            "utilisation, `hold` with Upsilon = 1.2 minus default",
            lambda of: _against_default(of, "hold, Upsilon 1.2"),
            choices=(PARKING_LOT, "T", "O"),
        ),
        Claim(
            "smaller-upsilon",
            "a smaller Upsilon than the paper's 1.40 is better under saturating two-way traffic",
            Positive(),
            "utilisation, Upsilon = 1.2 minus Upsilon = 1.4",
            lambda of: _against_default(of, "Upsilon 1.2"),
        ),
        Claim(
            "oracle-is-the-bound",
            "no estimator beats the true capacity",
            Positive(),
            "utilisation, oracle minus default",
            lambda of: _against_default(of, ORACLE),
            reason=(
                "EBE keeps a queue and the oracle does not: EBE gains the last percent at the cost of delay"
            ),
        ),
    ),
    notes=(
        "The default is filter `icc`, plain monitor, latched maintainer, Upsilon = 1.40, threshold 15 %."
        " Each variant changes one of them, combinations (with commas) two or three. Runs of the same seed"
        " are paired.",
        "In the parking lot utilisation, queue and error are means over the five links, drops their sum;"
        " the Jain index there is over end-to-end and local flows of the middle link, whose shares differ"
        " by design.",
        FIXED_SCHEDULE,
        TRAFFIC,
        SETTINGS,
    ),
)

FIGURES = (ABLATION,)
"""The figures of this module."""

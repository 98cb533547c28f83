"""EBE-J, section IV: claims that compare one figure with another.

CUBIC compared with XCP and VCP (section IV-A.3); the parking lot compared with the dumbbell (sections IV-B.1,
IV-B.3).
"""

from functools import partial
from typing import Any, Final

from airpath.statistics import TextTable
from airpath_papers.claim import Claim, Runs
from airpath_papers.ebe_j.cubic import (
    CUBIC,
    CUBIC_EBE,
    CUBIC_SETTINGS,
    catch_up_at,
    catch_up_s,
    pair,
    second_half,
)
from airpath_papers.ebe_j.paper import FIXED_SCHEDULE, PAPER, SETTINGS
from airpath_papers.experiment import Experiment
from airpath_papers.figure import Figure, FigureRuns
from airpath_papers.measures import mean_queue, of_each, utilisation
from airpath_papers.rules import Positive
from airpath_papers.sample import Sample, cell, difference
from airpath_papers.settings import (
    ALL_SETTINGS,
    TWO_WAY,
    VCP_SCHEMES,
    dumbbell,
    parking_lot,
    readings,
    with_options,
)

REPETITIONS: Final = 30
MIDDLE: Final = "R2-R3"

_UNPAIRED: Final = "; the links differ, so the paired runs are independent"


def _between(of: Runs, first: tuple[str, Any], second: tuple[str, Any]) -> Sample:
    """Return the difference of two measures of two experiments, each given as label and measure."""
    return difference(of_each(of(first[0]), first[1]), of_each(of(second[0]), second[1]))


def _means(title: str, numbers: dict[str, Any]) -> Any:
    """Return the function that makes a table with a number for each choice and experiment."""

    def table(runs: FigureRuns) -> list[TextTable]:
        rows = [
            (choice, label, cell(of_each(runs.of(choice)(label), numbers[label])))
            for choice in runs.choices
            for label in runs.labels(choice)
        ]
        return [TextTable(title, ("choice", "runs", "mean ± half-width of the 95 % interval"), tuple(rows))]

    return table


def _beside_routers(setting: str) -> dict[str, Experiment]:
    # CUBIC has no setting L.
    own = "ebe-cubic-t" if setting == TWO_WAY else "ebe-cubic-o"
    return {
        CUBIC: pair(own, REPETITIONS)[CUBIC],
        "xcp": dumbbell(setting, "xcp", REPETITIONS),
        "vcp": dumbbell(setting, "vcp", REPETITIONS),
    }


_USE: Final = {CUBIC: second_half, "xcp": utilisation, "vcp": utilisation}

CUBIC_BESIDE_ROUTERS: Final = Figure(
    id="ebe-j/cubic-beside-routers",
    paper=PAPER,
    title="Section IV-A.3: utilisation of CUBIC, XCP and VCP, each on the link of its own figure",
    experiments={setting: _beside_routers(setting) for setting in ALL_SETTINGS},
    readings=readings(ALL_SETTINGS),
    sentences={"above": ("above-xcp", "above-vcp")},
    draw=None,
    tables=_means("Utilisation", _USE),
    claims=tuple(
        Claim(
            f"above-{scheme}",
            f"CUBIC's utilisation is still better than that of {scheme.upper()}",
            Positive(),
            f"utilisation, CUBIC's from 100 to 200 s minus {scheme.upper()}'s" + _UNPAIRED,
            partial(_between, first=(CUBIC, second_half), second=(scheme, utilisation)),
            reason=(
                "CUBIC's link varies from 1 to 400 Mbit/s with 500 ms, and growth from one rate to the"
                f" next takes most of the 10 s of each rate; {scheme.upper()} leaves the capacity above its"
                " configured value unused, and fills its link while the rate is below it"
            ),
        )
        for scheme in ("xcp", "vcp")
    ),
    notes=(
        FIXED_SCHEDULE,
        "CUBIC's runs are those of figure 7, XCP's and VCP's those of figures 6 and 3; L is compared with"
        " CUBIC's runs of O.",
        SETTINGS,
    ),
)

IN_DUMBBELL: Final = "dumbbell"
IN_PARKING_LOT: Final = "parking lot"


def _both(setting: str, **options: Any) -> dict[str, Experiment]:
    """Return the VCP schemes in both topologies."""
    labelled: dict[str, Experiment] = {}
    for scheme in VCP_SCHEMES:
        name = with_options(scheme, **options) if options else scheme
        labelled[f"{scheme}, {IN_DUMBBELL}"] = dumbbell(setting, name, REPETITIONS)
        labelled[f"{scheme}, {IN_PARKING_LOT}"] = parking_lot(40, name, REPETITIONS)
    return labelled


_middle_queue = partial(mean_queue, name=MIDDLE)

VCP_TOPOLOGIES: Final = Figure(
    id="ebe-j/queues-by-topology",
    paper=PAPER,
    title="Section IV-B.1: queues of VCP and VCP-EBE in the parking lot and in the dumbbell",
    experiments={
        **{setting: _both(setting) for setting in ALL_SETTINGS},
        **{f"{setting}, unscaled": _both(setting, rtt_scaling="unscaled") for setting in ALL_SETTINGS},
    },
    readings=readings([*ALL_SETTINGS, *(f"{setting}, unscaled" for setting in ALL_SETTINGS)]),
    sentences={"higher": [f"higher-{scheme}" for scheme in VCP_SCHEMES]},
    draw=None,
    tables=_means(
        "Mean queue, share of the buffer; in the parking lot that of the middle link",
        {
            f"{scheme}, {place}": mean_queue if place == IN_DUMBBELL else _middle_queue
            for scheme in VCP_SCHEMES
            for place in (IN_DUMBBELL, IN_PARKING_LOT)
        },
    ),
    claims=tuple(
        Claim(
            f"higher-{scheme}",
            f"{scheme.upper()}'s average queue is higher than in the dumbbell, due to the local flows",
            Positive(),
            "mean queue, share of the buffer: the parking lot's middle link minus the dumbbell" + _UNPAIRED,
            partial(
                _between,
                first=(f"{scheme}, {IN_PARKING_LOT}", _middle_queue),
                second=(f"{scheme}, {IN_DUMBBELL}", mean_queue),
            ),
        )
        for scheme in VCP_SCHEMES
    ),
    notes=(
        FIXED_SCHEDULE,
        "The parking lot is that of the captions, 1 to 40 Mbit/s; the runs are those of figures 8 and 3.",
        SETTINGS,
    ),
)

_middle_catch_up_s = catch_up_at(MIDDLE)

CUBIC_TOPOLOGIES: Final = Figure(
    id="ebe-j/convergence-by-topology",
    paper=PAPER,
    title="Section IV-B.3: convergence of CUBIC-EBE in the parking lot and in the dumbbell",
    experiments={
        setting: {
            IN_DUMBBELL: pair(f"ebe-cubic-{setting.lower()}", REPETITIONS)[CUBIC_EBE],
            IN_PARKING_LOT: pair("ebe-cubic-parking-lot", REPETITIONS)[CUBIC_EBE],
        }
        for setting in CUBIC_SETTINGS
    },
    readings=readings(CUBIC_SETTINGS, CUBIC_SETTINGS),
    draw=None,
    tables=_means(
        "Catch-up (s), in the parking lot that of the middle link",
        {IN_DUMBBELL: catch_up_s, IN_PARKING_LOT: _middle_catch_up_s},
    ),
    claims=(
        Claim(
            "slower",
            "convergence in the parking lot is significantly slower than in the dumbbell, due to the local"
            " flows",
            Positive(),
            "CUBIC-EBE's catch-up, the parking lot's middle link minus the dumbbell" + _UNPAIRED,
            partial(_between, first=(IN_PARKING_LOT, _middle_catch_up_s), second=(IN_DUMBBELL, catch_up_s)),
            unit="s",
        ),
    ),
    notes=("Catch-up is defined as in figure 7; the runs are those of figures 10 and 7.",),
)

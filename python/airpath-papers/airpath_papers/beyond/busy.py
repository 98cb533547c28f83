"""XCP over the capacity source `busy`, compared with the true capacity and with EBE."""

from collections.abc import Callable
from typing import Any, Final

from airpath_papers.beyond.links import WHICH_LINKS, by_link, on_link, over_links, present
from airpath_papers.beyond.overview import DELAY, Measure, metric, plot_of, table_of
from airpath_papers.claim import Claim, Runs
from airpath_papers.experiment import Experiment
from airpath_papers.figure import Figure
from airpath_papers.measures import median_estimate_error, of_each, over_bottlenecks, utilisation
from airpath_papers.rules import AtMost, Positive
from airpath_papers.sample import Sample, difference, sample
from airpath_papers.settings import dumbbell, parking_lot, shipped, with_options

PAPER: Final = "Beyond the papers: the capacity source busy"
BUSY: Final = "busy"
TRUE: Final = "true capacity"
HOLD: Final = "EBE, hold"
SCHEMES: Final = {
    BUSY: "xcp-busy",
    TRUE: "xcp-oracle:target=5ms",
    HOLD: "xcp-ebe-hold",
    "EBE": "xcp-ebe",
}
"""Schemes by the label of their capacity source. The true capacity has the target queue of `busy`."""

_UTILISATION = over_bottlenecks(utilisation)
_ERROR = over_bottlenecks(median_estimate_error)
_MEAN_ERROR_PERCENT = metric("capacity_estimate_error_mean_percent")

MEASURES: Final = (
    Measure("utilisation", _UTILISATION),
    DELAY,
    Measure("median error of the estimate", _ERROR),
)


def _short_of_the_truth(of: Runs) -> Sample:
    return difference(of_each(of(TRUE), _UTILISATION), of_each(of(BUSY), _UTILISATION))


# The settings.

LONG_RTT: Final = "RTT of 2 s"
LOT_20: Final = "parking lot, 1 to 20 Mbit/s"
LOT_40: Final = "parking lot, 1 to 40 Mbit/s"
REPETITIONS: Final = 10
LONG_RTT_REPETITIONS: Final = 40
"""With an RTT of 2 s there are few control intervals, so that runs differ more."""
_BUILDERS: Final[dict[str, Callable[[str], Experiment]]] = {
    "T": lambda scheme: dumbbell("T", scheme, REPETITIONS),
    "O": lambda scheme: dumbbell("O", scheme, REPETITIONS),
    "L": lambda scheme: dumbbell("L", scheme, REPETITIONS),
    LONG_RTT: lambda scheme: shipped("stress-long-rtt", scheme, LONG_RTT_REPETITIONS),
    LOT_20: lambda scheme: parking_lot(20, scheme, REPETITIONS),
    LOT_40: lambda scheme: parking_lot(40, scheme, REPETITIONS),
}
_NAMES: Final = {"T": "t", "O": "o", "L": "l", LONG_RTT: "long-rtt", LOT_20: "lot-20", LOT_40: "lot-40"}


def _claims_of(setting: str, name: str) -> tuple[Claim, ...]:
    near = Claim(
        f"{name}-uses-the-link",
        f"{setting}: busy uses the link as the true capacity does",
        AtMost(0.01),
        "utilisation, true capacity minus busy",
        _short_of_the_truth,
        choices=(setting,),
    )
    exact = Claim(
        f"{name}-error",
        f"{setting}: the estimate of busy is the capacity",
        AtMost(0.01),
        "median error of the estimate",
        lambda of: sample(of_each(of(BUSY), _ERROR)),
        choices=(setting,),
    )
    return near, exact


SETTINGS: Final = Figure(
    id="beyond/busy",
    ours=True,
    paper=PAPER,
    title="Capacity from departures while packets wait, in the settings of the EBE papers",
    experiments={
        setting: {label: build(scheme) for label, scheme in SCHEMES.items()}
        for setting, build in _BUILDERS.items()
    },
    draw=plot_of(MEASURES),
    tables=table_of("XCP over four sources of the capacity", MEASURES),
    claims=(
        *(claim for setting, name in _NAMES.items() for claim in _claims_of(setting, name)),
        Claim(
            "no-filter-needed",
            "busy, which has neither the queue nor the Kalman filter of EBE, has a smaller error",
            Positive(),
            "median error of the estimate, EBE with hold minus busy",
            lambda of: difference(of_each(of(HOLD), _ERROR), of_each(of(BUSY), _ERROR)),
            choices=("T", "O", "L"),
        ),
    ),
    notes=(
        "In parking lots, utilisation and error are means over the five links. The delay is that of the flows"
        " under test.",
        "Parameters of busy were chosen on another simulator with T, O, the RTT of 2 s, one parking lot, an"
        " outage and three LTE traces, so these rows are not independent evidence.",
    ),
)

# One part removed.

PARTS: Final[dict[str, dict[str, Any]]] = {
    "nothing": {},
    "growth": {"growth": 1},
    "jump test": {"jump": 0},
    "open gaps": {"open_gaps": False},
    "target queue": {"target": "0ms"},
}
JUMP_100: Final = "a jump by a factor of 100"
_PLACES: Final[dict[str, Callable[[str], Experiment]]] = {
    "T": lambda scheme: dumbbell("T", scheme, 5),
    "O": lambda scheme: dumbbell("O", scheme, 5),
    "1 to 20 to 1 Mbit/s": lambda scheme: shipped("stress-jump", scheme, 3),
    JUMP_100: lambda scheme: shipped("stress-jump-100x", scheme, 3),
    "an outage of 5 s": lambda scheme: shipped("stress-outage-5s", scheme, 3),
}


WITHOUT: Final = Figure(
    id="beyond/busy-parts",
    ours=True,
    paper=PAPER,
    title="busy with one part removed",
    experiments={
        place: {removed: build(with_options("xcp-busy", **options)) for removed, options in PARTS.items()}
        for place, build in _PLACES.items()
    },
    draw=plot_of(MEASURES),
    tables=table_of("XCP over busy, one part removed", MEASURES),
    claims=(
        Claim(
            "growth-is-needed",
            "without the growth the source never finds a capacity that is 100 times larger",
            AtMost(0.1),
            "utilisation without the growth",
            lambda of: sample(of_each(of("growth"), _UTILISATION)),
            choices=(JUMP_100,),
        ),
        Claim(
            "jump-test-helps",
            "without the jump test the error grows",
            Positive(),
            "mean error of the estimate, without the jump test minus with it",
            lambda of: difference(
                of_each(of("jump test"), _MEAN_ERROR_PERCENT), of_each(of("nothing"), _MEAN_ERROR_PERCENT)
            ),
            choices=("T", "O"),
            unit="%",
        ),
        Claim(
            "target-queue-helps",
            "without the target queue the link is used less",
            Positive(),
            "utilisation, with the target queue minus without it",
            lambda of: difference(
                of_each(of("nothing"), _UTILISATION), of_each(of("target queue"), _UTILISATION)
            ),
            choices=("T", "O"),
        ),
    ),
)

# Recorded links.

LTE: Final = present(
    "lte.down (synthetic)",
    "lte.up (synthetic)",
    "Verizon LTE",
    "Verizon LTE, up",
    "AT&T LTE, driving",
    "AT&T LTE, driving, up",
    "T-Mobile LTE",
    "LTE, Times Square",
    "NYU LTE, bus",
)
LTE_AND_3G: Final = (*LTE, *present("Verizon EV-DO, driving", "Telenor 3G, bus"))
_FOUR_FLOWS: Final = {
    "duration": "90s",
    "record.warm_up": "10s",
    "topology.bottleneck.delay": "40ms",
    "topology.bottleneck.queue.limit": "1bdp",
    "flows.0.count": 4,
    "flows.0.start": {"uniform": ["0s", "1s"]},
}


_REPETITIONS: Final = 2


def _most(labels: tuple[str, ...], measure: Callable[[Runs, str], float]) -> Callable[[Runs], Sample]:
    """Return a claim's measure: the largest number of some links, each the mean over runs."""

    def largest(of: Runs) -> Sample:
        return Sample((max(measure(of, link) for link in labels),), runs=_REPETITIONS * len(labels))

    return largest


RECORDED: Final = Figure(
    id="beyond/busy-links",
    ours=True,
    paper=PAPER,
    title="busy over cellular and satellite links",
    experiments={"four flows": over_links(SCHEMES, _FOUR_FLOWS, _REPETITIONS)},
    draw=plot_of(MEASURES, by_link),
    tables=table_of("Four XCP flows over four sources of the capacity", MEASURES, by_link),
    claims=(
        Claim(
            "uses-lte-and-3g",
            "busy uses LTE and 3G links as the true capacity does",
            AtMost(0.05),
            "utilisation, true capacity minus busy, the largest of the links",
            _most(
                LTE_AND_3G,
                lambda of, link: (
                    on_link(of, link, TRUE, _UTILISATION) - on_link(of, link, BUSY, _UTILISATION)
                ),
            ),
        ),
        Claim(
            "delay-on-lte-and-3g",
            "its delay is not longer there",
            AtMost(1.0),
            "p95 queueing delay, busy divided by true capacity, the largest of the links",
            _most(
                LTE_AND_3G,
                lambda of, link: on_link(of, link, BUSY, DELAY.of) / on_link(of, link, TRUE, DELAY.of),
            ),
        ),
        Claim(
            "error-on-lte",
            "its error over LTE is moderate",
            AtMost(0.12),
            "median error of the estimate, the largest of the LTE links",
            _most(
                LTE,
                lambda of, link: on_link(of, link, BUSY, _ERROR),
            ),
        ),
    ),
    notes=(WHICH_LINKS,),
)

FIGURES: Final = (SETTINGS, WITHOUT, RECORDED)
"""The figures of this module."""

"""The single bottleneck of SARBE's figures 1 and 2: steps of the load, choices, estimates of a run."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Final

import numpy as np

from airpath.metrics import OWN_ESTIMATOR
from airpath_papers.estimate_measures import estimate_mbps
from airpath_papers.experiment import Experiment
from airpath_papers.measures import Span
from airpath_papers.run_data import Numbers, RunData
from airpath_papers.sarbe.paper import (
    DYNAPARA,
    DYNAPARA_TIMED,
    RENO,
    SARBE,
    WESTWOOD,
    WESTWOOD_PLUS,
    of_the_era,
)
from airpath_papers.settings import with_options

REPETITIONS: Final = 5

CAPACITY_MBPS: Final = 5.0
LOAD_MBPS: Final = (0.0, 1.0, 2.0, 3.5, 1.5, 0.0)
"""The constant-bit-rate load, each value for `HOLD_S`."""
HOLD_S: Final = 25.0
PAYLOAD_SHARE: Final = 1000 / 1040
"""Share of each packet without headers, because estimates count payload."""
STRETCHES: Final[tuple[Span, ...]] = tuple(
    (number * HOLD_S, (number + 1) * HOLD_S) for number in range(len(LOAD_MBPS))
)
STEPS: Final = tuple(pairwise(STRETCHES))

COARSE: Final = "timestamps of 10 ms"
FINE: Final = "timestamps of 1 µs"
DELAYED: Final = "delayed acknowledgments"
BESIDE: Final = "observing one NewReno"

ESTIMATORS: Final = (WESTWOOD, WESTWOOD_PLUS, DYNAPARA, DYNAPARA_TIMED, SARBE)

SETTING: Final = (
    "Our choices, because the figure with the original values was not available: 5 Mbit/s, 70 ms of base"
    " RTT, a buffer of one bandwidth-delay product, a load of 0, 1, 2, 3.5, 1.5 and 0 Mbit/s for 25 s each."
    " The available bandwidth is the capacity minus the load, without headers, because estimates count"
    " payload."
)
CHOICES: Final = (
    "Each estimator controls its own FTP, as in the paper; with “observing one NewReno” they observe the"
    " same FTP. Receivers of the time used timestamps in steps of 10 ms, which the paper does not mention;"
    " with fine timestamps the alternation of FTP and load packets makes the mean of samples larger than"
    " data over time."
)


def experiments(scenario: str, changes: Mapping[str, Any] | None = None) -> dict[str, dict[str, Experiment]]:
    """Return the choices of a scenario with the single bottleneck, with further changes to all of them."""

    def each(resolution: str, **further: Any) -> dict[str, Experiment]:
        return {
            label: Experiment(
                scenario,
                _stamped(of_the_era(label), resolution),
                {**(changes or {}), **further},
                REPETITIONS,
            )
            for label in ESTIMATORS
        }

    beside = {"flows.0.estimators": tuple(_stamped(label, "10ms") for label in ESTIMATORS)}
    watched = Experiment(scenario, of_the_era(RENO), {**(changes or {}), **beside}, REPETITIONS)
    return {
        COARSE: each("10ms"),
        FINE: each("1us"),
        DELAYED: each("10ms", **{"transport.delayed_ack_segments": 2}),
        BESIDE: dict.fromkeys(ESTIMATORS, watched),
    }


def available_mbps(time_s: Numbers) -> Numbers:
    """Return the bandwidth left by the load at these times, without headers."""
    index = np.minimum(np.ceil(time_s / HOLD_S - 1e-9).astype(int) - 1, len(LOAD_MBPS) - 1)
    left: Numbers = (CAPACITY_MBPS - np.array(LOAD_MBPS)[index]) * PAYLOAD_SHARE
    return left


def estimate(run: RunData, label: str) -> tuple[Numbers, Numbers]:
    """Return times and values of an estimator: the controller's own, or else an additional one."""
    names = (name for name in run.estimates if name.partition(":")[0] == label)
    return estimate_mbps(run, OWN_ESTIMATOR if OWN_ESTIMATOR in run.estimates else next(names))


def _stamped(scheme: str, resolution: str) -> str:
    """Return a scheme or estimator with this timestamp resolution; unchanged if it uses no timestamps."""
    return with_options(scheme, resolution=resolution) if scheme.startswith(SARBE) else scheme

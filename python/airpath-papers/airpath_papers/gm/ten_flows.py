"""GM, figure 11: ten Westwood flows of different RTTs estimate their share."""

from collections.abc import Callable
from typing import Final

from airpath_papers.claim import Claim, Runs
from airpath_papers.figure import Figure
from airpath_papers.gm.measures import distance, estimate_mbps, mean_value, threshold_mbps, variation
from airpath_papers.gm.paper import GUARD, PACKETS, PAPER, SETTING, TEN_REVERSE, ten_flows
from airpath_papers.gm.pictures import many_flows
from airpath_papers.measures import of_each
from airpath_papers.rules import Near, Positive
from airpath_papers.run_data import Numbers, RunData
from airpath_papers.sample import Sample, difference, sample

FAIR_SHARE_MBPS: Final = 1.0
"""10 Mbit/s among ten flows."""

FORTY_REVERSE: Final = "40 reverse flows"
NO_REVERSE: Final = "no reverse flows"
ZERO_ORDER_HOLD: Final = "filter (2)"
TIME_INVARIANT: Final = "filter (3)"

_LABEL: Final = "Westwood"
_MOST_MBPS = 3.0
"""Upper limit of the plot; single estimates may lie above."""


def _less(measure: Callable[[RunData, Numbers], float]) -> Callable[[Runs], Sample]:
    """Return the difference of a measure between the used and the available bandwidth."""

    def measured(of: Runs) -> Sample:
        return difference(
            of_each(of(_LABEL), lambda run: measure(run, estimate_mbps(run))),
            of_each(of(_LABEL), lambda run: measure(run, threshold_mbps(run))),
        )

    return measured


FIG11: Final = Figure(
    id="gm/fig11",
    paper=PAPER,
    title="Estimates of ten Westwood flows: used and available bandwidth",
    experiments={
        FORTY_REVERSE: {_LABEL: ten_flows("westwood-aa", reverse=40)},
        TEN_REVERSE: {_LABEL: ten_flows("westwood-aa", reverse=10)},
        NO_REVERSE: {_LABEL: ten_flows("westwood-aa", reverse=0)},
        ZERO_ORDER_HOLD: {_LABEL: ten_flows("westwood-zoh:samples=round-trip", reverse=40)},
        TIME_INVARIANT: {_LABEL: ten_flows("westwood-ti:samples=round-trip,alpha=0.8", reverse=40)},
    },
    draw=lambda runs: many_flows(runs, _LABEL, FAIR_SHARE_MBPS, _MOST_MBPS),
    sentences={"available": ("steadier", "closer")},
    claims=(
        Claim(
            "around-share",
            "the estimates of the used bandwidth oscillate around the fair share",
            Near(FAIR_SHARE_MBPS, 0.1),
            "mean estimate over flows and time",
            lambda of: sample(of_each(of(_LABEL), lambda run: mean_value(run, estimate_mbps(run)))),
            unit="Mbit/s",
            reason=(
                "reverse traffic reduces the used bandwidth: by its acknowledgments, and by pauses while"
                " those of the forward flows wait in its queue"
            ),
        ),
        Claim(
            "steadier",
            "the estimates of the available bandwidth are less oscillating",
            Positive(),
            "coefficient of variation over time, mean over flows: used minus available",
            _less(variation),
        ),
        Claim(
            "closer",
            "and closer to the fair share",
            Positive(),
            "mean relative distance from the fair share: used minus available",
            _less(lambda run, values: distance(run, values, FAIR_SHARE_MBPS)),
            reason="without reverse traffic both follow the rate used, which depends on the RTT",
        ),
    ),
    notes=(
        SETTING,
        PACKETS,
        GUARD,
        "RTTs of the ten flows 25, 50, …, 250 ms; starts within 5 s; buffer of 312.5 kB (10 Mbit/s times"
        " 250 ms); runs of 600 s. The paper's traffic is “similar to” figure 2: 40 reverse flows; fewer are"
        " shown for comparison.",
        f"“{ZERO_ORDER_HOLD}”, “{TIME_INVARIANT}”: that filter, anti-aliased, in control; alpha = 0.8.",
    ),
)

"""GM, figure 7: one sample for each round trip, then filter (3)."""

from typing import Final

from airpath_papers.claim import Claim
from airpath_papers.figure import Figure
from airpath_papers.gm.measures import (
    largest_over_link,
    largest_sample,
    mean_over_used,
)
from airpath_papers.gm.paper import BESIDE, GUARD, IN_CONTROL, PACKETS, PAPER, SETTING, TEN_REVERSE, constant
from airpath_papers.gm.per_ack import LINK_MBPS, OVER
from airpath_papers.gm.pictures import samples_and_estimate
from airpath_papers.measures import of_each
from airpath_papers.rules import AtMost, Between
from airpath_papers.run_data import RunData
from airpath_papers.sample import sample

TIME_INVARIANT: Final = "westwood-ti-aa:alpha=0.6"
OTHERS: Final = {"filter (2)": "westwood-zoh-aa", "filter (6)": "westwood-aa"}

_LABEL: Final = "Westwood"
_CONTROL: Final = "westwood-ti:samples=round-trip,alpha=0.6"


def _of_the_largest(run: RunData) -> float:
    """Return the larger estimate of filters (2) and (6), relative to the rate of the link."""
    return max(largest_over_link(run, name, LINK_MBPS) for name in OTHERS.values())


def _farthest(run: RunData) -> float:
    """Return the mean estimate relative to the mean rate used, for the filter that is farther from 1."""
    ratios = [mean_over_used(run, name) for name in OTHERS.values()]
    return max(ratios, key=lambda ratio: abs(ratio - 1))


FIG7: Final = Figure(
    id="gm/fig7",
    paper=PAPER,
    title="Used bandwidth: anti-aliased samples, and the output of filter (3)",
    experiments={
        IN_CONTROL: {_LABEL: constant(_CONTROL)},
        BESIDE: {_LABEL: constant("westwood-aa")},
        TEN_REVERSE: {_LABEL: constant(_CONTROL, {"flows.1.count": 10})},
    },
    draw=lambda runs: samples_and_estimate(
        runs, (IN_CONTROL, BESIDE), _LABEL, TIME_INVARIANT, LINK_MBPS, anti_aliased=True
    ),
    sentences={"others": ("others", "others-mean")},
    claims=(
        Claim(
            "samples",
            "anti-aliased samples do not overestimate the bandwidth",
            AtMost(OVER),
            "largest anti-aliased sample over the rate of the link",
            lambda of: sample(
                of_each(of(_LABEL), lambda run: largest_sample(run, TIME_INVARIANT) / LINK_MBPS)
            ),
        ),
        Claim(
            "estimate",
            "there is no overestimate after anti-aliasing",
            AtMost(OVER),
            "largest output of filter (3) over the rate of the link",
            lambda of: sample(
                of_each(of(_LABEL), lambda run: largest_over_link(run, TIME_INVARIANT, LINK_MBPS))
            ),
        ),
        Claim(
            "mean",
            "the filter extracts the low-frequency components of the used bandwidth",
            Between(0.9, 1.1),
            "mean output of filter (3) over the mean rate used",
            lambda of: sample(of_each(of(_LABEL), lambda run: mean_over_used(run, TIME_INVARIANT))),
        ),
        Claim(
            "others",
            "analogous results have been obtained with filters (6) and (2)",
            AtMost(OVER),
            "the larger of their largest outputs over the rate of the link",
            lambda of: sample(of_each(of(_LABEL), _of_the_largest)),
        ),
        Claim(
            "others-mean",
            "the same, on average",
            Between(0.9, 1.1),
            "mean output over the mean rate used, of the filter farther from 1",
            lambda of: sample(of_each(of(_LABEL), _farthest)),
        ),
    ),
    notes=(
        SETTING,
        PACKETS,
        GUARD,
        "alpha = exp(-RTT/tau) = 0.6 for the mean RTT of 0.49 s, queues included.",
        f"“{IN_CONTROL}”: all 41 senders use filter (3); “{BESIDE}”: all use filter (6), and filter (3)"
        " observes.",
    ),
)

"""GM, figures 3 to 6: filters fed by the sample of each acknowledgment."""

from collections.abc import Callable
from typing import Any, Final

from airpath_papers.claim import Claim, Runs
from airpath_papers.experiment import Experiment
from airpath_papers.figure import Figure
from airpath_papers.gm.measures import (
    largest_in_order_sample,
    largest_over_link,
    largest_sample,
    mean_over_link,
    mean_over_used,
    mean_used,
)
from airpath_papers.gm.paper import (
    BESIDE,
    GUARD,
    IN_CONTROL,
    PACKETS,
    PAPER,
    SETTING,
    TEN_REVERSE,
    constant,
)
from airpath_papers.gm.pictures import samples_and_estimate
from airpath_papers.measures import of_each
from airpath_papers.rules import AtLeast, AtMost, Between, Near, Positive
from airpath_papers.run_data import RunData
from airpath_papers.sample import Sample, difference, sample

LINK_MBPS: Final = 5.0

SACK: Final = "SACK"
EACH_ACKNOWLEDGED: Final = "an acknowledgment for each packet"

OVER: Final = 1.5
"""Our reading of an over-estimate: more than this multiple of the link's rate."""
PEAK_MBPS: Final = 375.0
"""5 Mbit/s of acknowledgments of 40 bytes, each for two packets of 1500 bytes."""

ZERO_ORDER_HOLD: Final = "westwood-zoh"
SHORT: Final = "westwood-zoh:tau=100ms"
TIME_INVARIANT: Final = "westwood-ti"
BILINEAR: Final = "westwood"
ANTI_ALIASED: Final = "westwood-aa"

_LABEL: Final = "Westwood"
_ANTI_ALIASED: Final = "Westwood, anti-aliased"
_NOTES = (
    SETTING,
    PACKETS,
    GUARD,
    f"“{IN_CONTROL}”: all 41 senders use the filter shown; “{BESIDE}”: all use the anti-aliased filter (6),"
    " and the filter shown observes the same acknowledgments.",
    "Runs of 500 s. Samples (a) are those of acknowledgments of data in order outside recovery; an"
    " acknowledgment that fills a hole covers tens of packets at once, and its sample does not measure"
    " bandwidth.",
)


def _choices(scheme: str) -> dict[str, dict[str, Experiment]]:
    return {
        IN_CONTROL: {_LABEL: constant(scheme)},
        BESIDE: {_LABEL: constant(ANTI_ALIASED)},
        TEN_REVERSE: {_LABEL: constant(scheme, {"flows.1.count": 10})},
    }


def _of(measure: Callable[..., float], *arguments: Any) -> Callable[[Runs], Sample]:
    """Return a claim's measure that applies `measure` to each run."""

    def measured(of: Runs) -> Sample:
        def one(run: RunData) -> float:
            return measure(run, *arguments)

        return sample(of_each(of(_LABEL), one))

    return measured


FIG3: Final = Figure(
    id="gm/fig3",
    paper=PAPER,
    title="Used bandwidth: samples, and the output of filter (2)",
    experiments={
        **_choices(ZERO_ORDER_HOLD),
        SACK: {_LABEL: constant(ZERO_ORDER_HOLD, {"transport.recovery": "sack"})},
        EACH_ACKNOWLEDGED: {_LABEL: constant(ZERO_ORDER_HOLD, {"transport.delayed_ack_segments": 1})},
    },
    draw=lambda runs: samples_and_estimate(runs, (IN_CONTROL, BESIDE), _LABEL, ZERO_ORDER_HOLD, LINK_MBPS),
    sentences={"mitigates": ("mean", "no-peaks")},
    alternatives={"peak": ("peak-of-all",)},
    claims=(
        Claim(
            "peak",
            "bandwidth samples exhibit a peak value equal to 375 Mbps",
            Near(PEAK_MBPS, 0.01),
            "largest sample of an acknowledgment of data in order outside recovery",
            _of(largest_in_order_sample, ZERO_ORDER_HOLD),
            choices=(IN_CONTROL, BESIDE, TEN_REVERSE, SACK),
            unit="Mbit/s",
        ),
        Claim(
            "peak-of-all",
            "the same, taken literally",
            Near(PEAK_MBPS, 0.01),
            "largest of all samples",
            _of(largest_sample, ZERO_ORDER_HOLD),
            choices=(IN_CONTROL, BESIDE, TEN_REVERSE, SACK),
            unit="Mbit/s",
            reason="an acknowledgment that fills a hole, or whose predecessor was lost in the full queue,"
            " covers more than two segments at once",
        ),
        Claim(
            "times-two",
            "the peak has a factor of two because each acknowledgment acknowledges two segments",
            Near(PEAK_MBPS / 2, 0.01),
            "the same peak with an acknowledgment for each packet",
            _of(largest_in_order_sample, ZERO_ORDER_HOLD),
            choices=(EACH_ACKNOWLEDGED,),
            unit="Mbit/s",
        ),
        Claim(
            "mean",
            "filter (2) mitigates the effects of ACK compression",
            Between(0.9, 1.1),
            "mean estimate over the mean rate used",
            _of(mean_over_used, ZERO_ORDER_HOLD),
        ),
        Claim(
            "no-peaks",
            "filter (2) mitigates the effects of ACK compression",
            AtMost(OVER),
            "largest estimate over the rate of the link",
            _of(largest_over_link, ZERO_ORDER_HOLD, LINK_MBPS),
        ),
    ),
    notes=_NOTES,
)

FIG4: Final = Figure(
    id="gm/fig4",
    paper=PAPER,
    title="Used bandwidth by filter (2) with a time constant of 0.1 s",
    experiments=_choices(SHORT),
    draw=lambda runs: samples_and_estimate(
        runs, (IN_CONTROL, BESIDE), _LABEL, SHORT, LINK_MBPS, samples=False
    ),
    alternatives={"peaks": ("mean",)},
    claims=(
        Claim(
            "peaks",
            "with a time constant of 0.1 s filter (2) overestimates",
            AtLeast(OVER),
            "largest estimate over the rate of the link",
            _of(largest_over_link, SHORT, LINK_MBPS),
        ),
        Claim(
            "mean",
            "the same, on average",
            AtLeast(OVER),
            "mean estimate over the mean rate used",
            _of(mean_over_used, SHORT),
            reason="peaks last a tenth of a second and have little weight in a mean over time",
        ),
    ),
    notes=_NOTES,
)

FIG5: Final = Figure(
    id="gm/fig5",
    paper=PAPER,
    title="Used bandwidth: samples, and the output of filter (3)",
    experiments=_choices(TIME_INVARIANT),
    draw=lambda runs: samples_and_estimate(runs, (IN_CONTROL, BESIDE), _LABEL, TIME_INVARIANT, LINK_MBPS),
    alternatives={"ten-times": ("ten-times-mean",)},
    claims=(
        Claim(
            "ten-times",
            "filter (3) overestimates the available bandwidth up to more than 10 times",
            AtLeast(10),
            "largest estimate over the rate of the link",
            _of(largest_over_link, TIME_INVARIANT, LINK_MBPS),
        ),
        Claim(
            "ten-times-mean",
            "the same, on average",
            AtLeast(10),
            "mean estimate over the rate of the link",
            _of(mean_over_link, TIME_INVARIANT, LINK_MBPS),
        ),
    ),
    notes=_NOTES,
)


def _starved(of: Runs) -> Sample:
    return difference(of_each(of(_ANTI_ALIASED), mean_used), of_each(of(_LABEL), mean_used))


_BILINEAR_CHOICES = _choices(BILINEAR)

FIG6: Final = Figure(
    id="gm/fig6",
    paper=PAPER,
    title="Used bandwidth: samples, and the output of filter (6)",
    experiments={
        **_BILINEAR_CHOICES,
        IN_CONTROL: {**_BILINEAR_CHOICES[IN_CONTROL], _ANTI_ALIASED: constant(ANTI_ALIASED)},
        TEN_REVERSE: {
            **_BILINEAR_CHOICES[TEN_REVERSE],
            _ANTI_ALIASED: constant(ANTI_ALIASED, {"flows.1.count": 10}),
        },
    },
    draw=lambda runs: samples_and_estimate(runs, (IN_CONTROL, BESIDE), _LABEL, BILINEAR, LINK_MBPS),
    claims=(
        Claim(
            "greatly",
            "filter (6) greatly overestimates the bandwidth",
            AtLeast(2),
            "mean estimate over the rate of the link",
            _of(mean_over_link, BILINEAR, LINK_MBPS),
        ),
        Claim(
            "starvation",
            "ACK compression over-estimates the bandwidth, which leads to starvation (sections 1 and 2)",
            Positive(),
            "rate used by the anti-aliased Westwood minus that with this filter in control",
            _starved,
            choices=(IN_CONTROL, TEN_REVERSE),
            unit="Mbit/s",
        ),
    ),
    notes=_NOTES,
)

__all__ = ["FIG3", "FIG4", "FIG5", "FIG6", "LINK_MBPS", "OVER", "SACK"]

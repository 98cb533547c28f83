"""GM, figures 8 to 10: available bandwidth that varies, without and with reverse traffic."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from airpath.statistics import TextTable
from airpath_papers.claim import Claim, Runs
from airpath_papers.experiment import Experiment
from airpath_papers.figure import Figure, FigureRuns
from airpath_papers.gm.measures import error, estimate_mbps, mean_threshold, mean_used, threshold_mbps
from airpath_papers.gm.paper import GUARD, LONGER_TIMEOUT, PACKETS, PAPER, SETTING, varying
from airpath_papers.gm.per_ack import LINK_MBPS, SACK
from airpath_papers.gm.pictures import used_bandwidth, windows_and_thresholds
from airpath_papers.measures import of_each
from airpath_papers.rules import AtMost, Positive
from airpath_papers.run_data import RunData
from airpath_papers.sample import Sample, cell, difference, sample

WITHOUT: Final = "without reverse traffic"
WITH: Final = "with reverse traffic"
RENO_WITHOUT: Final = "NewReno without reverse traffic"
RENO_WITH: Final = "NewReno with reverse traffic"

SMALL_BUFFER: Final = "62.5 kB"
"""The link's rate times the RTT of 100 ms of these experiments."""
LARGE_BUFFER: Final = "156 kB"
"""The same with the RTT of 250 ms that the paper mentions with figure 2."""
HALF_BUFFER: Final = "31 kB"
"""Half of the link's rate times that RTT."""
PLAIN_RENO: Final = "Reno's recovery"
"""Reno recovers losses according to RFC 5681, without NewReno's partial acknowledgments."""
NOT_ROUNDED: Final = "thresholds not rounded"
"""Both thresholds are in bytes; elsewhere both are in whole segments, rounded down."""
RENO: Final = "newreno:threshold_unit=segments"
"""The paper's Reno, that of ns-2, keeps the threshold in whole packets, as its Westwood does."""
ZERO_ORDER_HOLD: Final = "filter (2)"
TIME_INVARIANT: Final = "filter (3)"

TRACKS: Final = 0.1
"""Our reading of tracking the available bandwidth: an error of at most this part of it."""
MUCH_WEAKER: Final = 0.5
"""Our reading of "much weaker": at most half of the effect."""

LARGER: Final = 1.01
"""Differences below 1 % count as equal: without reverse traffic, runs differ only by the phase."""

_BUFFER = "topology.bottleneck.queue.limit"


def _westwood(scheme: str, changes: Mapping[str, Any] | None = None) -> dict[str, Experiment]:
    return {
        WITHOUT: varying(scheme, reverse=False, changes=changes),
        WITH: varying(scheme, reverse=True, changes=changes),
    }


_FILTERS: Final = {
    SMALL_BUFFER: _westwood("westwood-aa"),
    LARGE_BUFFER: _westwood("westwood-aa", {_BUFFER: "156250B"}),
    LONGER_TIMEOUT: _westwood("westwood-aa", {"transport.min_rto": "1s"}),
    ZERO_ORDER_HOLD: _westwood("westwood-zoh:samples=round-trip"),
    TIME_INVARIANT: _westwood("westwood-ti:samples=round-trip,alpha=0.85"),
}


def _estimate_error(run: RunData) -> float:
    return error(run, estimate_mbps(run), LINK_MBPS)


def _threshold_error(run: RunData) -> float:
    return error(run, threshold_mbps(run), LINK_MBPS)


def _effect(of: Runs, measure: Callable[[RunData], float]) -> Sample:
    """Return the increase of an error due to reverse traffic."""
    return difference(of_each(of(WITH), measure), of_each(of(WITHOUT), measure))


def _share_of_effect(of: Runs) -> Sample:
    """Return the effect on the threshold relative to that on the estimate, for each repetition."""
    pairs = zip(_effect(of, _threshold_error).values, _effect(of, _estimate_error).values, strict=True)
    return sample([threshold / estimate for threshold, estimate in pairs])


def _errors(runs: FigureRuns) -> list[TextTable]:
    measures = {"estimate": _estimate_error, "threshold": _threshold_error}
    rows = []
    for choice in runs.choices:
        by_label = [runs.of(choice)(label) for label in (WITHOUT, WITH)]
        rows.append(
            (choice, *(cell(of_each(found, measure)) for found in by_label for measure in measures.values()))
        )
    header = ("choice", *(f"{name}, {label}" for label in (WITHOUT, WITH) for name in measures))
    return [TextTable("Mean relative distance from the available bandwidth", header, tuple(rows))]


_NOTES = (
    SETTING,
    PACKETS,
    GUARD,
    "The UDP source is silent at first and sends 1 Mbit/s from 100 s to 200 s, from 300 s to 400 s and from"
    " 500 s to 600 s. The rest of the capacity is available.",
    f"The buffer is one bandwidth-delay product of the flow of 100 ms, {SMALL_BUFFER}; “{LARGE_BUFFER}”"
    " keeps that of the flow of 250 ms.",
    f"“{LONGER_TIMEOUT}” is ns-2's bound until October 2004.",
)
_FILTER_NOTE = (
    f"“{ZERO_ORDER_HOLD}”, “{TIME_INVARIANT}”: that filter in control, alpha = 0.85 (RTT of 0.16 s)."
)

FIG8: Final = Figure(
    id="gm/fig8",
    paper=PAPER,
    title="Estimate of the used bandwidth by filter (6), anti-aliased, bandwidth varying",
    experiments=_FILTERS,
    draw=lambda runs: used_bandwidth(runs, (WITHOUT, WITH), LINK_MBPS),
    claims=(
        Claim(
            "tracks",
            "without reverse traffic the filter shows the available bandwidth",
            AtMost(TRACKS),
            "mean relative distance of the estimate from the available bandwidth without reverse traffic",
            lambda of: sample(of_each(of(WITHOUT), _estimate_error)),
        ),
        Claim(
            "disturbed",
            "reverse traffic affects the estimate of the used bandwidth",
            Positive(),
            "that distance with reverse traffic minus that without",
            lambda of: _effect(of, _estimate_error),
        ),
    ),
    tables=_errors,
    notes=(*_NOTES, _FILTER_NOTE),
)

FIG9: Final = Figure(
    id="gm/fig9",
    paper=PAPER,
    title="Window and slow-start threshold of Westwood, filter (6), anti-aliased",
    experiments=_FILTERS,
    draw=lambda runs: windows_and_thresholds(runs, (WITHOUT, WITH), LINK_MBPS),
    sentences={"weaker": ("weaker", "much-weaker")},
    claims=(
        Claim(
            "weaker",
            "the effect of reverse traffic is weaker on the slow-start threshold",
            Positive(),
            "increase of the distance from the available bandwidth by reverse traffic: estimate minus"
            " threshold",
            lambda of: difference(_effect(of, _estimate_error).values, _effect(of, _threshold_error).values),
            reason="the longer a queue lasts, the fewer losses update the threshold",
        ),
        Claim(
            "much-weaker",
            "it is much weaker",
            AtMost(MUCH_WEAKER),
            "the threshold's effect over the estimate's",
            _share_of_effect,
            reason="the estimate at the time of a loss is disturbed as well",
        ),
    ),
    tables=_errors,
    notes=(
        *_NOTES,
        _FILTER_NOTE,
        "The threshold is divided by the smallest RTT to compare it with a bandwidth.",
    ),
)


def _with_reno(
    changes: Mapping[str, Any] | None = None,
    of_reno: Mapping[str, Any] | None = None,
    westwood: str = "westwood-aa",
    reno: str = RENO,
) -> dict[str, Experiment]:
    changes_of_reno = {**(changes or {}), **(of_reno or {})}
    return {
        RENO_WITHOUT: varying(reno, reverse=False, changes=changes_of_reno),
        RENO_WITH: varying(reno, reverse=True, changes=changes_of_reno),
        WITHOUT: varying(westwood, reverse=False, changes=changes),
        WITH: varying(westwood, reverse=True, changes=changes),
    }


def _ratio(of: Runs, label: str, reno: str) -> Sample:
    """Return Westwood's mean threshold relative to Reno's, for each repetition."""
    pairs = zip(of_each(of(label), mean_threshold), of_each(of(reno), mean_threshold), strict=True)
    return sample([westwood / half for westwood, half in pairs])


def _ratios(runs: FigureRuns) -> list[TextTable]:
    rows = []
    for choice in runs.choices:
        of, cells = runs.of(choice), [choice]
        for label, reno in ((WITHOUT, RENO_WITHOUT), (WITH, RENO_WITH)):
            cells += [f"{sample(of_each(of(one), mean_threshold)).mean:.2f}" for one in (label, reno)]
            ratio = _ratio(of, label, reno)
            cells.append(f"{ratio.mean:.3f} [{ratio.interval[0]:.3f}, {ratio.interval[1]:.3f}]")
        rows.append(tuple(cells))
    names = ("Westwood", "NewReno", "ratio")
    header = ("choice", *(f"{name}, {label}" for label in (WITHOUT, WITH) for name in names))
    return [TextTable("Mean threshold, packets, and Westwood's over NewReno's", header, tuple(rows))]


def _above(label: str, reno: str, measure: Callable[[RunData], float]) -> Callable[[Runs], Sample]:
    """Return the excess of Westwood's number over `LARGER` times Reno's."""

    def measured(of: Runs) -> Sample:
        bar = [LARGER * value for value in of_each(of(reno), measure)]
        return difference(of_each(of(label), measure), bar)

    return measured


_RENO_REASON = (
    "Reno falls to half of one bandwidth-delay product plus the buffer, which equals the bandwidth times"
    " the smallest RTT if the buffer is one bandwidth-delay product, is less for a smaller buffer, and more"
    " for a larger one; reverse traffic adds its queue to the flight that Reno halves, and reduces the"
    " bandwidth that Westwood measures"
)

FIG10: Final = Figure(
    id="gm/fig10",
    paper=PAPER,
    title="Window and slow-start threshold of Reno",
    experiments={
        SMALL_BUFFER: _with_reno(),
        LARGE_BUFFER: _with_reno({_BUFFER: "156250B"}),
        HALF_BUFFER: _with_reno({_BUFFER: "31250B"}),
        PLAIN_RENO: _with_reno(of_reno={"transport.recovery": "reno"}),
        LONGER_TIMEOUT: _with_reno({"transport.min_rto": "1s"}),
        SACK: _with_reno({"transport.recovery": "sack"}),
        NOT_ROUNDED: _with_reno(westwood="westwood-aa:threshold_unit=bytes", reno="newreno"),
    },
    draw=lambda runs: windows_and_thresholds(runs, (RENO_WITHOUT, RENO_WITH), LINK_MBPS),
    sentences={
        "larger-threshold": ("above-without", "above-with"),
        "better-use": ("utilisation-without", "utilisation-with"),
    },
    claims=(
        Claim(
            "above-without",
            "the threshold of Westwood is larger than Reno's, without reverse traffic",
            Positive(),
            "mean threshold, Westwood minus 1.01 times NewReno",
            _above(WITHOUT, RENO_WITHOUT, mean_threshold),
            unit="packets",
            reason=_RENO_REASON,
        ),
        Claim(
            "above-with",
            "the threshold of Westwood is larger than Reno's, with reverse traffic",
            Positive(),
            "mean threshold, Westwood minus 1.01 times NewReno",
            _above(WITH, RENO_WITH, mean_threshold),
            unit="packets",
            reason=_RENO_REASON,
        ),
        Claim(
            "utilisation-without",
            "Westwood uses the network better, without reverse traffic",
            Positive(),
            "mean rate used, Westwood minus 1.01 times NewReno",
            _above(WITHOUT, RENO_WITHOUT, mean_used),
            unit="Mbit/s",
            reason="with a buffer of one bandwidth-delay product both fill the link",
        ),
        Claim(
            "utilisation-with",
            "Westwood uses the network better, with reverse traffic",
            Positive(),
            "mean rate used, Westwood minus 1.01 times NewReno",
            _above(WITH, RENO_WITH, mean_used),
            unit="Mbit/s",
            reason=(
                "thresholds differ little with reverse traffic, and the window needs most of the time"
                " between two losses to refill the longer round trip"
            ),
        ),
    ),
    tables=_ratios,
    notes=(
        *_NOTES,
        "Both thresholds are whole segments, rounded down, as in ns-2, which the paper used, and its"
        f" module of Westwood of 2002; “{NOT_ROUNDED}” counts both in bytes. Rounding Westwood's threshold"
        " only, as an earlier version did, hides the difference with one bandwidth-delay product of buffer"
        " (1.001).",
        "Without reverse traffic half of the difference arises after 300 and 500 s, when the datagrams"
        " return and Reno halves twice, to 17 packets, as the figure shows.",
        "With a buffer of one bandwidth-delay product both should be equal: ns-2's Linux modules of Reno"
        " and Westwood+ have thresholds of 83 and 83 packets over 10 Mbit/s, 100 ms and a buffer of 83.",
        f"Reno is NewReno; “{PLAIN_RENO}” is with RFC 5681's recovery, “{SACK}” with SACK for both senders."
        " The 40 reverse flows are of the same kind as the forward flow.",
    ),
)

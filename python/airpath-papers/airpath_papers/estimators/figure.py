"""Every ACK-rate estimator compared with the truth: one table, one plot, claims."""

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
from matplotlib.figure import Figure as Picture

from airpath.plots.style import styled
from airpath.results.formatting import NO_VALUE
from airpath.statistics import TextTable
from airpath_papers.claim import Claim, Runs
from airpath_papers.drawing import panels
from airpath_papers.estimators.links import LINKS, VARIABLE, JudgedLink, Kind
from airpath_papers.estimators.measures import Errors, errors
from airpath_papers.experiment import Experiment
from airpath_papers.figure import Figure, FigureRuns
from airpath_papers.rules import AtLeast, AtMost, Between
from airpath_papers.run_data import RunData
from airpath_papers.sample import Sample, difference, sample

REPETITIONS: Final = 1
ONE_WAY: Final = "no reverse traffic"
TWO_WAY: Final = "reverse traffic"
PAYLOAD_SHARE: Final = 1448 / 1500
"""Share of a packet that is payload with timestamps."""

ESTIMATORS: Final = {
    "samples": "samples, per ACK",
    "westwood-zoh": "filter (2), per ACK",
    "westwood-ti": "filter (3), per ACK",
    "westwood": "filter (6), per ACK: Westwood",
    "westwood-zoh-aa": "filter (2), anti-aliased",
    "westwood-ti-aa": "filter (3), anti-aliased",
    "westwood-aa": "filter (6), anti-aliased",
    "westwood+": "Westwood+",
    "dynapara": "DynaPara-like",
    "dynapara-timed": "DynaPara-like, timed",
    "sarbe:resolution=1us": "SARBE, stamps of 1 µs",
    "sarbe:resolution=1ms": "SARBE, stamps of 1 ms",
    "sarbe:resolution=10ms": "SARBE, stamps of 10 ms",
    "delivery-rate": "delivery rate",
    "packet-pair": "packet pair",
    "hoe": "Hoe's slope, once",
    "westwood-ti:samples=interval,interval=10ms": "filter (3), data of 10 ms",
    "westwood-10ms": "filter (6), data of 10 ms",
    "westwood:samples=interval,interval=50ms": "filter (6), data of 50 ms",
    "dynapara:samples=interval,interval=50ms": "DynaPara-like, data of 50 ms",
}
"""The evaluated estimators as written in a scenario, with their names in table and plot."""

TEN_MS: Final = "westwood-10ms"
FIFTY_MS: Final = "westwood:samples=interval,interval=50ms"


def experiment(scenario: str, link: JudgedLink, changes: Mapping[str, Any] | None = None) -> Experiment:
    """Return the run of a scenario over a link, with all estimators in addition to the controller."""
    return Experiment(
        scenario,
        f"fixed:window={link.window_packets}packets",
        {**link.changes(), "flows.0.estimators": tuple(ESTIMATORS), **(changes or {})},
        REPETITIONS,
    )


_EXPERIMENTS = {
    ONE_WAY: {link.label: experiment("estimators-link", link) for link in LINKS},
    TWO_WAY: {
        link.label: experiment("estimators-link-two-way", link, {"flows.1.scheme": "cubic"}) for link in LINKS
    },
}
_OF_KIND: Final = {kind: [link.label for link in LINKS if link.kind is kind] for kind in Kind}


def _errors(run: RunData, estimator: str) -> Errors:
    one_way = "upload" not in run.flow_group
    return errors(run, estimator, against_capacity=one_way, payload_share=PAYLOAD_SHARE)


def _over_bursts(estimator: str, measure: Callable[[Errors], float]) -> Callable[[Runs], Sample]:
    """Return a measure with one value for each link with bursts, because runs over one trace are alike."""

    def of_links(of: Runs) -> Sample:
        labels = _OF_KIND[Kind.BURSTS]
        return sample([measure(_errors(run, estimator)) for label in labels for run in of(label)])

    return of_links


def _bias(of_one: Errors) -> float:
    return of_one.bias


def _lag(of_one: Errors) -> float:
    return of_one.lag_s


def _cell(found: list[Errors]) -> str:
    """Return bias / mean absolute error / 95th percentile / lag, each as a mean."""
    means = {name: float(np.mean([getattr(one, name) for one in found])) for name in _COLUMNS}
    if math.isnan(means["bias"]):
        return NO_VALUE
    lag = NO_VALUE if math.isnan(means["lag_s"]) else f"{means['lag_s']:.1f} s"
    return f"{means['bias']:+.2f} / {means['mean_absolute']:.0%} / {means['p95']:.0%} / {lag}".replace(
        "%", " %"
    )


_COLUMNS: Final = ("bias", "mean_absolute", "p95", "lag_s")


def _tables(runs: FigureRuns) -> list[TextTable]:
    groups = {kind.value: labels for kind, labels in _OF_KIND.items() if labels}
    columns = [(choice, name, labels) for choice in runs.choices for name, labels in groups.items()]
    overview = _table(
        "Bias / mean absolute error / 95th percentile of it / lag, means over links by kind of delivery",
        runs,
        [(f"{name}, {choice}", choice, labels) for choice, name, labels in columns],
    )
    each = [
        _table(
            f"The same for each link, {name}, {choice}", runs, [(label, choice, [label]) for label in labels]
        )
        for choice, name, labels in columns
    ]
    return [overview, *each]


def _table(title: str, runs: FigureRuns, columns: list[tuple[str, str, list[str]]]) -> TextTable:
    def found(choice: str, labels: list[str], estimator: str) -> list[Errors]:
        return [_errors(run, estimator) for label in labels for run in runs.of(choice)(label)]

    return TextTable(
        title,
        ("estimator", *(name for name, _, _ in columns)),
        tuple(
            (name, *(_cell(found(choice, labels, estimator)) for _, choice, labels in columns))
            for estimator, name in ESTIMATORS.items()
        ),
    )


@styled
def _draw(runs: FigureRuns) -> Picture:
    picture, axes = panels(2, height_in=4.2, columns=2)
    places = np.arange(len(ESTIMATORS))[::-1]
    for choice, panel in zip(runs.choices, axes, strict=True):
        for number, (kind, labels) in enumerate(_OF_KIND.items()):
            points = [
                (
                    100 * float(np.mean([_errors(run, estimator).bias for run in runs.of(choice)(label)])),
                    place,
                )
                for estimator, place in zip(ESTIMATORS, places, strict=True)
                for label in labels
            ]
            if points:
                x, y = zip(*points, strict=True)
                panel.plot(
                    x,
                    np.array(y) + 0.2 * (1 - number),
                    linestyle="none",
                    marker=("o", "s", "D")[number],
                    markersize=3,
                    markeredgewidth=0,
                    alpha=0.8,
                    color=("#d55e00", "#009e73", "#0072b2")[number],
                    label=_LEGEND[kind],
                )
        panel.axvline(0, color="#444444", linewidth=0.8)
        panel.set_xscale("symlog", linthresh=20, linscale=1.0)
        ticks = (-100, -20, 0, 20, 100, 1000)
        panel.set_xticks(ticks, [f"{tick:+d}" if tick else "0" for tick in ticks])
        panel.minorticks_off()
        panel.set_xlim(-100, 4000)
        panel.set_yticks(places, ESTIMATORS.values() if panel is axes[0] else [""] * len(ESTIMATORS))
        panel.set_xlabel("bias (%), one point for each link")
        panel.set_title(choice, loc="right")
    picture.legend(*axes[0].get_legend_handles_labels(), loc="outside upper left", ncols=3)
    return picture


_LEGEND: Final = {
    Kind.BURSTS: "bursts in a millisecond (LTE)",
    Kind.SLOW: "few packets in a millisecond (3G)",
    Kind.SMOOTH: "packets evenly spaced (rate logs)",
}


def _lag_behind(one: str, other: str) -> Callable[[Runs], Sample]:
    first, second = _over_bursts(one, _lag), _over_bursts(other, _lag)
    return lambda of: difference(first(of).values, second(of).values)


_BURSTS: Final = "mean over links with bursts"

_SYNTHETIC: Final = "the synthetic links deliver fewer packets at once than traces do"

LINKS_FIGURE: Final = Figure(
    id="estimators/links",
    ours=True,
    paper="ACK-rate estimators",
    title="Accuracy of every ACK-rate estimator on links with variable capacity",
    experiments=_EXPERIMENTS,
    draw=_draw,
    tables=_tables,
    claims=(
        Claim(
            "bursts-over-estimate",
            "if a scheduler delivers many packets in a millisecond, per-ACK samples overestimate without"
            " any reverse traffic",
            AtLeast(0.25),
            f"bias of filter (3) over per-ACK samples, {_BURSTS}",
            _over_bursts("westwood-ti", _bias),
            choices=(ONE_WAY,),
            reason=_SYNTHETIC,
        ),
        Claim(
            "stamps-do-not-help",
            "the receiver's timestamps do not help then, because packets arrive in bursts",
            AtLeast(0.10),
            f"bias of SARBE with stamps of 1 ms, {_BURSTS}",
            _over_bursts("sarbe:resolution=1ms", _bias),
            choices=(ONE_WAY,),
        ),
        Claim(
            "ten-ms-cure-bursts",
            "adding up data over 10 ms before filtering corrects this",
            Between(-0.10, 0.10),
            f"bias of filter (6) over data of 10 ms, {_BURSTS}",
            _over_bursts(TEN_MS, _bias),
            reason="acknowledgments that wait behind reverse traffic arrive in bunches longer than 10 ms",
        ),
        Claim(
            "fifty-ms-cure-both",
            "adding up data over 50 ms also corrects most of the compression by reverse traffic",
            Between(-0.15, 0.15),
            f"bias of filter (6) over data of 50 ms, {_BURSTS}",
            _over_bursts(FIFTY_MS, _bias),
            choices=(TWO_WAY, ONE_WAY),
        ),
        Claim(
            "compression",
            "with reverse traffic per-ACK samples overestimate the used rate many times",
            AtLeast(1.0),
            f"bias of filter (3) over per-ACK samples, {_BURSTS}",
            _over_bursts("westwood-ti", _bias),
            choices=(TWO_WAY,),
            reason=_SYNTHETIC,
        ),
        Claim(
            "anti-aliasing-cures",
            "a sample for each RTT has no bias, with and without reverse traffic",
            Between(-0.10, 0.10),
            f"bias of filter (6), anti-aliased, {_BURSTS}",
            _over_bursts("westwood-aa", _bias),
        ),
        Claim(
            "anti-aliasing-lags",
            "samples of an RTT have the delay of the queue as lag",
            AtLeast(0.1),
            f"lag of filter (6), anti-aliased, minus that over data of 50 ms, {_BURSTS}",
            _lag_behind("westwood-aa", FIFTY_MS),
            unit="s",
        ),
        Claim(
            "zero-order-hold",
            "filter (2) weights samples by their time and needs no correction",
            AtMost(0.10),
            f"absolute bias of filter (2) over per-ACK samples, {_BURSTS}",
            _over_bursts("westwood-zoh", lambda of_one: abs(of_one.bias)),
        ),
    ),
    notes=(
        "One sender keeps a fixed window in flight, 300 ms of the mean rate, and all estimators observe it;"
        " unlimited buffer, 40 ms of base RTT, an acknowledgment for each packet of 1500 bytes. The reverse"
        " traffic is one long CUBIC upload over the trace of the opposite direction, or over the same trace"
        " if there is none.",
        "One run for each link: on a fully used trace, runs differ only in their first second. Intervals"
        " are over links.",
        "The truth is a mean over a second around the instant, without headers: the capacity of the link"
        " or, with reverse traffic, the throughput of the flow, because the sender then no longer fills the"
        " link. Bias is mean over mean, minus one; errors are shares of the truth at the same time,"
        " excluding instants below 5 % of the mean; lag is the shift, up to 5 s, with the largest"
        " correlation of estimate and truth.",
        f"Two synthetic links are part of airpath. Set the environment variable {VARIABLE} to a folder of"
        " traces to add them.",
        "Without losses DynaPara-like stays in its good state and equals filter (3).",
        "Hoe's slope gives one sample at the start of a connection, for its first threshold; here it is"
        " held to the end: its row shows how far the capacity departs from its initial value.",
    ),
)

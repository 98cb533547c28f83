"""VCP-W, figure 3: three protocols over a satellite link."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from matplotlib.figure import Figure as Picture

from airpath.plots.style import legend_above, styled
from airpath.statistics import TextTable
from airpath_papers.claim import Claim, Runs
from airpath_papers.drawing import binned, panels
from airpath_papers.experiment import Experiment
from airpath_papers.figure import Figure, FigureRuns
from airpath_papers.measures import Span, mean_queue, of_each, time_to, utilisation
from airpath_papers.rules import AtLeast, AtMost, Between, Positive
from airpath_papers.run_data import RunData
from airpath_papers.sample import Sample, cell, difference, sample
from airpath_papers.vcp_w.paper import (
    AFTER_FREEZE,
    ANY_DURATION,
    AUTHOR,
    GUARDED,
    LOOKS,
    PAPER,
    PROFILE,
    REM,
    REM_NOTE,
    SCHEMES,
    VCP,
    WHICH_VCP,
    XCP,
    one_bottleneck,
    readings,
    xcp,
)

REPETITIONS: Final = 10
SETTLED: Final[Span] = (100.0, 1000.0)
"""The span in which steadiness is measured."""
BIN_S: Final = 1.0
"""Width of the bins over which utilisation is averaged, as recorded. Bins of 5 s would hide half of XCP's
oscillation, and XCP would appear as steady as VCP with a limit of 0.5 s.
"""

ONE_WAY: Final = "one way"
HALF: Final = "one way, XCP limit 0.5 s"
THIRD: Final = "one way, XCP limit 0.3 s"
SMALL: Final = "one way, buffer 0.4 BDP"
HUNDRED: Final = "one way, buffer 100 packets"
OTHER_RULE: Final = "one way, VCP “guarded”"
TWO_WAY: Final = "two way"
TWO_WAY_HALF: Final = "two way, XCP limit 0.5 s"
TWO_WAY_PACED: Final = "two way, paced"
_ONE_WAY_ALL: Final = (ONE_WAY, HALF, THIRD, SMALL, HUNDRED, OTHER_RULE)
_TWO_WAY_ALL: Final = (TWO_WAY, TWO_WAY_HALF, TWO_WAY_PACED)

_BOTH: Final[Mapping[str, Any]] = {"flows.0.direction": "both"}


def _three(changes: Mapping[str, Any], of_xcp: str = XCP, of_vcp: str = AUTHOR) -> dict[str, Experiment]:
    behind = {XCP: of_xcp, VCP: of_vcp, REM: REM}
    return {label: one_bottleneck("vcpw-satellite", behind[label], REPETITIONS, changes) for label in SCHEMES}


def _limit(buffer: str) -> dict[str, Any]:
    return {"topology.bottleneck.queue.limit": buffer}


_EXPERIMENTS: Final[dict[str, dict[str, Experiment]]] = {
    ONE_WAY: _three({}),
    HALF: _three({}, xcp("500ms")),
    THIRD: _three({}, xcp("300ms")),
    SMALL: _three(_limit("0.4bdp")),
    HUNDRED: _three(_limit("104kB")),
    OTHER_RULE: _three({}, of_vcp=GUARDED),
    TWO_WAY: _three(_BOTH),
    TWO_WAY_HALF: _three(_BOTH, xcp("500ms")),
    TWO_WAY_PACED: _three({**_BOTH, "transport.pacing": True}),
}


def _spread(run: RunData) -> float:
    """Return the standard deviation over time of the utilisation in bins."""
    series = run.links[run.link_under_test].series
    departed, offered = (
        binned(series["time_s"], series[name], BIN_S) for name in ("departed_bytes", "offered_bytes")
    )
    return float((departed[1] / offered[1])[departed[0] > SETTLED[0]].std())


def _used(run: RunData) -> float:
    return utilisation(run, SETTLED)


def _queue(run: RunData) -> float:
    return mean_queue(run, SETTLED)


def _of(label: str, measure: Callable[[RunData], float]) -> Callable[[Runs], Sample]:
    return lambda of: sample(of_each(of(label), measure))


def _less_steady(one: str, other: str) -> Any:
    """Return how much more the utilisation of one varies than that of another."""
    return lambda of: difference(of_each(of(one), _spread), of_each(of(other), _spread))


@styled
def _draw(runs: FigureRuns) -> Picture:
    choices = (ONE_WAY, HALF, TWO_WAY, TWO_WAY_HALF)
    picture, axes = panels(len(choices), height_in=2.0)
    for choice, panel in zip(choices, axes, strict=True):
        for label in reversed(SCHEMES):
            run = runs.of(choice)(label)[0]
            series = run.links[run.link_under_test].series
            time_s, departed = binned(series["time_s"], series["departed_bytes"], BIN_S)
            _, offered = binned(series["time_s"], series["offered_bytes"], BIN_S)
            look = LOOKS[label]
            panel.plot(
                time_s,
                100 * departed / offered,
                color=look.colour,
                linewidth=0.9,
                label=f"{look.display_name}, {100 * _used(run):.0f} ± {100 * _spread(run):.1f} %",
            )
        panel.set_xlim(0, 1000)
        panel.set_ylim(0, 105)
        panel.set_xlabel("time (s)")
        panel.set_ylabel("utilisation (%)")
        legend_above(panel)
        panel.set_title(choice, loc="right")
    return picture


def _table(runs: FigureRuns) -> list[TextTable]:
    def percent(choice: str, label: str, measure: Callable[[RunData], float]) -> str:
        return cell([100 * measure(run) for run in runs.of(choice)(label)])

    return [
        TextTable(
            f"From {SETTLED[0]:g} s on: {title} (± half-width of the 95 % interval)",
            ("choice", *(LOOKS[label].display_name for label in SCHEMES)),
            tuple(
                (choice, *(percent(choice, label, measure) for label in SCHEMES)) for choice in runs.choices
            ),
        )
        for title, measure in (
            ("utilisation in %", _used),
            (f"its standard deviation over time, bins of {BIN_S:g} s, in points", _spread),
            ("mean queue in % of the buffer", _queue),
        )
    ]


def _fast(of: Runs) -> Sample:
    return sample(of_each(of(VCP), lambda run: time_to(run, 0.0, 0.9, run.duration_s)))


_LIMIT_REASON: Final = (
    "with a limit of 1.0 s (ns-2), near the base RTT of 1.03 s, XCP is perfectly steady one way;"
    " oscillations appear if the RTT is about twice the limit"
)

FIG3: Final = Figure(
    id="vcp-w/fig3",
    paper=PAPER,
    title="Utilisation of a satellite link over time, XCP, VCP and TCP/REM+ECN",
    experiments=_EXPERIMENTS,
    readings=readings(_EXPERIMENTS, AFTER_FREEZE),
    draw=_draw,
    tables=_table,
    sentences={
        "vcp": ("fast", "high", "steady"),
        "queues": ("queue-xcp", "queue-vcp"),
        "two-way-worse": ("two-way-xcp", "two-way-rem"),
        "two-way-vcp": ("two-way-vcp-steadier", "two-way-vcp-high"),
    },
    claims=(
        Claim(
            "fast",
            "VCP converges rapidly",
            AtMost(60.0),
            "time to the first second with 90 % utilisation under VCP (rapidly: a minute, 60 round trips)",
            _fast,
            choices=(ONE_WAY, OTHER_RULE),
            unit="s",
        ),
        Claim(
            "high",
            "VCP remains at a high utilisation",
            AtLeast(0.9),
            "VCP's utilisation from 100 s on",
            _of(VCP, _used),
            choices=_ONE_WAY_ALL,
        ),
        Claim(
            "steady",
            "VCP does not oscillate much",
            AtMost(0.05),
            "standard deviation over time of VCP's utilisation",
            _of(VCP, _spread),
            choices=_ONE_WAY_ALL,
        ),
        Claim(
            "vcp-above-xcp",
            "VCP outperforms XCP, which shows wide variations",
            Positive(),
            "standard deviation over time of the utilisation, XCP minus VCP",
            _less_steady(XCP, VCP),
            choices=_ONE_WAY_ALL,
            reason=_LIMIT_REASON,
        ),
        Claim(
            "vcp-above-rem",
            "VCP outperforms TCP/REM+ECN",
            Positive(),
            "utilisation, VCP minus TCP/REM",
            lambda of: difference(of_each(of(VCP), _used), of_each(of(REM), _used)),
            choices=_ONE_WAY_ALL,
        ),
        Claim(
            "xcp-above-rem",
            "XCP's oscillations are still better than TCP/REM+ECN's",
            Positive(),
            "standard deviation over time of the utilisation, TCP/REM minus XCP",
            _less_steady(REM, XCP),
            choices=_ONE_WAY_ALL,
        ),
        *(
            Claim(
                f"queue-{label}",
                f"{LOOKS[label].display_name}'s queue is around 2.9 %",
                Between(0.02, 0.038),
                f"{LOOKS[label].display_name}'s mean queue, share of the buffer (within 0.9 points)",
                _of(label, _queue),
                choices=_ONE_WAY_ALL,
                reason=(
                    "the paper gives no buffer; VCP's queue is 2.6 packets with any buffer, and XCP has"
                    " hardly any until its limit is below the RTT"
                ),
            )
            for label in (XCP, VCP)
        ),
        Claim(
            "two-way-xcp",
            "two-way traffic makes it worse for XCP",
            AtLeast(0.05),
            "standard deviation over time of XCP's utilisation (one way, see the table, 0.002)",
            _of(XCP, _spread),
            choices=_TWO_WAY_ALL,
        ),
        Claim(
            "two-way-rem",
            "two-way traffic makes it worse for TCP/REM+ECN",
            AtMost(0.75),
            "TCP/REM's utilisation (one way, see the table, above 0.9)",
            _of(REM, _used),
            choices=_TWO_WAY_ALL,
        ),
        Claim(
            "two-way-vcp-steadier",
            "two way, VCP oscillates much less than XCP",
            Positive(),
            "standard deviation over time of the utilisation, XCP minus VCP",
            _less_steady(XCP, VCP),
            choices=_TWO_WAY_ALL,
        ),
        Claim(
            "two-way-vcp-high",
            "two way, VCP still shows a high utilisation",
            AtLeast(0.9),
            "VCP's utilisation from 100 s on",
            _of(VCP, _used),
            choices=_TWO_WAY_ALL,
            reason=(
                "acknowledgments queue behind data and arrive in bunches, and so does the load of 200 ms,"
                " even if senders pace"
            ),
        ),
    ),
    notes=(
        WHICH_VCP,
        "XCP's longest control interval, which also caps the RTT of packets, is 1.0 s as in ns-2; 0.5 and"
        " 0.3 s are shown for comparison. “paced”: every sender spreads its window over the round trip.",
        PROFILE,
        REM_NOTE,
        ANY_DURATION,
        "2x2, 30 dB, rates 0.93/0.5: no packet is lost on the wireless link under either reading of the"
        " chain.",
    ),
)

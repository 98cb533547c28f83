"""Completion time of 20 MB over the satellite link under every scheme."""

import math
from collections.abc import Callable
from typing import Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from airpath.plots.style import styled
from airpath.results.formatting import number
from airpath.schemes import SCHEMES
from airpath.statistics import TextTable
from airpath.views.styles import style_for
from airpath_papers.claim import Claim, Runs
from airpath_papers.drawing import panels
from airpath_papers.experiment import Experiment
from airpath_papers.figure import Figure, FigureRuns
from airpath_papers.rules import AtLeast, Positive
from airpath_papers.sample import Sample, sample
from airpath_papers.satellite.censored import Median, faster, median, paired_ratios, times_s

BY_TIME: Final = "losses by time"
BY_PACKET: Final = "losses by packet"
SCENARIOS: Final = {BY_TIME: "satellite-bursts-time", BY_PACKET: "satellite-bursts-packet"}
REPETITIONS: Final = 30
LIMIT_S: Final = 4000.0
"""Length of the runs: transfers that are unfinished then count as longer."""
LEAST_S: Final = 20e6 * 8 / 12e6
"""Duration of 20 MB at the rate of the link, without headers, round trips and losses."""
COLLAPSE: Final = 5.0
"""Multiple of `LEAST_S` that counts as a collapse."""

DIFFERENTIATED: Final = ("newreno", "cubic", "xcp", "xcp-ebe", "vcp", "vcp-ebe", "mpcp", "mpcp-ebe")
"""Schemes that also run with loss differentiation (`-ld`)."""


CONTENDERS: Final = (
    *(scheme.id for scheme in SCHEMES if scheme.id != "fixed" and not scheme.id.endswith("-oracle")),
    *(f"{scheme}-ld" for scheme in DIFFERENTIATED),
)
"""Every listed scheme except the manually set window and the oracles, which know the true capacity."""

Times = dict[str, tuple[float, ...]]


def _times(runs: FigureRuns, choice: str) -> Times:
    """Return the completion times by scheme, the shortest median first; ties by how many finished."""
    times = {label: times_s(runs.of(choice)(label)) for label in runs.labels(choice)}
    return dict(sorted(times.items(), key=lambda item: (median(item[1]).value, _unfinished(item[1]))))


def _unfinished(times: tuple[float, ...]) -> int:
    return sum(map(math.isinf, times))


def _seconds(value: float) -> str:
    return f"> {LIMIT_S:g}" if math.isinf(value) else number(value)


def _ratio(value: Median) -> str:
    def text(one: float) -> str:
        return "unknown" if math.isinf(one) else f"{one:.2f}"

    return f"{text(value.value)} ({text(value.low)} to {text(value.high)})"


def _tables(runs: FigureRuns) -> list[TextTable]:
    return [_table(choice, runs.of(choice), _times(runs, choice)) for choice in runs.choices]


def _table(choice: str, runs: Runs, times: Times) -> TextTable:
    first = next(iter(times))
    rows = []
    for scheme, mine in times.items():
        middle = median(mine)
        row = [
            scheme,
            f"{len(mine) - _unfinished(mine)} of {len(mine)}",
            _seconds(middle.value),
            f"{_seconds(middle.low)} to {_seconds(middle.high)}",
            _seconds(min(mine)),
            _seconds(max(mine)),
            f"{np.median([run.metrics['timeouts'] for run in runs(scheme)]):g}",
        ]
        if scheme == first:
            rows.append((*row, "", "", ""))
            continue
        behind = faster(times[first], mine)
        rows.append(
            (
                *row,
                _ratio(median(paired_ratios(mine, times[first]))),
                f"{behind.values.count(1.0)} : {behind.values.count(-1.0)}",
                f"{behind.p_value:.2g}",
            )
        )
    return TextTable(
        f"Completion times in seconds, {choice}, the shortest median first",
        ("scheme", "finished", "median", "95 %", "least", "most", "timeouts", f"over {first}", "seeds", "p"),
        tuple(rows),
        f"Censored at {LIMIT_S:g} s: unfinished downloads count as longer and are in no mean. 95 %: by"
        f" order statistics. Timeouts: median of the runs. “Over {first}”: median of the ratios seed by"
        f" seed, with its interval; “seeds”: number of seeds with which {first} finished first, and last; p"
        " of the sign test, not corrected for the number of schemes.",
    )


@styled
def _draw(runs: FigureRuns) -> Picture:
    picture, axes = panels(len(runs.choices), height_in=0.19 * len(CONTENDERS) + 0.7, columns=2)
    for choice, panel in zip(runs.choices, axes, strict=True):
        _strips(panel, _times(runs, choice))
        panel.set_title(choice, loc="right")
    return picture


def _strips(panel: Axes, times: Times) -> None:
    looks = style_for(list(times))
    for place, (scheme, mine) in enumerate(times.items()):
        values = np.array(mine)
        finished = values[np.isfinite(values)]
        panel.plot(
            finished,
            np.full(len(finished), place),
            linestyle="none",
            marker="o",
            markersize=3,
            markeredgewidth=0,
            alpha=0.5,
            color=looks[scheme].colour,
        )
        middle = median(mine).value
        if math.isfinite(middle):
            panel.plot([middle] * 2, [place - 0.38, place + 0.38], color="black", linewidth=1.4)
        if unfinished := _unfinished(mine):
            panel.annotate(
                f"{unfinished} unfinished",
                (LIMIT_S, place),
                xytext=(4, 0),
                textcoords="offset points",
                va="center",
                fontsize="x-small",
                annotation_clip=False,
            )
    panel.set_yticks(range(len(times)), list(times))
    panel.set_ylim(len(times) - 0.4, -0.6)
    panel.set_xscale("log")
    panel.set_xlim(LEAST_S, LIMIT_S)
    panel.set_xticks([20, 50, 100, 200, 500, 1000, 4000], ["20", "50", "100", "200", "500", "1000", "4000"])
    panel.minorticks_off()
    panel.grid(axis="x", linewidth=0.4, color="#dddddd")
    panel.set_axisbelow(True)
    panel.set_xlabel("completion time (s), and its median")


def _first(one: str, other: str) -> Callable[[Runs], Sample]:
    """Return the measure "the first scheme finishes before the second"."""
    return lambda of: faster(times_s(of(one)), times_s(of(other)))


def _collapsed(scheme: str) -> Callable[[Runs], Sample]:
    """Return the measure "the transfer takes `COLLAPSE` times what the link needs"."""
    return lambda of: sample([float(time >= COLLAPSE * LEAST_S) for time in times_s(of(scheme))])


def _claim(one: str, other: str, statement: str, reason: str = "") -> Claim:
    return Claim(
        f"{one}-before-{other}",
        statement,
        Positive(),
        f"seeds with which {one} finishes first minus those with which {other} does, divided by all (sign"
        " test)",
        _first(one, other),
        reason=reason,
    )


DOWNLOADS_FIGURE: Final = Figure(
    id="satellite/downloads",
    ours=True,
    paper="A satellite link with losses in bursts",
    title="20 MB over 600 ms of RTT under every scheme",
    experiments={
        choice: {scheme: Experiment(name, scheme, {}, REPETITIONS) for scheme in CONTENDERS}
        for choice, name in SCENARIOS.items()
    },
    draw=_draw,
    tables=_tables,
    claims=(
        Claim(
            "cubic-collapses",
            "CUBIC collapses on this link",
            AtLeast(0.5),
            f"share of downloads that take at least {COLLAPSE:g} times the {LEAST_S:.1f} s of the rate alone",
            _collapsed("cubic"),
        ),
        _claim(
            "cubic",
            "westwood",
            "CUBIC is ahead of Westwood",
            "Westwood's samples of single acknowledgments are far too high, so a loss hardly lowers its"
            " window; Westwood+, with a sample for each RTT, is behind CUBIC",
        ),
        _claim("westwood", "newreno", "Westwood is ahead of NewReno"),
        _claim("bbr", "cubic", "a sender that paces at its estimate of the bandwidth is ahead of CUBIC"),
        _claim("xcp", "cubic", "a sender with a rate from routers is ahead of CUBIC"),
        _claim(
            "vcp",
            "cubic",
            "a sender with the load region from routers is ahead of CUBIC",
            "VCP grows slowly from the small windows after timeouts; it does not distinguish channel losses"
            " from others",
        ),
    ),
    notes=(
        "A public report of CUBIC against losses in bursts (picoquic, issue 1221): 12 Mbit/s down, 3 up,"
        " 600 ms"
        " of RTT, a buffer of 1.2 bandwidth-delay products, a Gilbert chain with p = 0.01 and q = 0.167.",
        "The unit of a step of that chain is decisive. The losses of the report are a trace in time: 2.56 %"
        " of the time, in bursts of 16.7 ms on average and at most 43 ms. “Losses by time” is a chain with"
        " these two means whose times in a burst are exponential: one in thirteen is longer than 43 ms."
        " “Losses by packet” takes a step for each packet, with unchanged p and q: 5.65 % of packets, in"
        " bursts of 6; it does not move while a sender waits for its timer.",
        "The claims are expectations from an independent simulation of the case, before these runs.",
        "Only the downlink corrupts packets. Queues are those that each scheme needs, all of the same"
        " limit. Every scheme has its default parameters. Configured capacity sources have the rate of the"
        " link, without its losses.",
    ),
)

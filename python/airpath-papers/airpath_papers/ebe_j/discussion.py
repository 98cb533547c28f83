"""EBE-J, end of section IV-B and section IV-D: flows that join and leave, very small buffers."""

from typing import Final

from matplotlib.figure import Figure as Picture

from airpath.plots.style import legend_above, styled
from airpath_papers.claim import Claim
from airpath_papers.drawing import looks_of, over_time_by_choice, panels
from airpath_papers.ebe_j.paper import FIXED_SCHEDULE, PAPER, SETTINGS, TRAFFIC
from airpath_papers.figure import Figure, FigureRuns
from airpath_papers.measures import (
    mean_queue,
    of_each,
    queue_deviation,
    time_to,
    utilisation,
)
from airpath_papers.rules import AtLeast, Between, Positive
from airpath_papers.sample import difference, sample
from airpath_papers.settings import ALL_SETTINGS, dumbbell, in_setting, readings

REPETITIONS: Final = 10
BUFFER_REPETITIONS: Final = 5
LEAVE_S: Final = 40.0
RETURN_S: Final = 80.0
COMPARABLE: Final = Between(-0.05, 0.05)
"""Our reading of "comparable" utilisation: the difference is at most this."""

_SCHEMES: Final = ("xcp", "xcp-ebe", "vcp", "vcp-ebe")

JOIN_LEAVE: Final = Figure(
    id="ebe-j/join-leave",
    paper=PAPER,
    title="Half of the flows leave at 40 s and return at 80 s",
    experiments={
        setting: {scheme: in_setting("ebe-join-leave", setting, scheme, REPETITIONS) for scheme in _SCHEMES}
        for setting in ALL_SETTINGS
    },
    readings=readings(ALL_SETTINGS),
    sentences={
        "comparable": ("comparable-xcp", "comparable-vcp"),
        "faster": ("faster", "more-oscillation"),
    },
    draw=lambda runs: over_time_by_choice(runs, "utilisation", span_s=1.0),
    claims=(
        Claim(
            "comparable-xcp",
            "EBE's utilisation is comparable, without significant improvement (XCP)",
            COMPARABLE,
            "utilisation, XCP-EBE minus XCP",
            lambda of: difference(of_each(of("xcp-ebe"), utilisation), of_each(of("xcp"), utilisation)),
            reason="in T, with its limit cycle (figure 6(a)), XCP-EBE is .060 below XCP: .903 and .963",
        ),
        Claim(
            "comparable-vcp",
            "EBE's utilisation is comparable, without significant improvement (VCP)",
            COMPARABLE,
            "utilisation, VCP-EBE minus VCP",
            lambda of: difference(of_each(of("vcp-ebe"), utilisation), of_each(of("vcp"), utilisation)),
            reason=(
                "VCP-EBE is above VCP by .069 in T and by .055 in O: from 10 to 40 s, before flows leave,"
                " it uses .97 and 1.00 of the link and VCP .91 and .96; in the 4 s after they left, .88 and"
                " .92 and VCP .78 and .79"
            ),
        ),
        Claim(
            "faster",
            "EBE slightly improves the speed of convergence (XCP)",
            Positive(),
            "time to 90 % of the capacity after the flows left, XCP minus XCP-EBE",
            lambda of: difference(
                of_each(of("xcp"), lambda run: time_to(run, LEAVE_S, 0.9, RETURN_S)),
                of_each(of("xcp-ebe"), lambda run: time_to(run, LEAVE_S, 0.9, RETURN_S)),
            ),
            unit="s",
            reason=(
                "in L and T runs differ by more than the schemes do; in O the difference is one recorded"
                " interval, 0.2 s, in every run"
            ),
        ),
        Claim(
            "more-oscillation",
            "at the cost of slightly higher oscillations",
            Positive(),
            "standard deviation of the queue, XCP-EBE minus XCP, share of the buffer",
            lambda of: difference(
                of_each(of("xcp-ebe"), queue_deviation), of_each(of("xcp"), queue_deviation)
            ),
        ),
        Claim(
            "worse-queue",
            "without EBE the queue is shorter, because EBE keeps one",
            Positive(),
            "mean queue, XCP-EBE minus XCP, share of the buffer",
            lambda of: difference(of_each(of("xcp-ebe"), mean_queue), of_each(of("xcp"), mean_queue)),
        ),
    ),
    notes=("10 Mbit/s throughout, 20 flows; times and numbers are our choices.", SETTINGS),
)

BUFFERS_KB: Final = (6, 20, 60, 150, 300, 575)
_BUFFER_SCHEMES: Final = ("xcp-b", "xcp-ebe", "xcp-oracle", "vcp-ebe", "vcp-oracle")


def _at(scheme: str, kilobytes: int) -> str:
    return f"{scheme}, {kilobytes} kB"


@styled
def _draw_buffers(runs: FigureRuns) -> Picture:
    picture, axes = panels(len(runs.choices), height_in=2.4)
    looks = looks_of(_BUFFER_SCHEMES)
    for choice, panel in zip(runs.choices, axes, strict=True):
        of = runs.of(choice)
        for scheme in _BUFFER_SCHEMES:
            samples = [sample(of_each(of(_at(scheme, size)), utilisation)) for size in BUFFERS_KB]
            halves = [50 * (one.interval[1] - one.interval[0]) for one in samples]
            panel.errorbar(
                BUFFERS_KB,
                [100 * one.mean for one in samples],
                yerr=halves,
                color=looks[scheme].colour,
                marker=looks[scheme].marker,
                markersize=3,
                label=looks[scheme].display_name,
                capsize=1.5,
            )
        panel.set_xscale("log")
        panel.set_xlim(BUFFERS_KB[0] / 1.2, BUFFERS_KB[-1] * 1.2)
        panel.set_xticks(BUFFERS_KB, [str(size) for size in BUFFERS_KB])
        panel.set_xticks([], minor=True)
        panel.set_xlabel("buffer (kB)")
        panel.set_ylabel("utilisation (%)")
        panel.set_title(choice, loc="right")
        legend_above(panel)
    return picture


SMALL_BUFFERS: Final = Figure(
    id="ebe-j/small-buffers",
    paper=PAPER,
    title="Buffers from 6 to 575 kB",
    experiments={
        setting: {
            _at(scheme, size): dumbbell(
                setting, scheme, BUFFER_REPETITIONS, {"topology.bottleneck.queue.limit": f"{size}kB"}
            )
            for size in BUFFERS_KB
            for scheme in _BUFFER_SCHEMES
        }
        for setting in ALL_SETTINGS
    },
    readings=readings(ALL_SETTINGS),
    draw=_draw_buffers,
    claims=(
        Claim(
            "weak-when-small",
            "very small buffers are not EBE's best case",
            Positive(),
            "XCP-EBE's utilisation, 575 kB minus 20 kB",
            lambda of: difference(
                of_each(of(_at("xcp-ebe", 575)), utilisation), of_each(of(_at("xcp-ebe", 20)), utilisation)
            ),
        ),
        Claim(
            "detects-badly",
            "it has difficulty in detecting increases there",
            Positive(),
            "utilisation with 20 kB, the true capacity as source minus EBE",
            lambda of: difference(
                of_each(of(_at("xcp-oracle", 20)), utilisation), of_each(of(_at("xcp-ebe", 20)), utilisation)
            ),
        ),
        Claim(
            "not-blind",
            "it functions properly",
            AtLeast(0.75),
            "XCP-EBE's utilisation with 20 kB",
            lambda of: sample(of_each(of(_at("xcp-ebe", 20)), utilisation)),
        ),
    ),
    notes=(
        FIXED_SCHEDULE,
        TRAFFIC,
        SETTINGS,
        "The buffer sizes are our choices; the paper gives no number here.",
    ),
)

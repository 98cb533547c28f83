"""VCP-W, figures 2(a) and 2(d): three protocols over the quality of the wireless bottleneck."""

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from scipy import stats

from airpath.plots.style import styled
from airpath.statistics import TextTable
from airpath_papers.claim import Claim, Runs
from airpath_papers.drawing import panels
from airpath_papers.experiment import Experiment
from airpath_papers.figure import Figure, FigureRuns
from airpath_papers.rules import AtLeast, AtMost, Positive
from airpath_papers.run_data import Numbers
from airpath_papers.sample import Sample, difference, least_sure, sample
from airpath_papers.vcp_w.channel import ANTENNAS, AXIS, BIT, CODING, PER_BIT, PER_SYMBOL, SYMBOL, Fading
from airpath_papers.vcp_w.over_snr import (
    WIRELESS,
    at,
    curve,
    delivered,
    error_rate,
    finish_snr,
    knees,
    label,
    lines,
    smallest_step,
    sweep,
)
from airpath_papers.vcp_w.paper import (
    ANY_DURATION,
    CHANNEL_STEPS,
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
)

REPETITIONS: Final = 3
ON_PLATEAU: Final = 10
"""Repetitions at the best SNR of figure 2(a), at which schemes are compared."""
BEST_DB: Final = 30.0
TWELVE: Final = "step per bit, bursts of 12"
PLATEAU: Final = "plateau over 400 s"

_AROUND_THE_KNEE: Final = {"1x1": (4, 24), "2x1": (0, 16), "1x2": (-2, 14), "2x2": (-4, 10)}
"""First and last SNR in addition to the best, in steps of 2 dB: the knees of both readings."""
SNRS: Final = {
    antennas: (*map(float, range(first, last + 1, 2)), BEST_DB)
    for antennas, (first, last) in _AROUND_THE_KNEE.items()
}
_LINKS: Final[dict[str, tuple[str, int]]] = {PER_BIT: (BIT, 8), PER_SYMBOL: (SYMBOL, 8), TWELVE: (BIT, 12)}
"""Clock and mean length of the bad state of each choice."""
_SWEEPS: Final = (PER_BIT, PER_SYMBOL)


def link_of(choice: str, antennas: str) -> Fading:
    """Return the link of a choice."""
    clock, bad_steps = _LINKS[choice]
    return Fading(antennas, 0.9, 0.5, clock, bad_steps)


def _experiments(
    choice: str, schemes: Sequence[str] = SCHEMES, at_best: int = REPETITIONS
) -> dict[str, Experiment]:
    found: dict[str, Experiment] = {}
    for scheme in schemes:
        for antennas in ANTENNAS:
            link = link_of(choice, antennas)
            found |= sweep(scheme, link, SNRS[antennas][:-1], REPETITIONS)
            found |= sweep(scheme, link, SNRS[antennas][-1:], at_best)
    return found


_LONG: Final = Fading("2x2", 0.9, 0.5)
_PLATEAU = {
    label(scheme, _LONG, BEST_DB): one_bottleneck(
        WIRELESS,
        scheme,
        ON_PLATEAU,
        {"duration": "400s", "topology.bottleneck.loss": _LONG.loss(BEST_DB)},
    )
    for scheme in SCHEMES
}
_DASHES: Final = {"1x1": ":", "2x1": "-.", "1x2": "--", "2x2": "-"}


_NESTED: Final = ((8.5, 1.9), (5.8, 1.3), (3.0, 0.7))
"""Marker size and line width, in points, of each of `SCHEMES`."""


def _draw_of(measure: Any, ylabel: str) -> Any:
    @styled
    def draw(runs: FigureRuns) -> Picture:
        picture, axes = panels(2, height_in=3.0)
        for choice, panel in zip(_SWEEPS, axes, strict=True):
            _curves(panel, runs.of(choice), measure)
            if measure is error_rate:
                grid = np.linspace(-4, BEST_DB, 120)
                for antennas in ANTENNAS:
                    exact = [link_of(choice, antennas).exact(snr) for snr in grid]
                    panel.plot(grid, exact, color="#999999", linewidth=2.4, alpha=0.5, zorder=0)
                panel.plot([], [], color="#999999", linewidth=2.4, alpha=0.5, label="exact, 1040 bytes")
            finish_snr(panel, ylabel)
            panel.set_xlim(-5, BEST_DB + 1)
            panel.set_ylim(bottom=0)
            panel.set_title(choice, loc="right")
        return picture

    return draw


def _curves(panel: Axes, of: Runs, measure: Any) -> None:
    # Curves coincide: the first ones are wider and hollow, so that the last does not hide them.
    for scheme, (marker_size, line_width) in zip(SCHEMES, _NESTED, strict=True):
        for antennas in ANTENNAS:
            lines(
                panel,
                SNRS[antennas],
                curve(of, scheme, _link(antennas), SNRS[antennas], measure),
                color=LOOKS[scheme].colour,
                marker=LOOKS[scheme].marker,
                markersize=marker_size,
                markerfacecolor="none",
                markeredgewidth=0.9,
                linewidth=line_width,
                clip_on=False,
                linestyle=_DASHES[antennas],
                label=LOOKS[scheme].display_name if antennas == "2x2" else None,
            )
    for antennas in ANTENNAS:
        panel.plot([], [], color="#444444", linestyle=_DASHES[antennas], label=antennas)


def _link(antennas: str) -> Fading:
    """Return a link for labels, which are equal in every choice."""
    return link_of(PER_BIT, antennas)


def _order(of: Runs) -> Sample:
    by_scheme = [
        smallest_step([knees(of, scheme, _link(one), SNRS[one]) for one in ANTENNAS]) for scheme in SCHEMES
    ]
    return least_sure(by_scheme)


def _best(of: Runs, scheme: str, antennas: str = "2x2") -> Numbers:
    return at(of, scheme, _link(antennas), BEST_DB, delivered)


def _same_plateau(of: Runs) -> Sample:
    spreads = []
    for scheme in SCHEMES:
        plateaus = np.stack([_best(of, scheme, antennas) for antennas in ANTENNAS])
        spreads.append(plateaus.max(axis=0) / plateaus.min(axis=0) - 1)
    return sample(np.max(spreads, axis=0))


def _shift_of_knees(runs: FigureRuns) -> TextTable:
    """Return the shift of VCP's knees to the right with longer bursts."""
    eight, twelve = (
        {one: knees(runs.of(choice), VCP, _link(one), SNRS[one]) for one in ANTENNAS}
        for choice in (PER_BIT, TWELVE)
    )
    return TextTable(
        "SNR (dB) at which VCP delivers half of its plateau, a step per bit, bursts of 8 and 12 bits",
        ("antennas", "8", "12", "shift"),
        tuple(
            (
                antennas,
                f"{eight[antennas].mean():.2f}",
                f"{twelve[antennas].mean():.2f}",
                f"{twelve[antennas].mean() - eight[antennas].mean():+.2f}",
            )
            for antennas in ANTENNAS
        ),
    )


def _table(runs: FigureRuns) -> Sequence[TextTable]:
    return [_shift_of_knees(runs), *_delivered_tables(runs)]


def _delivered_tables(runs: FigureRuns) -> Sequence[TextTable]:
    return [
        TextTable(
            f"Thousands of packets delivered in 50 s, {choice}",
            ("antennas", "SNR (dB)", "exact loss", *(LOOKS[scheme].display_name for scheme in SCHEMES)),
            tuple(
                (
                    antennas,
                    f"{snr:g}",
                    f"{link_of(choice, antennas).exact(snr):.2g}",
                    *(
                        f"{at(runs.of(choice), scheme, _link(antennas), snr, delivered).mean():.1f}"
                        for scheme in SCHEMES
                    ),
                )
                for antennas in ANTENNAS
                for snr in SNRS[antennas]
            ),
        )
        for choice in _SWEEPS
    ]


_NOTES: Final = (
    WHICH_VCP,
    AXIS,
    CODING,
    "The text has bursts of 12 bits, the caption 8, which are plotted. Figure 2(a) has a table of VCP's"
    " knees with either, figure 2(d) one of exact losses. Runs last 60 s instead of up to 1000, of which the"
    " first 10 do not count, and SNRs are coarse; the plateau is also run over 400 s.",
    PROFILE,
    REM_NOTE,
    ANY_DURATION,
)

FIG2A: Final = Figure(
    id="vcp-w/fig2a",
    paper=PAPER,
    title="Delivered packets over the SNR, four antenna configurations, code rate 0.9",
    experiments={choice: _experiments(choice, at_best=ON_PLATEAU) for choice in _SWEEPS}
    | {TWELVE: _experiments(TWELVE, (VCP,)), PLATEAU: _PLATEAU},
    readings=readings((*_SWEEPS, TWELVE, PLATEAU), CHANNEL_STEPS),
    draw=_draw_of(delivered, "delivered (1000 packets)"),
    tables=_table,
    sentences={"steady-state": ("xcp-leads", "above-rem")},
    claims=(
        Claim(
            "antennas",
            "1x1, 2x1, 1x2 and 2x2 are in ascending order",
            Positive(),
            "shift of the knee (half of the plateau) to the left with the next better antennas, the least"
            " certain one",
            _order,
            choices=_SWEEPS,
            unit="dB",
        ),
        Claim(
            "same-plateau",
            "antennas change the transient and not the steady state",
            AtMost(0.05),
            "largest over smallest delivery of the four antennas at 30 dB, minus 1, of the worst scheme",
            _same_plateau,
            choices=_SWEEPS,
        ),
        Claim(
            "xcp-leads",
            "in the steady state XCP takes the lead",
            Positive(),
            "delivered at 30 dB with 2x2, XCP minus VCP, 1000 packets",
            lambda of: difference(tuple(_best(of, XCP)), tuple(_best(of, VCP))),
            choices=(*_SWEEPS, PLATEAU),
        ),
        Claim(
            "above-rem",
            "in the steady state XCP and VCP are much better than TCP/REM+ECN",
            AtLeast(1.25),
            "delivered at 30 dB with 2x2, VCP over TCP/REM (much: a quarter more)",
            lambda of: sample(_best(of, VCP) / _best(of, REM)),
            choices=(*_SWEEPS, PLATEAU),
        ),
    ),
    notes=_NOTES,
)


def _consistent(of: Runs) -> Sample:
    found = []
    for scheme in SCHEMES:
        for antennas in ANTENNAS:
            rates, packets = (
                curve(of, scheme, _link(antennas), SNRS[antennas], one) for one in (error_rate, delivered)
            )
            columns = zip(rates.T, packets.T, strict=True)
            found.append([-float(stats.spearmanr(one, two).statistic) for one, two in columns])
    return sample(np.min(found, axis=0))


def _off_exact(choice: str) -> Callable[[Runs], Sample]:
    """Return the mean absolute difference from the exact error rate, for exact rates of 0.1 to 50 %."""

    def measure(of: Runs) -> Sample:
        errors = [
            np.abs(at(of, scheme, _link(antennas), snr, error_rate) - exact)
            for scheme in SCHEMES
            for antennas in ANTENNAS
            for snr in SNRS[antennas]
            if 1e-3 < (exact := link_of(choice, antennas).exact(snr)) < 0.5
        ]
        return sample(np.mean(errors, axis=0))

    return measure


def _shift_table(_runs: FigureRuns) -> Sequence[TextTable]:
    """Return the SNRs at which half and a hundredth of the data packets are lost, by burst length."""
    rows = []
    for reading, clock in ((PER_BIT, BIT), (PER_SYMBOL, SYMBOL)):
        for antennas in ANTENNAS:
            for rate in (None, 0.93, 0.9):
                eight, twelve = (Fading(antennas, rate, 0.5, clock, steps) for steps in (8, 12))
                points = [(one.snr_at(0.5), one.snr_at(0.01)) for one in (eight, twelve)]
                rows.append(
                    (
                        reading,
                        antennas,
                        "1" if rate is None else f"{rate:g}",
                        *(f"{value:.1f}" for point in points for value in point),
                        *(f"{points[1][part] - points[0][part]:+.2f}" for part in (0, 1)),
                    )
                )
    return [
        TextTable(
            "SNR (dB) at which 50 % and 1 % of packets of 1040 bytes are lost, exact, bursts of 8 and 12"
            " steps",
            (
                *("reading", "antennas", "rate", "50 %, 8", "1 %, 8", "50 %, 12", "1 %, 12"),
                *("shift at 50 %", "shift at 1 %"),
            ),
            tuple(rows),
        )
    ]


FIG2D: Final = Figure(
    id="vcp-w/fig2d",
    paper=PAPER,
    title="Packet error rate over the SNR, four antenna configurations, code rate 0.9",
    experiments={choice: _experiments(choice) for choice in _SWEEPS},
    readings=readings(_SWEEPS, CHANNEL_STEPS),
    draw=_draw_of(error_rate, "packet error rate"),
    tables=_shift_table,
    sentences={"exact": ("exact-bit",)},
    alternatives={"exact": ("exact-symbol",)},
    claims=(
        Claim(
            "consistent",
            "the packet error rate is consistent with the delivered packets: a lower rate delivers more",
            AtLeast(0.7),
            "smallest negated rank correlation of error rate and delivered packets over the SNR",
            _consistent,
        ),
        *(
            Claim(
                f"exact-{_LINKS[choice][0]}",
                f"the error rate is that of the channel, independent of the protocol; {choice}",
                AtMost(0.01),
                "difference from the exact loss of a packet of 1040 bytes, mean over points of 0.1 to 50 %"
                " loss",
                _off_exact(choice),
                choices=(choice,),
            )
            for choice in _SWEEPS
        ),
    ),
    notes=(
        *_NOTES,
        "The rate is that of bytes on the link in one direction; acknowledgments, better protected, are one"
        " byte in 27 of them. The table shows the shift of the curves with longer bursts.",
    ),
)

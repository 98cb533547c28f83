"""VCP-W: loss and delivery as surfaces over code rate and SNR, for each antenna configuration and reading."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any, Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from airpath.plots import PAGE_IN
from airpath.plots.style import styled
from airpath.statistics import TextTable
from airpath_papers.claim import Claim, Runs
from airpath_papers.experiment import Experiment
from airpath_papers.figure import Figure, FigureRuns
from airpath_papers.rules import AtLeast, Positive
from airpath_papers.run_data import Numbers
from airpath_papers.sample import Sample, least_sure, sample
from airpath_papers.vcp_w.channel import ANTENNAS, AXIS, CODING, READINGS, Fading
from airpath_papers.vcp_w.over_snr import crossings, curve, delivered, sweep
from airpath_papers.vcp_w.paper import ANY_DURATION, CHANNEL_STEPS, PAPER, PROFILE, XCP, readings

REPETITIONS: Final = 3
RATES: Final[tuple[float | None, ...]] = (None, 0.97, 0.93, 0.9, 0.8)
"""Code rates of data, weakest code first."""
SNRS: Final = (-2.0, 2.0, 6.0, 10.0, 14.0, 18.0, 22.0, 30.0)
MOST_LOST: Final = 0.5
FEW_LOST: Final = 1e-4
_FINE: Final = np.arange(-4.0, 40.5, 0.5)
_COLOURS: Final = "viridis"
_NAMES: Final = tuple("1" if rate is None else f"{rate:g}" for rate in RATES)
_SHORT: Final = {"duration": "25s"}


def _fading(antennas: str, rate: float | None, clock: str) -> Fading:
    return Fading(antennas, rate, 0.5, clock)


def _experiments(clock: str) -> dict[str, Experiment]:
    found: dict[str, Experiment] = {}
    for antennas in ANTENNAS:
        for rate in RATES:
            found |= sweep(XCP, _fading(antennas, rate, clock), SNRS, REPETITIONS, _SHORT)
    return found


def _surface(of: Runs, antennas: str) -> Numbers:
    """Return thousands of delivered packets: rates by SNRs by repetitions."""
    values: Numbers = np.stack(
        [curve(of, XCP, Fading(antennas, rate, 0.5), SNRS, delivered) for rate in RATES]
    )
    return values


def _edges(values: Numbers) -> Numbers:
    middle = (values[1:] + values[:-1]) / 2
    edges: Numbers = np.concatenate(([2 * values[0] - middle[0]], middle, [2 * values[-1] - middle[-1]]))
    return edges


def _exact(antennas: str, clock: str) -> Numbers:
    values: Numbers = np.array(
        [[_fading(antennas, rate, clock).exact(snr) for snr in _FINE] for rate in RATES]
    )
    return values


@styled
def _draw(runs: FigureRuns) -> Picture:
    """Plot exact loss and XCP's deliveries: rows are antenna configurations, columns readings."""
    picture = Picture(figsize=(PAGE_IN, 8.4), layout="constrained")
    grid = picture.add_gridspec(len(ANTENNAS), 4)
    most = max(_surface(runs.of(name), "2x2").mean(axis=2).max() for name in READINGS)
    maps: list[Any] = [None, None]
    by_kind: list[list[Axes]] = [[], []]
    for row, antennas in enumerate(ANTENNAS):
        for column, (name, clock) in enumerate(READINGS.items()):
            exact = picture.add_subplot(grid[row, column])
            loss = exact.pcolormesh(
                _edges(_FINE), range(len(RATES) + 1), _exact(antennas, clock), cmap="magma_r", vmin=0, vmax=1
            )
            packets = picture.add_subplot(grid[row, 2 + column])
            got = packets.pcolormesh(
                _edges(np.array(SNRS)),
                range(len(RATES) + 1),
                _surface(runs.of(name), antennas).mean(axis=2),
                cmap=_COLOURS,
                vmin=0,
                vmax=most,
            )
            maps = [loss, got]
            for kind, panel in enumerate((exact, packets)):
                by_kind[kind].append(panel)
                panel.set_xlim(-4, 30)
                panel.set_yticks(np.arange(len(RATES)) + 0.5, _NAMES if column == 0 else [""] * len(RATES))
                panel.grid(visible=False)
                if row == 0:
                    panel.set_title(name.split(" (")[0], fontsize=8)
                if row == len(ANTENNAS) - 1:
                    panel.set_xlabel("SNR (dB)")
            if column == 0:
                exact.set_ylabel(f"{antennas}, code rate of data")
    for kind, title in enumerate(("packet error rate, exact", "XCP, delivered (1000 packets)")):
        picture.colorbar(maps[kind], ax=by_kind[kind], location="bottom", aspect=40, shrink=0.9, label=title)
    return picture


def _table(_runs: FigureRuns) -> list[TextTable]:
    """Return the exact SNR at which a tenth of the packets is lost."""
    return [
        TextTable(
            f"SNR (dB) at which 10 % of packets of 1040 bytes are lost, exact, {name}",
            ("antennas", *(f"rate {rate}" for rate in _NAMES)),
            tuple(
                (antennas, *(f"{_fading(antennas, rate, clock).snr_at(0.1):.1f}" for rate in RATES))
                for antennas in ANTENNAS
            ),
        )
        for name, clock in READINGS.items()
    ]


def _half(of: Runs, antennas: str, row: int) -> Numbers:
    """Return the SNR at which half of the maximum is delivered; the end of the axis if never."""
    values = _surface(of, antennas)[row]
    found = crossings(SNRS, values, _surface(of, "2x2")[-1][-1] / 2)
    filled: Numbers = np.where(np.isnan(found), SNRS[-1], found)
    return filled


def _order(of: Runs) -> Sample:
    """Return the least certain SNR gain of better antennas; uncoded 1x1 never reaches the level."""
    return least_sure(
        sample(_half(of, worse, row) - _half(of, better, row))
        for row in range(1, len(RATES))
        for worse, better in pairwise(ANTENNAS)
    )


def _agree(clock: str) -> Callable[[Runs], Sample]:
    """Return the share of points, of those far from the knee, whose deliveries match their loss."""

    def measure(of: Runs) -> Sample:
        agree = []
        for antennas in ANTENNAS:
            shares = _surface(of, antennas)
            for row, rate in enumerate(RATES):
                for column, snr in enumerate(SNRS):
                    loss, share = (
                        _fading(antennas, rate, clock).exact(snr),
                        shares[row, column] / shares.max(),
                    )
                    if loss >= MOST_LOST:
                        agree.append(share <= 0.05)
                    elif loss <= FEW_LOST:
                        agree.append(share >= 0.9)
        return sample(np.mean(agree, axis=0))

    return measure


SURFACES: Final = Figure(
    id="vcp-w/surfaces",
    ours=True,
    paper=PAPER,
    title="Packet error rate and delivered packets over SNR and code rate, four antenna configurations",
    experiments={name: _experiments(clock) for name, clock in READINGS.items()},
    readings=readings(READINGS, CHANNEL_STEPS),
    draw=_draw,
    tables=_table,
    claims=(
        Claim(
            "antennas",
            "1x1, 2x1, 1x2 and 2x2 are in ascending order at every code rate (ours, of all coded ones)",
            Positive(),
            "SNR for half of the most delivered packets, worse minus next better antennas, the least"
            " certain one",
            _order,
            unit="dB",
        ),
        *(
            Claim(
                f"follows-{clock}",
                f"deliveries follow the channel, {name} (ours)",
                AtLeast(0.95),
                f"share of points that deliver at most 5 % of the most where at least {MOST_LOST:.0%} of"
                " packets are"
                f" lost, at least 90 % where at most {FEW_LOST:.2%} are",
                _agree(clock),
                choices=(name,),
            )
            for name, clock in READINGS.items()
        ),
    ),
    notes=(
        "Not a figure of the paper: it combines all antennas, codes and qualities. Error rates are exact;"
        " packets are those that XCP, which reaches its rate fastest, delivers in 15 s after the first 10"
        " over the wireless bottleneck. Acknowledgments have rate 0.5.",
        AXIS,
        CODING,
        PROFILE,
        ANY_DURATION,
    ),
)

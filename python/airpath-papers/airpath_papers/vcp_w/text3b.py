"""VCP-W, section III-B: packets delivered in the parking lot over its links' quality (text, no figure)."""

from typing import Final

import numpy as np
from matplotlib.figure import Figure as Picture

from airpath.plots.style import styled
from airpath_papers.claim import Claim, Runs
from airpath_papers.drawing import panels
from airpath_papers.experiment import Experiment
from airpath_papers.figure import Figure, FigureRuns
from airpath_papers.rules import AtMost, Between, Positive
from airpath_papers.run_data import Numbers, RunData
from airpath_papers.sample import Sample, sample
from airpath_papers.vcp_w.channel import AXIS, CODING, READINGS, SYMBOL, Fading
from airpath_papers.vcp_w.over_snr import PAYLOAD_BYTES, finish_snr, lines
from airpath_papers.vcp_w.paper import (
    AFTER_FREEZE,
    GUARDED,
    LOOKS,
    OBEYING,
    PAPER,
    PROFILE,
    QUARTER,
    VCP,
    WHICH_VCP,
    XCP,
    readings,
)
from airpath_papers.vcp_w.parking_lot import LINKS, PARKING_LOT, SETTING, on

_SCHEMES: Final = (XCP, VCP)
_LONG: Final = "F1"

REPETITIONS: Final = 5
_SNRS: Final = (0.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 16.0, 18.0, 22.0, 30.0)


def _at(label: str, snr: float) -> str:
    return f"{label}, {snr:g} dB"


def _delivered(run: RunData) -> float:
    """Return thousands of delivered packets per link, averaged over the four: long flows count at each."""
    hops = [len(LINKS) if group == _LONG else 1 for group in run.flow_group]
    return float(np.dot(hops, run.flow_goodput_bytes)) / len(LINKS) / PAYLOAD_BYTES / 1e3


def _quality(clock: str, rule: str = VCP, snrs: tuple[float, ...] = _SNRS) -> dict[str, Experiment]:
    fading = Fading("1x1", 0.8, 0.5, clock)
    start = {"uniform": ["0s", "10s"]}
    changes = {"duration": "300s", "flows.3.start": start}
    return {
        _at(label, snr): on(
            PARKING_LOT,
            rule if label == VCP else label,
            REPETITIONS,
            changes | {f"topology.links.{number}.loss": fading.loss(snr) for number in range(len(LINKS))},
        )
        for label in _SCHEMES
        for snr in snrs
    }


def _packets_over_snr(of: Runs, label: str) -> Numbers:
    values: Numbers = np.array([[_delivered(run) for run in of(_at(label, snr))] for snr in _SNRS])
    return values


def _threshold(of: Runs) -> Sample:
    """Return the width in dB from a tenth to nine tenths of the plateau, the larger of the two."""
    widths = []
    for label in _SCHEMES:
        values = _packets_over_snr(of, label)
        shares = values / values[-1]
        low, high = (
            [float(np.interp(part, np.maximum.accumulate(one), _SNRS)) for one in shares.T]
            for part in (0.1, 0.9)
        )
        widths.append(np.subtract(high, low))
    return sample(np.max(widths, axis=0))


def _xcp_over_vcp(of: Runs) -> Sample:
    one, other = ([_delivered(run) for run in of(_at(label, _SNRS[-1]))] for label in _SCHEMES)
    return sample(np.divide(one, other))


@styled
def _draw_quality(runs: FigureRuns) -> Picture:
    picture, axes = panels(len(READINGS), height_in=2.6)
    for choice, panel in zip(READINGS, axes, strict=True):
        for label in _SCHEMES:
            look = LOOKS[label]
            values = _packets_over_snr(runs.of(choice), label)
            lines(panel, _SNRS, values, color=look.colour, marker=look.marker, label=look.display_name)
        finish_snr(panel, "delivered per link (1000 packets)")
        panel.set_ylim(bottom=0)
        panel.set_title(choice, loc="right")
    return picture


_OTHERS: Final = (GUARDED, OBEYING, QUARTER)

TEXT3B: Final = Figure(
    id="vcp-w/text3b",
    paper=PAPER,
    title="Delivered packets in the parking lot over the SNR, 1x1, rates 0.8/0.5 (text of section III-B)",
    experiments={name: _quality(clock) for name, clock in READINGS.items()}
    | {rule: _quality(SYMBOL, rule, _SNRS[-1:]) for rule in _OTHERS},
    readings=readings((*READINGS, *_OTHERS), AFTER_FREEZE),
    draw=_draw_quality,
    sentences={"slightly-better": ("xcp-better", "slightly")},
    claims=(
        Claim(
            "threshold",
            "the curves resemble hysteresis curves similar to the single bottleneck's: a threshold",
            AtMost(10.0),
            "SNR from a tenth to nine tenths of the plateau, the wider of XCP and VCP",
            _threshold,
            choices=tuple(READINGS),
            unit="dB",
        ),
        Claim(
            "xcp-better",
            "in the steady state XCP is better than VCP",
            Positive(),
            "delivered over a link at 30 dB, mean over links, XCP over VCP, minus one",
            lambda of: sample(np.subtract(_xcp_over_vcp(of).values, 1.0)),
            reason="“author” keeps the queues of the parking lot full, and therefore also its links",
        ),
        Claim(
            "slightly",
            "the difference is slight",
            Between(0.9, 1.1),
            "delivered over a link at 30 dB, mean over links, XCP over VCP",
            _xcp_over_vcp,
        ),
    ),
    notes=(
        WHICH_VCP,
        "All five groups start within the first 10 s; 300 s of which the first 100 do not count, instead of"
        " 1500; five runs of each point, while the paper has ten. The paper does not show the curves. Other"
        " rules of VCP are run at 30 dB alone.",
        AXIS,
        CODING,
        SETTING,
        PROFILE,
    ),
)

"""Sweeps over the signal-to-noise ratio: experiments, delivered packets, knees, lines."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np
from matplotlib.axes import Axes

from airpath.plots.style import legend_above, styled
from airpath_papers.claim import Runs
from airpath_papers.experiment import Experiment
from airpath_papers.measures import damaged_share
from airpath_papers.run_data import Numbers, RunData
from airpath_papers.sample import Sample, least_sure, sample
from airpath_papers.vcp_w.channel import Fading
from airpath_papers.vcp_w.paper import one_bottleneck

WIRELESS: Final = "vcpw-wireless"
PAYLOAD_BYTES: Final = 1000


def label(scheme: str, fading: Fading, snr: float) -> str:
    """Return the label of a scheme on such a link at this SNR; the choice determines clock and bursts."""
    return f"{scheme}, {fading.antennas}, {fading.code}, {snr:g} dB"


def sweep(
    scheme: str,
    fading: Fading,
    snrs: Sequence[float],
    repetitions: int,
    changes: Mapping[str, Any] | None = None,
) -> dict[str, Experiment]:
    """Return a scheme on the wireless bottleneck at each of these SNRs."""
    return {
        label(scheme, fading, snr): one_bottleneck(
            WIRELESS, scheme, repetitions, {**(changes or {}), "topology.bottleneck.loss": fading.loss(snr)}
        )
        for snr in snrs
    }


def delivered(run: RunData) -> float:
    """Return the new packets received in the measured span, in both directions, in thousands."""
    return float(run.flow_goodput_bytes.sum()) / PAYLOAD_BYTES / 1e3


def error_rate(run: RunData) -> float:
    """Return the share of bytes that reached the link in one direction and were corrupted on it."""
    return damaged_share(run)


def at(of: Runs, scheme: str, fading: Fading, snr: float, measure: Callable[[RunData], float]) -> Numbers:
    """Return a measure of each repetition."""
    return np.array([measure(run) for run in of(label(scheme, fading, snr))])


def curve(
    of: Runs, scheme: str, fading: Fading, snrs: Sequence[float], measure: Callable[[RunData], float]
) -> Numbers:
    """Return a measure: SNRs by repetitions, as many as every SNR has."""
    points = [at(of, scheme, fading, snr, measure) for snr in snrs]
    fewest = min(map(len, points))
    values: Numbers = np.stack([point[:fewest] for point in points])
    return values


def crossings(snrs: Sequence[float], values: Numbers, level: Numbers) -> Numbers:
    """Return the SNR at which `values` first reach `level`, for each repetition, interpolated linearly.

    The first SNR if the values begin above it, NaN if they never reach it.
    """
    found: list[float] = []
    for column, wanted in zip(values.T, level, strict=True):
        above = np.flatnonzero(column >= wanted)
        if above.size == 0:
            found.append(float("nan"))
        elif above[0] == 0:
            found.append(float(snrs[0]))
        else:
            end = int(above[0])
            share = (wanted - column[end - 1]) / (column[end] - column[end - 1])
            found.append(float(snrs[end - 1] + share * (snrs[end] - snrs[end - 1])))
    return np.array(found)


def knees(of: Runs, scheme: str, fading: Fading, snrs: Sequence[float]) -> Numbers:
    """Return the SNR at which half of the deliveries at the highest SNR is reached, for each repetition."""
    values = curve(of, scheme, fading, snrs, delivered)
    return crossings(snrs, values, values[-1] / 2)


def smallest_step(series: Sequence[Numbers]) -> Sample:
    """Return the least certain difference between neighbours in descending order."""
    return least_sure(sample(one - other) for one, other in pairwise(series))


@styled
def lines(
    axes: Axes,
    snrs: Sequence[float],
    values: Numbers,
    **look: Any,
) -> None:
    """Plot means over the SNR with the range of the repetitions."""
    means = values.mean(axis=1)
    # The mean of equal values may differ from them in the last bit.
    below, above = means - values.min(axis=1), values.max(axis=1) - means
    axes.errorbar(
        snrs,
        means,
        np.maximum([below, above], 0.0),
        **{"markersize": 3.2, "linewidth": 1.0, "elinewidth": 0.6, "capsize": 1.2, **look},
    )


def finish_snr(axes: Axes, ylabel: str) -> None:
    """Label the axes and put the legend above."""
    axes.set_xlabel("SNR in the good state (dB)")
    axes.set_ylabel(ylabel)
    legend_above(axes)

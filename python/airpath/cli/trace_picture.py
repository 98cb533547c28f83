"""A figure of a trace: its rate over time, and the distribution of its rate."""

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from airpath.plots.style import PAGE_IN, render, styled

if TYPE_CHECKING:
    from airpath._core import Trace


def trace_picture(trace: "Trace", title: str, bin_s: float) -> bytes:
    """Plot the mean rate over bins of `bin_s` seconds, and its cumulative distribution, as a PNG file."""
    return render(_figure(trace, title, bin_s), "png")


@styled
def _figure(trace: "Trace", title: str, bin_s: float) -> Figure:
    points = trace.rates(bin_s)
    starts = np.array([start for start, _ in points])
    rates = np.array([rate for _, rate in points]) * 1e-6
    edges = np.append(starts, trace.statistics()["duration_s"])
    figure = Figure(figsize=(PAGE_IN, 2.6), layout="constrained")
    over_time, distribution = figure.subplots(1, 2, width_ratios=(3, 1))
    # Not `stairs`, which iterates over all bins in Python: 100 000 take six seconds.
    heights = np.append(rates, rates[-1:])
    over_time.fill_between(edges, heights, step="post", color="#dcdcdc", linewidth=0)
    over_time.step(edges, heights, where="post", color="#0072b2", linewidth=0.7)
    over_time.set(xlabel="time (s)", ylabel="rate (Mbit/s)", xlim=(0, edges[-1]))
    over_time.set_title(title, parse_math=False)  # a file name, in which $ is an ordinary character
    over_time.set_ylim(bottom=0)
    distribution.ecdf(rates, weights=np.diff(edges), color="#0072b2")
    distribution.set(xlabel="rate (Mbit/s)", ylabel="share of time")
    return figure

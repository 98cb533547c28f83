"""Figures of a log: throughput and capacity, and the delay of each packet."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure

from airpath.link_logs.bins import LogBins
from airpath.link_logs.log import Events, LinkLog
from airpath.link_logs.measures import flow_measures, log_measures
from airpath.plots.style import PAGE_IN, legend_above, styled

INGRESS, EGRESS = "#0072b2", "#d55e00"
"""Colours of a log with one flow."""

COLOURS = ("#0072b2", "#009e73", "#d55e00", "#cc79a7", "#e69f00", "#56b4e9")
"""Colours of flows, used cyclically."""

MOST_FLOWS = 12
"""Largest number of flows that are plotted: those with most departures."""

CELLS = (1400, 400)
"""Grid of cells in which packets are plotted once: a log can have millions of packets."""


@styled
def throughput_picture(log: LinkLog, bins: LogBins) -> Figure:
    """Plot capacity (shaded), ingress (dashed) and egress (solid) over time, with their means.

    Parameters
    ----------
    log
        The log.
    bins
        Its bins, over which rates are averaged.
    """
    figure = Figure(figsize=(PAGE_IN, 3.0), layout="constrained")
    axes = figure.add_subplot()
    whole = log_measures(log)
    edges = bins.edges_s
    if len(log.opportunities["time_ns"]):
        label = f"capacity ({_mean(whole['capacity_mbps'])})"
        rate = bins.rate_mbps(log.opportunities)
        axes.stairs(rate, edges, fill=True, color="#dcdcdc", label=label)
    for flow, colours in drawn_flows(log).items():
        arrivals, departures = log.of_flow[flow]
        measures = flow_measures(log, flow)
        name = f"flow {flow} " if log.names_flows else ""
        for way, events, mean, line, width, colour in (
            ("ingress", arrivals, measures["ingress_mbps"], (0, (4, 2)), 0.9, colours[0]),
            ("egress", departures, measures["throughput_mbps"], "-", 1.2, colours[1]),
        ):
            if len(events["time_ns"]):
                label = f"{name}{way} ({_mean(mean)})"
                rate = bins.rate_mbps(events)
                axes.stairs(
                    rate, edges, baseline=None, color=colour, linestyle=line, linewidth=width, label=label
                )
    axes.set(xlabel="time (s)", ylabel="throughput (Mbit/s)", xlim=(edges[0], edges[-1]))
    axes.set_ylim(bottom=0)
    legend_above(axes)
    _headed(figure, log)
    return figure


@styled
def delay_picture(log: LinkLog) -> Figure:
    """Plot the delay of each packet that left, its 95th percentile, and that of the signal delay.

    Parameters
    ----------
    log
        The log; only axes are plotted if no packet left.
    """
    figure = Figure(figsize=(PAGE_IN, 3.0), layout="constrained")
    axes = figure.add_subplot()
    first, last = (at * 1e-9 for at in log.span_ns)
    delays = log.departures["delay_ns"] * 1e-6
    highest = float(delays.max(initial=0.0))
    for flow, (_, colour) in drawn_flows(log).items():
        _, departures = log.of_flow[flow]
        if len(departures["time_ns"]):
            p95 = f"95th percentile {_milliseconds(flow_measures(log, flow)['delay_p95_ms'])}"
            label = f"flow {flow} ({p95})" if log.names_flows else f"packets ({p95})"
            time_s, delay_ms = _visible(departures, (first, last), highest)
            axes.plot(
                time_s, delay_ms, ".", color=colour, markersize=1.5, label=label, rasterized=True, zorder=2
            )
    if len(delays):
        measures = log_measures(log)
        for name, title, line in (
            ("delay_p95_ms", "all, 95th percentile", "--"),
            ("signal_delay_p95_ms", "signal delay, 95th percentile", ":"),
        ):
            label = f"{title} {_milliseconds(measures[name])}"
            axes.axhline(
                measures[name], color="#222222", linestyle=line, linewidth=0.9, label=label, zorder=3
            )
    what = "queueing" if log.kind == "mm-link" else "one-way"
    axes.set(xlabel="time (s)", ylabel=f"{what} delay of packets (ms)")
    if last > first:
        axes.set_xlim(first, last)
    if float(delays.min(initial=0.0)) >= 0:
        axes.set_ylim(bottom=0)
    legend_above(axes)
    _headed(figure, log)
    return figure


def drawn_flows(log: LinkLog) -> Mapping[int, tuple[str, str]]:
    """Return the flows to plot, in ascending order, with the colours of their ingress and egress."""
    if not log.names_flows:
        return dict.fromkeys(log.flows, (INGRESS, EGRESS))
    left = {flow: int(departures["bytes"].sum()) for flow, (_, departures) in log.of_flow.items()}
    most = sorted(sorted(left, key=lambda flow: -left[flow])[:MOST_FLOWS])
    return {flow: (COLOURS[row % len(COLOURS)],) * 2 for row, flow in enumerate(most)}


def _visible(
    departures: Events, span_s: tuple[float, float], highest_ms: float
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return times (s) and delays (ms) of packets, one for each cell of the figure."""
    time_s: npt.NDArray[np.float64] = departures["time_ns"] / 1e9
    delay_ms: npt.NDArray[np.float64] = departures["delay_ns"] / 1e6
    across, up = CELLS
    column = (time_s - span_s[0]) / max(span_s[1] - span_s[0], 1e-9) * across
    row = delay_ms / max(highest_ms, 1e-9) * up
    # Negative delays have rows of their own: the clocks of two endpoints can differ.
    cell = column.astype(np.int64) * (4 * up) + np.clip(row, -up, 2 * up).astype(np.int64)
    _, shown = np.unique(cell, return_index=True)
    return time_s[shown], delay_ms[shown]


def _headed(figure: Figure, log: LinkLog) -> None:
    flows = drawn_flows(log)
    left_out = f", the {len(flows)} largest of {len(log.flows)} flows" if len(flows) < len(log.flows) else ""
    # A $ in the name of a file is an ordinary character.
    figure.suptitle(f"{log.path.name}{left_out}", x=0.01, ha="left", fontsize=8, parse_math=False)


def _mean(rate_mbps: float) -> str:
    return f"mean {rate_mbps:.2f} Mbit/s" if np.isfinite(rate_mbps) else "no mean"


def _milliseconds(delay_ms: float) -> str:
    return f"{delay_ms:.4g} ms"

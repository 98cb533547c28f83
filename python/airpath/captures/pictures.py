"""Pictures of a flow: estimates beside the delivered rate, and round trips, over time."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from airpath.captures.analysis import FlowAnalysis, Numbers
from airpath.plots.style import PAGE_IN, legend_above, styled

LINES = {
    "westwood": ("#e69f00", "-"),
    "westwood-aa": ("#e69f00", "--"),
    "westwood-10ms": ("#e69f00", ":"),
    "westwood+": ("#0072b2", "-"),
    "zoh": ("#56b4e9", "-"),
    "zoh-aa": ("#56b4e9", "--"),
    "time-invariant": ("#cc79a7", "-"),
    "time-invariant-aa": ("#cc79a7", "--"),
    "dynapara": ("#7f7f7f", "-"),
    "sarbe": ("#d55e00", "-"),
    "packet-pair": ("#000000", ":"),
    "hoe": ("#000000", "--"),
    "delivery-rate": ("#009e73", "-"),
}
"""How each estimator is drawn; those that share a filter share a colour."""

ROOM = 2.5
"""The rate axis ends at so many times the highest delivered rate; estimates above are cut off and said to be."""


@styled
def flow_picture(flow: FlowAnalysis, title: str) -> Figure:
    """Draw one flow.

    Parameters
    ----------
    flow
        The flow.
    title
        What stands above.
    """
    figure = Figure(figsize=(PAGE_IN, 4.6), layout="constrained")
    rates, round_trips = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1.4))
    _draw_rates(rates, flow)
    _draw_round_trips(round_trips, flow)
    figure.suptitle(title, x=0.01, ha="left", fontsize=8)
    return figure


def _draw_rates(axes: Axes, flow: FlowAnalysis) -> None:
    edges = _edges(flow)
    delivered = flow.series["delivered_bps"] * 1e-6
    axes.stairs(delivered, edges, fill=True, color="#dcdcdc", label="delivered")
    top = float(delivered.max(initial=0.0)) * ROOM
    for entry in flow.estimates:
        name = entry["name"]
        values = _held(flow.estimates_bps[name]) * 1e-6
        if not np.isfinite(values).any():
            continue
        colour, line = LINES.get(name, ("#7f7f7f", "-"))
        above = float(np.mean(values[np.isfinite(values)] > top)) if top > 0 else 0.0
        note = f" (above the picture {above:.0%} of the time)" if above > 0.005 else ""
        axes.plot(flow.time_s, values, color=colour, linestyle=line, linewidth=0.9, label=name + note)
    if top > 0:
        axes.set_ylim(0, top)
    axes.set_ylabel("rate (Mbit/s)")
    legend_above(axes)


def _draw_round_trips(axes: Axes, flow: FlowAnalysis) -> None:
    mean, least = flow.series["rtt_mean_s"] * 1e3, flow.series["rtt_min_s"] * 1e3
    axes.plot(flow.time_s, mean, ".", color="#0072b2", markersize=2, label="mean of the bin")
    axes.plot(flow.time_s, least, ".", color="#56b4e9", markersize=1.5, label="smallest of the bin")
    sent_again = flow.time_s[flow.series["retransmitted_packets"] > 0]
    if len(sent_again):
        axes.plot(
            sent_again,
            np.zeros(len(sent_again)),
            "|",
            color="#d55e00",
            markersize=7,
            label="sent again",
            clip_on=False,
        )
    axes.set(ylabel="round trip (ms)", xlabel="time since the capture began (s)")
    axes.set_ylim(bottom=0)
    legend_above(axes)


def _edges(flow: FlowAnalysis) -> Numbers:
    first = flow.time_s[:1] - flow.width_s
    return np.concatenate([first, flow.time_s])


def _held(values: Numbers) -> Numbers:
    """Let an estimate stand until the next one."""
    known = np.where(np.isnan(values), 0, np.arange(len(values)))
    return values[np.maximum.accumulate(known)] if len(values) else values

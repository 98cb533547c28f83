"""Figures of a flow: estimates with the delivered rate, and round trips, over time."""

from collections import Counter

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from airpath.captures.analysis import FlowAnalysis, Numbers
from airpath.plots.style import PAGE_IN, legend_above, styled
from airpath.schemes.estimators import find_estimator

LINES = ("-", ":", "--", "-.")
"""Line styles of one estimator with different options; the colour is the same."""

MEAN_COLOUR = "#222222"
"""Colour of the delivered rate among estimates far above it, one of which (`samples`) is grey."""

ROOM = 1.5
"""The upper end of the rate axis, as a multiple of the highest delivered rate."""
WINDOWS = ("logged_congestion_window_bytes", "logged_in_flight_bytes")
"""Window and bytes in flight as recorded by QUIC logs, plotted below the estimates."""
WINDOW_LINES = (("congestion window", "#0072b2"), ("in flight", "#56b4e9"))
SMOOTHED = "logged_smoothed_rtt_s"

OFTEN = 0.02
"""Estimates above the rate axis for a larger fraction of the time have a logarithmic panel of their own."""


@styled
def flow_picture(flow: FlowAnalysis, title: str) -> Figure:
    """Plot one flow: estimates near the delivered rate, those far above it, round trips.

    Parameters
    ----------
    flow
        The flow.
    title
        The title above the panels.
    """
    delivered = flow.series["delivered_bps"] * 1e-6
    top = float(delivered.max(initial=0.0)) * ROOM
    near, far = _sorted_by_height(flow, top)
    windows = _has(flow, WINDOWS)
    heights = [2.4, *([1.4] if far else []), *([1.2] if windows else []), 1.2]
    figure = Figure(figsize=(PAGE_IN, 1.6 + sum(heights)), layout="constrained")
    panels = list(figure.subplots(len(heights), 1, sharex=True, height_ratios=heights))
    _draw_rates(panels[0], flow, near, top)
    if far:
        _draw_far(panels[1], flow, far)
    if windows:
        _draw_windows(panels[-2], flow)
    _draw_round_trips(panels[-1], flow)
    panels[-1].set_xlabel("time since the capture began (s)")
    # The title begins with the name of a file, in which $ is an ordinary character.
    figure.suptitle(title, x=0.01, ha="left", fontsize=8, parse_math=False)
    return figure


def _sorted_by_height(flow: FlowAnalysis, top: float) -> tuple[dict[str, Numbers], dict[str, Numbers]]:
    """Return the estimates in Mbit/s within the rate axis, and those above it."""
    near: dict[str, Numbers] = {}
    far: dict[str, Numbers] = {}
    for name, estimates_bps in flow.estimates_bps.items():
        values = _held(estimates_bps) * 1e-6
        known = values[np.isfinite(values)]
        if len(known):
            (far if np.mean(known > top) > OFTEN else near)[name] = values
    return near, far


def _draw_rates(axes: Axes, flow: FlowAnalysis, near: dict[str, Numbers], top: float) -> None:
    axes.stairs(
        flow.series["delivered_bps"] * 1e-6, _edges(flow), fill=True, color="#dcdcdc", label="delivered"
    )
    _draw_lines(axes, flow, near)
    if top > 0:
        axes.set_ylim(0, top)
    axes.set_ylabel("rate (Mbit/s)")
    legend_above(axes)


def _draw_far(axes: Axes, flow: FlowAnalysis, far: dict[str, Numbers]) -> None:
    mean = (flow.facts["delivered_bps"] or 0.0) * 1e-6
    if mean > 0:
        axes.axhline(mean, color=MEAN_COLOUR, linestyle=(0, (5, 3)), linewidth=0.9, label="delivered, mean")
    _draw_lines(axes, flow, far)
    axes.set_yscale("log")
    axes.set_ylabel("rate (Mbit/s)")
    legend_above(axes)


def _draw_lines(axes: Axes, flow: FlowAnalysis, estimates: dict[str, Numbers]) -> None:
    drawn: Counter[str] = Counter()
    for name, values in estimates.items():
        plain = name.partition(":")[0]
        line = LINES[drawn[plain] % len(LINES)]
        drawn[plain] += 1
        colour = find_estimator(plain).colour
        axes.plot(flow.time_s, values, color=colour, linestyle=line, linewidth=0.9, label=name)


def _draw_round_trips(axes: Axes, flow: FlowAnalysis) -> None:
    mean, least = flow.series["rtt_mean_s"] * 1e3, flow.series["rtt_min_s"] * 1e3
    axes.plot(flow.time_s, mean, ".", color="#0072b2", markersize=2, label="mean of the bin")
    axes.plot(flow.time_s, least, ".", color="#56b4e9", markersize=1.5, label="smallest of the bin")
    if _has(flow, (SMOOTHED,)):
        smoothed = _held(flow.series[SMOOTHED]) * 1e3
        axes.plot(flow.time_s, smoothed, color="#d55e00", linewidth=0.9, label="smoothed, as logged")
    retransmitted = flow.time_s[flow.series["retransmitted_packets"] > 0]
    if len(retransmitted):
        axes.plot(
            retransmitted,
            np.zeros(len(retransmitted)),
            "|",
            color="#d55e00",
            markersize=7,
            label="retransmission",
            clip_on=False,
        )
    axes.set_ylabel("round trip (ms)")
    axes.set_ylim(bottom=0)
    legend_above(axes)


def _draw_windows(axes: Axes, flow: FlowAnalysis) -> None:
    """Plot the values that the log itself records: window and bytes in flight."""
    for name, (label, colour) in zip(WINDOWS, WINDOW_LINES, strict=True):
        axes.plot(flow.time_s, _held(flow.series[name]) * 1e-3, color=colour, linewidth=0.9, label=label)
    axes.set_ylabel("as logged (kB)")
    axes.set_ylim(bottom=0)
    legend_above(axes)


def _has(flow: FlowAnalysis, columns: tuple[str, ...]) -> bool:
    """Return whether a log contains any of these columns."""
    return any(name in flow.series and bool(np.isfinite(flow.series[name]).any()) for name in columns)


def _edges(flow: FlowAnalysis) -> Numbers:
    first = flow.time_s[:1] - flow.width_s
    return np.concatenate([first, flow.time_s])


def _held(values: Numbers) -> Numbers:
    """Repeat each estimate until the next one."""
    known = np.where(np.isnan(values), 0, np.arange(len(values)))
    return values[np.maximum.accumulate(known)] if len(values) else values

"""Plots of GM: samples and estimates over time, windows and thresholds, many flows."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from airpath.plots.style import styled
from airpath_papers.drawing import PANEL_IN, finish, panels
from airpath_papers.figure import FigureRuns
from airpath_papers.gm.measures import (
    available_mbps,
    estimate_mbps,
    mean_used,
    threshold_mbps,
    used_mbps,
)
from airpath_papers.gm.paper import WIRE
from airpath_papers.run_data import Numbers, RunData

LINK = "#555555"
SAMPLES = "#888888"
ESTIMATE = "#332288"
THRESHOLD = "#d55e00"
WINDOW = "#0072b2"
USED = "#999999"


@styled
def samples_and_estimate(
    runs: FigureRuns,
    choices: tuple[str, ...],
    label: str,
    name: str,
    link_mbps: float,
    *,
    samples: bool = True,
    anti_aliased: bool = False,
) -> Picture:
    """Plot the input samples of a filter above its output, a column for each choice; first runs.

    Parameters
    ----------
    runs
        The runs.
    choices
        The choices to plot.
    label
        Label of the experiment.
    name
        The estimator.
    link_mbps
        Rate of the link.
    samples
        Whether to plot samples, in a row above.
    anti_aliased
        Whether to plot samples of round trips; otherwise those of acknowledgments in order outside recovery.
    """
    picture, axes = panels(len(choices) * (1 + samples), columns=len(choices))
    shown = [runs.of(choice)(label)[0] for choice in choices]
    if samples:
        for choice, run, panel in zip(choices, shown, axes, strict=False):
            said = run.estimates[name]
            largest = said.largest_sample_bps if anti_aliased else said.in_order_sample_bps
            if anti_aliased:
                over_time(panel, run, largest[0] * 1e-6 * WIRE, SAMPLES, "samples", width=0.6)
            else:
                impulses(panel, run, largest[0] * 1e-6 * WIRE, "largest sample of each 0.5 s")
            capacity(panel, run, link_mbps)
            panel.set_ylabel("samples (Mbit/s)")
            finish(panel, run.duration_s)
            panel.set_title(f"(a) {choice}", loc="right", pad=18)
    for choice, run, panel in zip(choices, shown, axes[len(choices) * samples :], strict=True):
        over_time(panel, run, used_mbps(run)[0], USED, f"used, mean {mean_used(run):.1f}", width=0.5)
        over_time(panel, run, estimate_mbps(run, name)[0], ESTIMATE, "estimate")
        capacity(panel, run, link_mbps)
        panel.set_ylabel("estimate (Mbit/s)")
        finish(panel, run.duration_s)
        panel.set_title(f"(b) {choice}" if samples else choice, loc="right", pad=18)
    return picture


@styled
def used_bandwidth(runs: FigureRuns, labels: tuple[str, ...], link_mbps: float) -> Picture:
    """Plot the estimate over the available bandwidth, a panel for each label; first runs of the headline."""
    picture, axes = panels(len(labels))
    for part, label, panel in zip("ab", labels, axes, strict=True):
        run = runs.of(runs.choices[0])(label)[0]
        available(panel, run, link_mbps)
        over_time(panel, run, used_mbps(run)[0], USED, "used", width=0.5)
        over_time(panel, run, estimate_mbps(run)[0], ESTIMATE, "estimate of the used bandwidth")
        panel.set_ylabel("rate (Mbit/s)")
        finish(panel, run.duration_s)
        panel.set_title(f"({part}) {label}", loc="right")
    return picture


@styled
def windows_and_thresholds(runs: FigureRuns, labels: tuple[str, ...], link_mbps: float) -> Picture:
    """Plot window and slow-start threshold, a panel for each label; first runs of the headline."""
    picture, axes = panels(len(labels))
    for part, label, panel in zip("ab", labels, axes, strict=True):
        run = runs.of(runs.choices[0])(label)[0]
        over_time(panel, run, run.windows_packets[0], WINDOW, "window", width=0.6)
        over_time(panel, run, run.ssthresh_packets[0], THRESHOLD, "slow-start threshold")
        packets = available_mbps(run.window_time_s, link_mbps) * run.min_rtt_s[0] / (1500 * 8e-6)
        over_time(panel, run, packets, LINK, "available, times smallest RTT", dashed=True)
        panel.set_ylabel("packets")
        finish(panel, run.duration_s)
        panel.set_title(f"({part}) {label}", loc="right")
    return picture


@styled
def many_flows(runs: FigureRuns, label: str, share_mbps: float, most_mbps: float) -> Picture:
    """Plot (a) used and (b) available bandwidth as estimated by each flow; first run of the headline."""
    picture, axes = panels(2, height_in=PANEL_IN * 1.15)
    run = runs.of(runs.choices[0])(label)[0]
    parts = (("(a) used bandwidth", estimate_mbps(run)), ("(b) available bandwidth", threshold_mbps(run)))
    for (title, values), panel in zip(parts, axes, strict=True):
        for number, one in enumerate(values):
            panel.plot(run.window_time_s, one, linewidth=0.7, color=_COLOURS[number % len(_COLOURS)])
        panel.axhline(share_mbps, color="black", linestyle=(0, (4, 3)), linewidth=1.1, label="fair share C/N")
        panel.plot([], [], color=_COLOURS[0], linewidth=0.7, label=f"each of {len(values)} flows")
        panel.set_ylabel("estimate (Mbit/s)")
        finish(panel, run.duration_s)
        panel.set_ylim(0, most_mbps)
        panel.set_title(title, loc="right")
    return picture


def over_time(
    axes: Axes,
    run: RunData,
    values: Numbers,
    colour: str,
    label: str,
    *,
    width: float = 1.1,
    dashed: bool = False,
) -> None:
    """Plot a number of each interval."""
    style = (0, (4, 3)) if dashed else "-"
    axes.plot(run.window_time_s, values, color=colour, linewidth=width, linestyle=style, label=label)


def impulses(axes: Axes, run: RunData, values: Numbers, label: str) -> None:
    """Plot a vertical line up to each number."""
    axes.vlines(run.window_time_s, 0, values, color=SAMPLES, linewidth=0.5, label=label)


def capacity(axes: Axes, run: RunData, link_mbps: float) -> None:
    """Plot the rate of the link."""
    whole = np.full(len(run.window_time_s), link_mbps)
    over_time(axes, run, whole, LINK, f"link, {link_mbps:g}", width=0.9, dashed=True)


def available(axes: Axes, run: RunData, link_mbps: float) -> None:
    """Shade the bandwidth left by the datagram source."""
    left = available_mbps(run.window_time_s, link_mbps)
    axes.fill_between(run.window_time_s, left, step="pre", color="#e6e6e6", label="available", linewidth=0)


_COLOURS = (
    "#332288",
    "#88ccee",
    "#44aa99",
    "#117733",
    "#999933",
    "#ddcc77",
    "#cc6677",
    "#882255",
    "#aa4499",
    "#888888",
)
"""Ten distinguishable colours (Paul Tol)."""

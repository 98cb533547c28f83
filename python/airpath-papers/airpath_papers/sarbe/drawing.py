"""Estimates over time together with the available bandwidth, as plotted by SARBE."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from matplotlib.figure import Figure as Picture

from airpath.plots.style import styled
from airpath_papers.drawing import finish, looks_of, panels
from airpath_papers.figure import FigureRuns
from airpath_papers.sarbe.settings import available_mbps, estimate

LOGARITHMIC_FROM: Final = 10.0
"""Multiple of the available bandwidth from which estimates are plotted on a logarithmic axis."""


@styled
def estimates_over_time(
    runs: FigureRuns, labels: Sequence[str], highest_mbps: float | None = None
) -> Picture:
    """Plot the estimates of the first run, a panel for each choice; the available bandwidth is dotted.

    If estimates are many times the available bandwidth, the axis is logarithmic; otherwise, values near it
    would be flat at the bottom.
    """
    picture, axes = panels(len(runs.choices))
    for choice, panel in zip(runs.choices, axes, strict=True):
        looks = looks_of(labels)
        highest = 0.0
        for label in labels:
            run = runs.of(choice)(label)[0]
            time_s, values = estimate(run, label)
            highest = max(highest, float(np.percentile(values, 99.5)))
            panel.plot(
                time_s, values, color=looks[label].colour, linewidth=0.9, label=looks[label].display_name
            )
        grid = np.linspace(0.1, run.duration_s, 1500)
        panel.plot(grid, available_mbps(grid), color="black", linestyle=":", linewidth=1.2, label="available")
        panel.set_ylabel("estimate (Mbit/s)")
        finish(panel, run.duration_s)
        available = available_mbps(grid)
        if highest_mbps is None and highest > LOGARITHMIC_FROM * float(available.max()):
            panel.set_yscale("log")
            panel.yaxis.set_major_formatter("{x:g}")
            panel.set_ylim(0.5 * float(available.min()), 1.5 * highest)
        else:
            panel.set_ylim(0, highest_mbps or 1.1 * highest)
        panel.set_title(choice, loc="right")
    return picture

"""Estimates over time beside what is available, as SARBE draws them."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure as Picture

from airpath.papers.drawing import finish, looks_of, panels
from airpath.papers.figure import FigureRuns
from airpath.papers.sarbe.settings import available_mbps, estimate
from airpath.plots.style import styled


@styled
def estimates_over_time(
    runs: FigureRuns, labels: Sequence[str], highest_mbps: float | None = None
) -> Picture:
    """Draw the estimates of the first run, a panel for each choice; the available bandwidth is dotted."""
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
        panel.set_ylim(0, highest_mbps or 1.1 * highest)
        panel.set_title(choice, loc="right")
    return picture

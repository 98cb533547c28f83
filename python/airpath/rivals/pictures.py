"""Heat maps of pairs of schemes: a row for each scheme, a column for its competitor."""

from collections.abc import Callable
from typing import Final

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, Normalize, TwoSlopeNorm
from matplotlib.figure import Figure

from airpath.metrics import mean_interval
from airpath.plots.standard_figure import StandardFigure, figure_of
from airpath.plots.style import PAGE_IN, new_axes, styled
from airpath.rivals.meetings import Meeting, Rivals
from airpath.views.styles import style_for

SHARES: Final = "PuOr"
"""Colours from purple through white to orange, distinguishable by colour-blind readers."""
DELAYS: Final = "cividis_r"
"""Colours from light to dark."""
LEAST_DELAY_MS: Final = 0.1
"""Smallest queueing delay of the colour scale."""


def rivals_figures(found: Rivals) -> list[StandardFigure]:
    """Return the heat maps of shares and of queueing delays."""
    runs = max((meeting.shares.size for meeting in found.meetings.values()), default=0)
    of = f"mean of {runs} runs" if runs > 1 else "one run each"
    return [
        StandardFigure(
            "rivals-share",
            "Throughput of a flow of each scheme (row) that shares the link with flows of each scheme"
            f" (column), divided by an equal share: 1 is an equal share, 0 is none; {of}. Empty fields are"
            " pairs that cannot share a link.",
            _map(found, lambda meeting, scheme: meeting.of(scheme)[0], SHARES, "share (equal = 1)"),
        ),
        StandardFigure(
            "rivals-delay",
            "Mean queueing delay of packets of each scheme (row) that shares the link with flows of each"
            f" scheme (column); {of}; colours are logarithmic.",
            _map(found, lambda meeting, scheme: meeting.of(scheme)[1], DELAYS, "queueing delay (ms)"),
        ),
    ]


@styled
def _map(
    found: Rivals,
    values: Callable[[Meeting, str], npt.NDArray[np.float64]],
    colours: str,
    title: str,
) -> Figure:
    means = np.array(
        [
            [
                np.nan
                if (meeting := found.meeting(one, other)) is None
                else mean_interval(values(meeting, one))[0]
                for other in found.schemes
            ]
            for one in found.schemes
        ]
    )
    size = min(PAGE_IN, 2.2 + 0.62 * len(found.schemes))
    axes = new_axes(size, 0.82 * size)
    norm = _norm(means, colours)
    image = axes.pcolormesh(means, cmap=colours, norm=norm, edgecolors="white", linewidth=1.0)
    _write(axes, means, np.asarray(image.cmap(norm(means))))
    names = [look.label for look in map(style_for(found.schemes).__getitem__, found.schemes)]
    places = np.arange(len(names)) + 0.5
    axes.set_xticks(places, names, rotation=40, ha="right", rotation_mode="anchor")
    axes.set_yticks(places, names)
    axes.tick_params(length=0)
    axes.grid(visible=False)
    axes.invert_yaxis()
    axes.set_aspect("equal")
    axes.spines[:].set_visible(False)
    axes.set_xlabel("shares the link with")
    axes.set_ylabel("flows of")
    figure = figure_of(axes)
    figure.colorbar(image, ax=axes, label=title, shrink=0.85)
    return figure


def _norm(means: npt.NDArray[np.float64], colours: str) -> Normalize:
    if colours == SHARES:
        return TwoSlopeNorm(1.0, 0.0, 2.0)
    known = means[np.isfinite(means)]
    least = max(LEAST_DELAY_MS, float(known.min(initial=1.0)))
    return LogNorm(least, max(2 * least, float(known.max(initial=0.0))), clip=True)


def _write(axes: Axes, means: npt.NDArray[np.float64], colours: npt.NDArray[np.float64]) -> None:
    """Write each number into its cell, in black or white, whichever is more legible."""
    for (row, column), mean in np.ndenumerate(means):
        if not np.isfinite(mean):
            continue
        red, green, blue, _ = colours[row, column]
        bright = 0.299 * red + 0.587 * green + 0.114 * blue > 0.55
        axes.text(
            column + 0.5,
            row + 0.5,
            f"{mean:.2f}" if mean < 9.95 else f"{mean:.0f}",
            ha="center",
            va="center",
            fontsize="small",
            color="black" if bright else "white",
        )

"""The wired-wireless network of SARBE's figures 4 to 6: loss rates, labels, lines over the loss rate."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from matplotlib.axes import Axes

from airpath.plots.style import legend_above, styled
from airpath_papers.claim import Runs
from airpath_papers.drawing import looks_of
from airpath_papers.experiment import Experiment
from airpath_papers.measures import of_each
from airpath_papers.run_data import RunData
from airpath_papers.sample import sample
from airpath_papers.sarbe.paper import of_the_era

LOSSES: Final = (1e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1)
"""Probabilities of a loss; the paper has 0.001 % to 10 %."""
ONE_PERCENT: Final = 1e-2

LINK: Final = "2 Mbit/s, 27 ms"
SLOW_LINK: Final = "384 kbit/s, 150 ms"
LINKS: Final[Mapping[str, Mapping[str, Any]]] = {
    LINK: {},
    SLOW_LINK: {"topology.links.0.delay": "150ms", "topology.links.1.rate": "384kbps"},
}
"""The wireless hop and the one-way delay of the wired link."""

SETTING: Final = (
    "Our choices, because the figure with the original values was not available: a wired link of 10 Mbit/s,"
    " a wireless hop of 2 Mbit/s with independent packet losses on the downlink, 27 ms one way, a buffer of"
    " one bandwidth-delay product, 13 packets. Of the delays of 25 to 27 ms at which NewReno is as far"
    " behind as stated, 27 ms agrees best; at 45 ms NewReno is much further behind. The second setting is"
    " 384 kbit/s and 150 ms."
)


def label(scheme: str, loss: float) -> str:
    """Return the label of a scheme at a loss rate."""
    return f"{scheme} at {100 * loss:g} %"


def at_losses(
    scenario: str,
    schemes: Sequence[str],
    repetitions: int,
    changes: Mapping[str, Any],
    losses: Sequence[float] = LOSSES,
) -> dict[str, Experiment]:
    """Return each scheme at each loss rate, all flows with that scheme."""
    return {
        label(scheme, loss): Experiment(
            scenario, of_the_era(scheme), {**changes, "topology.links.1.loss": loss}, repetitions
        )
        for scheme in schemes
        for loss in losses
    }


def at(of: Runs, scheme: str, loss: float, measure: Callable[[RunData], float]) -> list[float]:
    """Return a measure of the runs of a scheme at a loss rate."""
    return of_each(of(label(scheme, loss)), measure)


@styled
def over_loss(
    axes: Axes,
    of: Runs,
    schemes: Sequence[str],
    measure: Callable[[RunData], float],
    ylabel: str,
) -> None:
    """Plot the mean of a measure over the loss rate, a line for each scheme with its 95 % intervals."""
    looks = looks_of(schemes)
    percent = 100 * np.array(LOSSES)
    for scheme in schemes:
        samples = [sample(at(of, scheme, loss, measure)) for loss in LOSSES]
        halves = [0.0 if one.n < 2 else (one.interval[1] - one.interval[0]) / 2 for one in samples]
        look = looks[scheme]
        axes.errorbar(
            percent,
            [one.mean for one in samples],
            halves,
            color=look.colour,
            marker=look.marker,
            markersize=3.5,
            linewidth=1.0,
            elinewidth=0.7,
            capsize=1.5,
            label=look.display_name,
        )
    axes.set_xscale("log")
    axes.set_xlim(percent[0] / 1.5, percent[-1] * 1.5)
    ticks = [one for one in percent if round(np.log10(one), 6).is_integer()]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.set_xlabel("packet loss rate (%)")
    axes.set_ylabel(ylabel)
    legend_above(axes)

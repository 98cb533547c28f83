"""A table and a plot of the same measures of several schemes over several links."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from matplotlib.figure import Figure as Picture

from airpath.plots.style import styled
from airpath.statistics import TextTable
from airpath_papers.drawing import looks_of, panels
from airpath_papers.figure import FigureRuns
from airpath_papers.measures import of_each
from airpath_papers.run_data import RunData
from airpath_papers.sample import Sample, cell, sample


@dataclass(frozen=True)
class Measure:
    """A measure of a run."""

    title: str
    """Its heading, with the unit."""
    of: Callable[[RunData], float]
    """The measure."""
    logarithmic: bool = False
    """Whether its axis is logarithmic above 1."""


def metric(name: str) -> Callable[[RunData], float]:
    """Return a metric of the summary as a measure."""
    return lambda run: run.metrics[name]


DELAY: Final = Measure("p95 queueing delay (ms)", metric("queueing_p95_ms"), logarithmic=True)


Rows: TypeAlias = Mapping[str, Mapping[str, Sequence[RunData]]]
"""Runs by link (or setting) and scheme."""


def by_choice(runs: FigureRuns) -> Rows:
    """Return the runs of a figure whose choices are links."""
    return {
        choice: {label: runs.of(choice)(label) for label in runs.labels(choice)} for choice in runs.choices
    }


def table_of(
    title: str, measures: Sequence[Measure], rows_of: Callable[[FigureRuns], Rows] = by_choice
) -> Callable[[FigureRuns], list[TextTable]]:
    """Return the function from the runs of a figure to its table: a row for each link and scheme."""

    def tables(runs: FigureRuns) -> list[TextTable]:
        rows = [
            (link, scheme, *(cell(of_each(found, measure.of)) for measure in measures))
            for link, by_scheme in rows_of(runs).items()
            for scheme, found in by_scheme.items()
        ]
        return [TextTable(title, ("link", "scheme", *(one.title for one in measures)), tuple(rows))]

    return tables


def plot_of(
    measures: Sequence[Measure], rows_of: Callable[[FigureRuns], Rows] = by_choice
) -> Callable[[FigureRuns], Picture]:
    """Return the function from the runs of a figure to its plot.

    It has a panel for each measure and a row for each link.
    """

    @styled
    def draw(runs: FigureRuns) -> Picture:
        rows = rows_of(runs)
        schemes = list(dict.fromkeys(scheme for by_scheme in rows.values() for scheme in by_scheme))
        looks = looks_of(schemes)
        height_in = 0.05 * len(rows) * (len(schemes) + 2) + 0.8
        picture, axes = panels(len(measures), height_in=height_in, columns=len(measures))
        for measure, panel in zip(measures, axes, strict=True):
            panel.set_xmargin(0.03)
            for number, scheme in enumerate(schemes):
                # The first scheme is on top within a link, and the first link on top of the panel.
                offset = (len(schemes) - 1 - 2 * number) / (2 * len(schemes) + 2)
                there = [(place, one[scheme]) for place, one in enumerate(rows.values()) if scheme in one]
                values = [sample(of_each(found, measure.of)) for _, found in there]
                panel.errorbar(
                    [one.mean for one in values],
                    [len(rows) - 1 - place + offset for place, _ in there],
                    xerr=[_half_width(one) for one in values],
                    linestyle="none",
                    marker=looks[scheme].marker,
                    markersize=3.5,
                    elinewidth=0.8,
                    color=looks[scheme].colour,
                    label=looks[scheme].display_name,
                )
            if measure.logarithmic:
                panel.set_xscale("symlog", linthresh=1.0)
                panel.set_xlim(left=0)
            panel.set_yticks(range(len(rows))[::-1], list(rows) if panel is axes[0] else [""] * len(rows))
            panel.set_ylim(-0.6, len(rows) - 0.4)
            panel.grid(axis="x", linewidth=0.4, color="#dddddd")
            panel.set_axisbelow(True)
            panel.set_xlabel(measure.title)
        picture.legend(*axes[0].get_legend_handles_labels(), loc="outside upper left", ncols=len(schemes))
        return picture

    return draw


def _half_width(values: Sample) -> float:
    low, high = values.interval
    return (high - low) / 2 if values.varies else 0.0

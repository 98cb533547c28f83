"""Schemes over shipped and recorded links: experiments that are named by link and scheme."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from airpath_papers.beyond.overview import Rows
from airpath_papers.claim import Runs
from airpath_papers.estimators.links import LINKS, VARIABLE
from airpath_papers.experiment import Experiment
from airpath_papers.figure import FigureRuns
from airpath_papers.measures import of_each
from airpath_papers.run_data import RunData
from airpath_papers.sample import sample

SCENARIO: Final = str(Path(__file__).with_name("link.toml"))
"""Long flows over one link of 40 ms, with 1000 packets of buffer."""
WHICH_LINKS: Final = (
    f"Recorded links are those of the folder that {VARIABLE} names; without it, the shipped synthetic LTE"
    " links run alone."
)


def over_links(
    schemes: Mapping[str, str], changes: Mapping[str, Any], repetitions: int
) -> dict[str, Experiment]:
    """Return an experiment for each link and scheme.

    Parameters
    ----------
    schemes
        The schemes, by label.
    changes
        Settings of the scenario that differ.
    repetitions
        Number of runs of each.
    """
    return {
        _name(link.label, label): Experiment(
            SCENARIO, scheme, {**changes, "topology.bottleneck.rate": link.rate}, repetitions
        )
        for link in LINKS
        for label, scheme in schemes.items()
    }


def present(*labels: str) -> tuple[str, ...]:
    """Return the labels of links that this session has."""
    return tuple(link.label for link in LINKS if link.label in labels)


def by_link(runs: FigureRuns) -> Rows:
    """Return the runs of a figure with such experiments; if it has several choices, a row names its own."""
    rows: dict[str, dict[str, Sequence[RunData]]] = {}
    for choice in runs.choices:
        for name in runs.labels(choice):
            link, _, scheme = name.rpartition(": ")
            row = link if len(runs.choices) == 1 else f"{link}, {choice}"
            rows.setdefault(row, {})[scheme] = runs.of(choice)(name)
    return rows


def on_link(of: Runs, link: str, scheme: str, measure: Callable[[RunData], float]) -> float:
    """Return the mean of a measure over the runs of a scheme on a link."""
    return sample(of_each(of(_name(link, scheme)), measure)).mean


def _name(link: str, scheme: str) -> str:
    return f"{link}: {scheme}"

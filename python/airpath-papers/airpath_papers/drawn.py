"""Everything derived from a figure's runs: numbers of its claims, tables, plots."""

import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace

from airpath._os.processes import WorkerPool
from airpath.errors import AirpathError
from airpath.plots import render
from airpath.statistics import TextTable
from airpath_papers.claim import Claim, Runs, judge
from airpath_papers.experiment import Experiment, Identity, keys_of, learn_keys
from airpath_papers.figure import Figure, FigureRuns
from airpath_papers.kept_run import PRELOADED
from airpath_papers.run_data import RunData
from airpath_papers.sample import FewerRuns, Sample
from airpath_papers.store import RunStore
from airpath_papers.work import runs_of


@dataclass(frozen=True)
class Drawn:
    """The output derived from the runs of a figure."""

    samples: tuple[Mapping[str, Sample], ...]
    """The numbers of each claim, by choice."""
    tables: tuple[TextTable, ...]
    """Its additional tables."""
    svg: bytes | None = field(repr=False)
    """Its plot as SVG, if it has one."""
    png: bytes | None = field(repr=False)
    """Its plot as PNG, if it has one."""
    cpu_s_of_runs: Mapping[tuple[str, int], float] = field(repr=False)
    """Processor time of each of its runs, in seconds, by key and seed."""
    invalid: tuple[str, ...]
    """Runs in real time that should not be trusted, with the reason."""
    cpu_s: float
    """Processor time for reading the runs and deriving the output."""


def draw(figure: Figure, store: RunStore) -> Drawn:
    """Read the runs of a figure, evaluate its claims, and plot it.

    Raises
    ------
    OutputError
        If a run is missing or damaged.
    """
    began = time.process_time()
    runs = runs_of(figure, store)
    by_choice = {choice: runs.of(choice) for choice in runs.choices}
    picture = None if figure.draw is None else figure.draw(runs)
    return Drawn(
        samples=tuple(_measured(claim, figure, by_choice) for claim in figure.claims),
        tables=() if figure.tables is None else tuple(figure.tables(runs)),
        svg=None if picture is None else render(picture, "svg"),
        png=None if picture is None else render(picture, "png"),
        cpu_s_of_runs=_cpu_s(figure, runs),
        invalid=tuple(_invalid(runs)),
        cpu_s=time.process_time() - began,
    )


def draw_all(
    figures: Sequence[Figure], repetitions: int | None, store: RunStore, workers: int
) -> list[Drawn]:
    """Derive the output of each figure from its runs.

    Figures contain functions, which cannot be sent to another process: registered figures are sent by name
    and looked up there; others are handled in this process.

    Parameters
    ----------
    figures
        The figures.
    repetitions
        Number of runs of each experiment; that of the figure if `None`.
    store
        The store of their runs.
    workers
        Number of figures at the same time.

    Raises
    ------
    OutputError
        If a run is missing or damaged.
    """
    from airpath_papers.registry import figures as all_figures

    registered = {id(figure) for figure in all_figures()}
    named = [figure.id for figure in figures if id(figure) in registered]
    if len(named) < 2 or workers == 1:
        return [draw(figure.repeated(repetitions), store) for figure in figures]
    with WorkerPool(min(workers, len(named)), PRELOADED) as pool:
        pending: dict[str, Future[Drawn]] = {
            figure.id: pool.submit(
                _draw_by_name, figure.id, repetitions, store, keys_of(figure.all_experiments())
            )
            for figure in figures
            if id(figure) in registered
        }
        try:
            return [
                pending[figure.id].result()
                if id(figure) in registered
                else draw(figure.repeated(repetitions), store)
                for figure in figures
            ]
        except BrokenProcessPool:
            raise AirpathError("a worker process died while plotting (killed, or out of memory)") from None


class _Asked:
    """The runs of a choice, and a record of the experiments that were accessed."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs
        self.labels: set[str] = set()

    def __call__(self, scheme: str) -> Sequence[RunData]:
        self.labels.add(scheme)
        return self._runs(scheme)


def _measured(claim: Claim, figure: Figure, by_choice: Mapping[str, Runs]) -> dict[str, Sample]:
    """Measure a claim; its numbers record whether the underlying experiments had fewer runs than usual."""
    asked = {choice: _Asked(runs) for choice, runs in by_choice.items()}
    return {
        choice: replace(
            sample, fewer=_fewer([figure.experiments[choice][label] for label in asked[choice].labels])
        )
        for choice, sample in judge(claim, asked).samples.items()
    }


def _fewer(experiments: Sequence[Experiment]) -> FewerRuns | None:
    few = [one for one in experiments if one.repetitions < one.usual_repetitions]
    if not few:
        return None
    return FewerRuns(few[0].repetitions, max(one.usual_repetitions for one in few))


def _invalid(runs: FigureRuns) -> Iterator[str]:
    for choice in runs.choices:
        for label in runs.labels(choice):
            for number, run in enumerate(runs.of(choice)(label), start=1):
                if run.problems:
                    yield f"{choice}: {label}, run {number}, is NOT VALID: {'; '.join(run.problems)}"


def _cpu_s(figure: Figure, runs: FigureRuns) -> dict[tuple[str, int], float]:
    return {
        (experiment.key(), experiment.seed + repetition): run.cpu_s
        for choice, experiments in figure.experiments.items()
        for label, experiment in experiments.items()
        for repetition, run in enumerate(runs.of(choice)(label))
    }


def _draw_by_name(name: str, repetitions: int | None, store: RunStore, keys: Mapping[Identity, str]) -> Drawn:
    from airpath_papers.registry import figure_named

    learn_keys(keys)
    return draw(figure_named(name).repeated(repetitions), store)

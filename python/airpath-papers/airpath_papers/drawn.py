"""What is made of a figure's runs: numbers of its claims, tables, pictures."""

import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace

from airpath.errors import AirpathError
from airpath.plots import render
from airpath.processes import WorkerPool
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
    """What was made of the runs of a figure."""

    samples: tuple[Mapping[str, Sample], ...]
    """The numbers of each claim, by choice."""
    tables: tuple[TextTable, ...]
    """Its further tables."""
    svg: bytes | None = field(repr=False)
    """Its picture, if it has one."""
    png: bytes | None = field(repr=False)
    """The same."""
    cpu_s_of_runs: Mapping[tuple[str, int], float] = field(repr=False)
    """Processor time of each of its runs, in seconds, by key and seed."""
    invalid: tuple[str, ...]
    """Runs by the real clock that should not be trusted, and why."""
    cpu_s: float
    """Processor time for reading them and making this of them."""


def draw(figure: Figure, store: RunStore) -> Drawn:
    """Read the runs of a figure, judge, draw.

    Raises
    ------
    OutputError
        If a run is not there or damaged.
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
    """Make of each figure what its runs give.

    Figures hold functions, which cannot be sent to another process: the registered ones are named, and
    found there again; others are drawn here.

    Parameters
    ----------
    figures
        Which.
    repetitions
        How many runs of each experiment; what the figure says when `None`.
    store
        Where their runs are.
    workers
        How many at the same time.

    Raises
    ------
    OutputError
        If a run is not there or damaged.
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
            raise AirpathError("a worker process died while drawing (killed, or out of memory)") from None


class _Asked:
    """The runs of a choice, and of which experiments they were asked for."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs
        self.labels: set[str] = set()

    def __call__(self, scheme: str) -> Sequence[RunData]:
        self.labels.add(scheme)
        return self._runs(scheme)


def _measured(claim: Claim, figure: Figure, by_choice: Mapping[str, Runs]) -> dict[str, Sample]:
    """Measure a claim; its numbers know if the experiments behind them had fewer runs than usual."""
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

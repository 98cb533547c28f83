"""A figure or table of a paper: its experiments, how it is drawn, what the paper says of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from matplotlib.figure import Figure as Picture

from airpath.statistics import TextTable
from airpath_papers.claim import Claim, Runs
from airpath_papers.experiment import Experiment
from airpath_papers.kernel.form import KernelForm
from airpath_papers.run_data import RunData


class FigureRuns:
    """The finished runs of a figure, by choice and label of the experiment."""

    def __init__(self, runs: Mapping[str, Mapping[str, Sequence[RunData]]]) -> None:
        self._runs = runs

    @property
    def choices(self) -> tuple[str, ...]:
        """The choices, headline first."""
        return tuple(self._runs)

    def labels(self, choice: str) -> tuple[str, ...]:
        """Return the labels of the experiments of a choice, in the order of legends."""
        return tuple(self._runs[choice])

    def of(self, choice: str) -> Runs:
        """Return the runs of a choice."""
        by_label = self._runs[choice]

        def runs(scheme: str) -> Sequence[RunData]:
            return by_label[scheme]

        return runs


@dataclass(frozen=True)
class Figure:
    """One figure or table of a paper."""

    id: str
    """`PAPER/FIGURE`, as the command line has it."""
    paper: str
    """The paper, for people."""
    title: str
    """What it shows."""
    experiments: Mapping[str, Mapping[str, Experiment]]
    """For each named choice, headline first: the experiments, by the label that legends show."""
    draw: Callable[[FigureRuns], Picture] | None
    """Draws it as the paper does; `None` for what is a table only."""
    claims: tuple[Claim, ...]
    """What the paper says."""
    tables: Callable[[FigureRuns], Sequence[TextTable]] | None = None
    """Further tables."""
    notes: tuple[str, ...] = field(default=())
    """What is ours where the paper is silent, and what else must be known."""
    kernel: KernelForm | None = None
    """How it runs on real kernels; `None` if it does not."""
    ours: bool = False
    """Whether it stands in no paper: an experiment of ours about what one says."""

    @property
    def heading(self) -> str:
        """Its title, and whether it is ours."""
        return f"{self.title} (ours)" if self.ours else self.title

    @property
    def name(self) -> str:
        """Its name within the paper."""
        return self.id.partition("/")[2]

    def all_experiments(self) -> list[Experiment]:
        """Return every experiment of every choice."""
        return [one for experiments in self.experiments.values() for one in experiments.values()]

    def repeated(self, repetitions: int | None) -> "Figure":
        """Return the same with another number of repetitions of each experiment; itself for `None`."""
        if repetitions is None:
            return self
        experiments = {
            choice: {label: one.repeated(repetitions) for label, one in by_label.items()}
            for choice, by_label in self.experiments.items()
        }
        return replace(self, experiments=experiments)

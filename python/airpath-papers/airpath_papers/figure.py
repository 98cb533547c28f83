"""A figure or table of a paper: its experiments, its plot, and the paper's claims."""

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
    """`PAPER/FIGURE`, as on the command line."""
    paper: str
    """Readable name of the paper."""
    title: str
    """Its subject."""
    experiments: Mapping[str, Mapping[str, Experiment]]
    """For each named choice, headline first: the experiments, by the label that legends show."""
    draw: Callable[[FigureRuns], Picture] | None
    """Plots it as in the paper; `None` for a table."""
    claims: tuple[Claim, ...]
    """The paper's claims."""
    readings: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Readings of the paper, headline first, each with its choices, its own one first. Empty if the choices
    are variants of a single reading.
    """
    sentences: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Sentences of the paper that have several claims, with their claims; other claims are sentences of their
    own (`airpath_papers.sentences`).
    """
    alternatives: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """For such sentences, claims that measure the same in another way, or were added after the others had
    missed: they can only make the sentence reproduced in part.
    """
    not_in_paper: tuple[str, ...] = ()
    """Claims that the paper does not state."""
    tables: Callable[[FigureRuns], Sequence[TextTable]] | None = None
    """Additional tables."""
    notes: tuple[str, ...] = field(default=())
    """Settings that the paper leaves open and we chose, and other remarks."""
    kernel: KernelForm | None = None
    """Its form on real kernels; `None` if it has none."""
    ours: bool = False
    """Whether it is an experiment of ours on a paper's statement, rather than a figure of a paper."""

    @property
    def heading(self) -> str:
        """Its title, and whether it is ours."""
        return f"{self.title} (ours)" if self.ours else self.title

    def sentence_of(self, claim: str) -> str:
        """Return the sentence to which a claim belongs, both by name; by default the claim's own name."""
        named = (
            sentence
            for groups in (self.sentences, self.alternatives)
            for sentence, claims in groups.items()
            if claim in claims
        )
        return next(named, claim)

    @property
    def name(self) -> str:
        """Its name within the paper."""
        return self.id.partition("/")[2]

    def all_experiments(self) -> list[Experiment]:
        """Return every experiment of every choice."""
        return [one for experiments in self.experiments.values() for one in experiments.values()]

    def repeated(self, repetitions: int | None) -> "Figure":
        """Return the figure with another number of repetitions of each experiment; unchanged for `None`."""
        if repetitions is None:
            return self
        experiments = {
            choice: {label: one.repeated(repetitions) for label, one in by_label.items()}
            for choice, by_label in self.experiments.items()
        }
        return replace(self, experiments=experiments)

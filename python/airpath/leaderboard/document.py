"""A leaderboard as its author writes it."""

from typing import Annotated, Final, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from airpath._declared.quantities import Flag, Name, Repetitions, Table, Text
from airpath._nearest import suggestion
from airpath.checks.document import RunsTable, Seed
from airpath.metrics import METRICS
from airpath.schemes import label_of

SCORE: Final = "score"
"""The column of the score, which is computed from several metrics."""
OF_SCORE: Final = ("utilisation", "jain_index", "delay_p95_ms", "delay_mean_ms", "queueing_mean_ms")
"""The metrics from which scores are computed."""


def _as_table(value: object) -> object:
    """Return an entry written as text as a table."""
    return {"entry": value} if isinstance(value, str) else value


def _known_columns(value: object) -> object:
    for name in value if isinstance(value, list | tuple) else ():
        if name != SCORE and name not in METRICS:
            raise ValueError(f'found "{name}"; {suggestion(str(name), [SCORE, *METRICS])}')
    return value


class EntryTable(Table):
    """An entry: a scheme or an ACK-rate estimator, with the queue that it needs."""

    entry: Text
    """The scheme or the estimator, optionally with options."""
    name: Text = ""
    """Name in tables. Default: that of the scheme with its options."""
    queue: Text | None = None
    """Queue discipline at the links under test, instead of drop-tail or the scheme's own."""
    ecn: Flag = False
    """ECN marks instead of drops, if the queue marks."""

    @property
    def label(self) -> str:
        """The name in tables."""
        return self.name or label_of(self.entry)


class BoardCaseTable(RunsTable):
    """One case: a link or a scenario."""

    tuning: Flag = False
    """Whether parameters of entries may be chosen on this case; it is then not ranked."""
    recorded: Flag = False
    """Whether `link` is a file in the folder of recorded traces; without the file, the case is skipped."""

    @model_validator(mode="after")
    def _has_a_trace(self) -> Self:
        if self.recorded and "link" not in self.over_link:
            raise ValueError('"recorded" needs "link", the name of a trace file')
        return self


class BoardTable(Table):
    """A leaderboard: entries, cases and what is measured."""

    name: Name
    """Short name."""
    title: Text = ""
    """Title, for people."""
    description: Text = ""
    """What is scored."""
    kind: Literal["schemes", "estimators"] = "schemes"
    """What the entries are: schemes of flows, or ACK-rate estimators of the flows."""
    entries: Annotated[tuple[Annotated[EntryTable, BeforeValidator(_as_table)], ...], Field(min_length=1)]
    """The entries that are always scored."""
    bound: Text | None = None
    """The entry whose utilisation is the upper bound, with the same seeds. Default: a utilisation of 1."""
    columns: Annotated[tuple[Text, ...], BeforeValidator(_known_columns), Field(min_length=2)]
    """Metrics in the order of columns, or `score`. The first one ranks; the first two others are the axes of
    the figure.
    """
    repetitions: Repetitions = 10
    """Runs of each entry in each case."""
    seed: Seed = 1
    """Seed of the first repetition; repetition k uses `seed` + k."""
    cases: Annotated[tuple[BoardCaseTable, ...], Field(min_length=1)]
    """The cases."""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        names = [case.name for case in self.cases]
        if twice := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
            raise ValueError(f'"cases": the name {twice[0]} is given twice')
        if all(case.tuning for case in self.cases):
            raise ValueError('"cases": all are for tuning; accepted: at least one without "tuning"')
        return self

"""A sweep as its author writes it."""

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, Strict, model_validator

from airpath._declared.quantities import Name, Repetitions, Table, Text
from airpath._nearest import suggestion
from airpath.errors import UsageError
from airpath.metrics import METRICS
from airpath.results.columns import TABLES
from airpath.schemes import same_scheme
from airpath.sweeps.ranges import expand


def _values(value: object) -> tuple[Any, ...]:
    try:
        return expand(value)
    except UsageError as error:
        raise ValueError(str(error)) from None


Values = Annotated[tuple[Any, ...], BeforeValidator(_values)]
Seed = Annotated[int, Strict(), Field(ge=0, le=2**63 - 1)]
Settings = dict[str, Any]


def _paths(value: object) -> object:
    return (value,) if isinstance(value, str) else value


class SweepDocument(Table):
    """A sweep: one scenario, many variants of it."""

    name: Name
    """Short name; the results are written to `out/sweep-NAME` by default."""
    title: Text = ""
    """Title, for people."""
    description: Text = ""
    """Purpose of the sweep."""
    scenario: Text
    """The scenario that is varied: a file, relative to this one, or the name of a shipped scenario."""
    schemes: tuple[Text, ...] = ()
    """Schemes to compare, with options and a name if wanted (`mine=my.py:Mine`). Default: those of the
    scenario.
    """
    flows: tuple[Text, ...] = ()
    """Names of the flows that take the schemes. Default: all that have one."""
    repetitions: Repetitions | None = None
    """Runs of each variant. Default: that of the scenario."""
    seed: Seed | None = None
    """Seed of the first repetition; repetition k uses `seed` + k. Default: that of the scenario."""
    seeds: tuple[Seed, ...] = ()
    """Seeds of the repetitions, instead of `repetitions` and `seed`."""
    names: dict[Name, Annotated[tuple[Text, ...], BeforeValidator(_paths)]] = Field(default_factory=dict)
    """Short names of keys of the scenario; one name can set several keys to the same value."""
    set: Settings = Field(default_factory=dict)
    """Keys of the scenario that differ in every run, by name or path (`"flows.0.count"`)."""
    grid: dict[str, Values] = Field(default_factory=dict)
    """Axes, by name or path: each value of one with each value of the others."""
    zip: tuple[dict[str, Values], ...] = ()
    """Groups of axes that advance together; each group is crossed with everything else."""
    points: tuple[Settings, ...] = ()
    """Single combinations of values; crossed with everything else."""
    keep: tuple[Literal[tuple(TABLES)], ...] = ("flows", "links")  # type: ignore[valid-type]
    """Tables to keep in addition to that of the runs, including time series."""
    metrics: tuple[Text, ...] = tuple(METRICS)
    """Metrics to keep of each run. Default: all."""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.seeds and (self.seed is not None or self.repetitions is not None):
            raise ValueError('"seeds" replaces "seed" and "repetitions"; accepted: one of the two')
        for key in ("schemes", "flows", "seeds", "metrics", "grid", "zip", "points"):
            if key in self.model_fields_set and not getattr(self, key):
                raise ValueError(f'"{key}": is empty; accepted: at least one entry, or no "{key}" at all')
        used = [key for table in (self.set, self.grid, *self.zip, *self.points) for key in table]
        if unused := [name for name in self.names if name not in used]:
            raise ValueError(
                f'"names": "{unused[0]}" is not a name in the sweep; accepted: names in "grid", "zip",'
                ' "points" or "set" have'
            )
        for key in ("seeds", "schemes", "keep", "metrics"):
            values = getattr(self, key)
            if twice := [value for value in dict.fromkeys(values) if values.count(value) > 1]:
                raise ValueError(f'"{key}" has {twice[0]} twice')
        if same := same_scheme(self.schemes):
            raise ValueError(f'"schemes" has {same[0]} twice, the second time as {same[1]}')
        for name in self.metrics:
            if name not in METRICS:
                raise ValueError(f'"metrics": found "{name}"; {suggestion(name, METRICS)}')
        for group in self.zip:
            if len({len(values) for values in group.values()}) > 1:
                counts = ", ".join(f"{key} has {len(values)}" for key, values in group.items())
                raise ValueError(f'"zip": axes that advance together need equally many values; {counts}')
        if len({frozenset(point) for point in self.points}) > 1:
            raise ValueError('"points": every point must set the same keys')
        if any(not point for point in (*self.points, *self.zip)):
            raise ValueError('"points" and "zip" need at least one key in each table')
        return self

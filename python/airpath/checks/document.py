"""A suite of checks as its author writes it."""

import math
from typing import TYPE_CHECKING, Annotated, Any, Final, Self, get_type_hints

from pydantic import BeforeValidator, Field, Strict, create_model, model_validator

from airpath._declared.quantities import Count, Flag, Name, Repetitions, Table, Text
from airpath._nearest import suggestion
from airpath.links.options import Comparison, options_of
from airpath.metrics import METRICS

Seed = Annotated[int, Strict(), Field(ge=0, le=2**63 - 1)]


def _limit(value: object) -> object:
    if isinstance(value, str) or (isinstance(value, int | float) and not isinstance(value, bool)):
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"found {value}; accepted: a number, or a quantity with its unit")
        return value
    raise ValueError(f"found {value!r}; accepted: a number, or a quantity with its unit")


Limit = Annotated[float | str, BeforeValidator(_limit), Field(examples=[0.9, "20ms"])]
"""A number in the unit of the metric, or text with a unit."""


class ExpectationTable(Table):
    """Expectations of one metric."""

    at_least: Limit | None = None
    """The mean over the repetitions is not less: a number in the unit of the metric, or a quantity with its
    unit; with `of` a factor.
    """
    at_most: Limit | None = None
    """It is not more."""
    of: Text | None = None
    """Another scheme: the limits are factors of its value with the same seeds."""
    baseline: Limit | None = None
    """It is not worse than the baseline by more than this: a share of the baseline's mean (0.05), or a
    quantity with its unit ("2ms").
    """

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        limits = [limit for limit in (self.at_least, self.at_most) if limit is not None]
        if self.baseline is not None and (limits or self.of is not None):
            raise ValueError(
                '"baseline" cannot be combined with other limits; give those in a second table, in a list'
            )
        if self.baseline is None and not limits:
            raise ValueError('found no limit; accepted: "at_least", "at_most" or "baseline"')
        if isinstance(self.baseline, float | int) and self.baseline < 0:
            raise ValueError(f'"baseline": found {self.baseline}; accepted: 0 or more')
        if self.of is not None and not all(isinstance(limit, float | int) and limit > 0 for limit in limits):
            raise ValueError('with "of" limits are factors; accepted: numbers above 0')
        return self


def _several(value: object) -> object:
    """Return a single table as a list; reject unknown keys here, where the message can name them."""
    tables = (value,) if isinstance(value, dict) else value
    for table in tables if isinstance(tables, list | tuple) else ():
        for key in table if isinstance(table, dict) else ():
            if key not in ExpectationTable.model_fields:
                raise ValueError(
                    f'unknown key "{key}"; {suggestion(str(key), ExpectationTable.model_fields)}'
                )
    return tables


def _known_metrics(value: object) -> object:
    for name in value if isinstance(value, dict) else ():
        if name not in METRICS:
            raise ValueError(f'found "{name}"; {suggestion(str(name), METRICS)}')
    return value


Expectations = Annotated[
    dict[str, Annotated[tuple[ExpectationTable, ...], BeforeValidator(_several), Field(min_length=1)]],
    BeforeValidator(_known_metrics),
]
"""Expectations by metric; several of one metric are a list of tables."""


LINK_KEYS: Final = options_of(Comparison)
"""The keys with which a case describes a link, instead of a scenario."""
_OF_RUNS: Final = ("repetitions", "seed")
"""Keys of `LINK_KEYS` that a case with a scenario can have too."""


def _link_fields() -> dict[str, Any]:
    """Return the fields of `LINK_KEYS` for pydantic; `None` if a key is absent."""
    hints = get_type_hints(Comparison)
    kinds: dict[Any, Any] = {int: Count, bool: Flag, str | float | None: Text | float}
    return {
        name: (kinds.get(hints[name], Text) | None, Field(default=None, description=option.help))
        for name, option in LINK_KEYS.items()
        if name not in _OF_RUNS
    }


if TYPE_CHECKING:
    _LinkTable = Table
else:
    _LinkTable = create_model("_LinkTable", __base__=Table, **_link_fields())


class RunsTable(_LinkTable):
    """The runs of a case: a scenario or a link."""

    name: Name
    """Short name."""
    title: Text = ""
    """Title, for readers."""
    scenario: Text | dict[str, Any] | None = None
    """A scenario: a file, relative to this one, the name of a shipped scenario, or its tables. Or
    `link` or `network`.
    """
    tested: tuple[Text, ...] = ()
    """Names of the flows of the scenario that take the scheme. Default: all that have one."""
    set: dict[str, Any] = Field(default_factory=dict)
    """Keys of the scenario that differ, by path (`"topology.bottleneck.loss"`)."""

    @model_validator(mode="after")
    def _is_one_thing(self) -> Self:
        of_links = self.over_link
        if self.scenario is not None and ("link" in of_links or "network" in of_links):
            raise ValueError('found both "scenario" and "link" or "network"; accepted: one of them')
        if self.scenario is None and not ("link" in of_links or "network" in of_links):
            raise ValueError('found none of "scenario", "link" and "network"; accepted: one of them')
        if self.scenario is not None and of_links:
            raise ValueError(
                f'"{next(iter(of_links))}" needs "link" or "network"; change the keys of a scenario by "set"'
            )
        if self.scenario is None and self.tested:
            raise ValueError('"tested" needs "scenario"; with "link" all flows are under test')
        return self

    @property
    def over_link(self) -> dict[str, Any]:
        """Return the keys that describe a link, and their values."""
        return {
            name: value
            for name in LINK_KEYS
            if name not in _OF_RUNS and (value := getattr(self, name)) is not None
        }


class CaseTable(RunsTable):
    """One case: the runs, and the expected metrics."""

    scheme: Text | None = None
    """The scheme under test, unless another is requested. Default: that of the suite, else the scenario's."""
    repetitions: Repetitions | None = None
    """Number of runs. Default: that of the suite."""
    seed: Seed | None = None
    """Seed of the first repetition. Default: that of the suite."""
    expect: Expectations = Field(default_factory=dict)
    """Expectations by metric; they replace those of the suite for the same metric."""


class SuiteTable(Table):
    """A suite: cases, and expectations of all of them."""

    name: Name
    """Short name; failing cases are written to `out/check-NAME` by default."""
    title: Text = ""
    """Title, for people."""
    description: Text = ""
    """Purpose of the suite."""
    scheme: Text | None = None
    """The scheme under test, unless a case or the command names another."""
    repetitions: Repetitions | None = None
    """Runs of each case. Default: that of its scenario; 5 over a link."""
    seed: Seed | None = None
    """Seed of the first repetition; repetition k uses `seed` + k. Default: that of the scenario; over a link
    1.
    """
    expect: Expectations = Field(default_factory=dict)
    """Expectations of every case, by metric."""
    cases: Annotated[tuple[CaseTable, ...], Field(min_length=1)]
    """The cases."""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        names = [case.name for case in self.cases]
        if twice := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
            raise ValueError(f'"cases": the name {twice[0]} is given twice')
        if empty := [case.name for case in self.cases if not {**self.expect, **case.expect}]:
            raise ValueError(f'"cases": {empty[0]} has no expectation; accepted: at least one')
        return self

"""From the axes of a sweep to its points."""

import itertools
import json
import math
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa

from airpath.errors import ScenarioError
from airpath.metrics.summary import STATISTICS_SCHEMA
from airpath.results.columns import TABLES
from airpath.sweeps.document import SweepDocument
from airpath.sweeps.keys import refuse_shared_keys
from airpath.sweeps.ranges import Kind, common_kind

RESERVED = frozenset({"run", "scheme", "repetition", "seed", "plan_sha256", "inputs_sha256"})
"""Column names that no axis can have."""


@dataclass(frozen=True)
class Axis:
    """One varied quantity of a sweep."""

    name: str
    """Its name, for readers."""
    paths: tuple[str, ...]
    """The keys of the scenario that are set to its value."""
    values: tuple[Any, ...]
    """Its values, as written in the scenario."""

    @cached_property
    def kind(self) -> Kind | None:
        """The kind of quantity of all values, if they have a common one."""
        return common_kind(self.values)

    @property
    def column(self) -> str:
        """Its name in tables; for quantities, with the unit."""
        return self.name + (self.kind.suffix if self.kind else "")

    @cached_property
    def type(self) -> pa.DataType:
        """The Arrow type of its column: numbers and booleans keep their type, everything else is text."""
        if self.kind is not None or all(_is_number(value) for value in self.values):
            whole = self.kind is None and all(isinstance(value, int) for value in self.values)
            return pa.int64() if whole else pa.float64()
        if all(isinstance(value, bool) for value in self.values):
            return pa.bool_()
        return pa.string()

    def cell(self, index: int) -> Any:
        """Return value number `index` as in tables."""
        value = self.values[index]
        if self.kind is not None:
            return self.kind.column(self.kind.read(value))
        if self.type == pa.string():
            return self.text(index)
        return float(value) if self.type == pa.float64() else value

    def meaning(self, index: int) -> Hashable:
        """Return the meaning of value number `index`, which is equal for `10ms` and `0.01s`."""
        value = self.values[index]
        kind = self.kind or common_kind([value])
        if kind is not None:
            return kind.suffix, kind.read(value)
        if isinstance(value, Mapping | list):
            return json.dumps(value, sort_keys=True, default=str)
        cell: Hashable = self.cell(index)
        return cell

    def text(self, index: int) -> str:
        """Return value number `index` as text for readers."""
        value = self.values[index]
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@dataclass(frozen=True)
class Point:
    """One combination of values."""

    number: int
    """Its index among the points."""
    indices: tuple[int, ...]
    """The index of the value on each axis."""


class Axes:
    """All axes of a sweep, in groups whose axes advance together.

    Parameters
    ----------
    document
        The sweep.
    source
        The name of the sweep in messages.

    Raises
    ------
    ScenarioError
        If a key is set twice, a value is repeated, or two axes have the same name.
    """

    def __init__(self, document: SweepDocument, source: str) -> None:
        names, taken = document.names, _taken(document)
        groups: list[dict[str, tuple[Any, ...]]] = [{key: values} for key, values in document.grid.items()]
        groups += [dict(group) for group in document.zip]
        if document.points:
            groups.append({key: tuple(point[key] for point in document.points) for key in document.points[0]})
        self.groups = [
            [_axis(key, values, names, taken) for key, values in group.items()] for group in groups
        ]
        self.axes = [axis for group in self.groups for axis in group]
        fixed = [(path, value) for key, value in document.set.items() for path in names.get(key, (key,))]
        refuse_shared_keys(self.paths, [path for path, _ in fixed], source)
        self.fixed = dict(fixed)
        for group in self.groups:
            _refuse_equal(group, source)
        self._refuse_clashes(source, taken)

    @property
    def paths(self) -> list[str]:
        """The varied keys of the scenario."""
        return [path for axis in self.axes for path in axis.paths]

    def __len__(self) -> int:
        return math.prod(len(group[0].values) for group in self.groups)

    def __iter__(self) -> Iterator[Point]:
        choices = itertools.product(*(range(len(group[0].values)) for group in self.groups))
        for number, chosen in enumerate(choices):
            yield Point(number, self._indices(chosen))

    def corners(self) -> Iterator[Point]:
        """Yield the first point, and every point that differs from it in one group only."""
        first = [0] * len(self.groups)
        yield Point(0, self._indices(tuple(first)))
        for place, group in enumerate(self.groups):
            for index in range(1, len(group[0].values)):
                chosen = [*first[:place], index, *first[place + 1 :]]
                yield Point(-1, self._indices(tuple(chosen)))

    def settings(self, point: Point) -> dict[str, Any]:
        """Return the settings of a point by path; those common to all points come first."""
        varied = {
            path: axis.values[index]
            for axis, index in zip(self.axes, point.indices, strict=True)
            for path in axis.paths
        }
        return self.fixed | varied

    def text(self, point: Point) -> str:
        """Return a point as text, as in `rate = 10 Mbit/s, count = 4`."""
        return ", ".join(f"{name} = {text}" for name, text in self.texts(point).items())

    def texts(self, point: Point) -> dict[str, str]:
        """Return the values of a point as text, by axis."""
        return {axis.name: axis.text(index) for axis, index in zip(self.axes, point.indices, strict=True)}

    def cells(self, point: Point) -> dict[str, Any]:
        """Return the values of a point as in tables, by column."""
        return {axis.column: axis.cell(index) for axis, index in zip(self.axes, point.indices, strict=True)}

    def _indices(self, chosen: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(index for group, index in zip(self.groups, chosen, strict=True) for _ in group)

    def _refuse_clashes(self, source: str, taken: Set[str]) -> None:
        columns = Counter(axis.column for axis in self.axes)
        if twice := [name for name, count in columns.items() if count > 1]:
            raise ScenarioError(
                f'{source}: two axes are called "{twice[0]}"; give one another name under "names"'
            )
        if used := [axis.column for axis in self.axes if axis.column in taken]:
            raise ScenarioError(
                f'{source}: no axis can be called "{used[0]}", which is a column of the results;'
                ' give it another name under "names"'
            )


def _refuse_equal(group: Sequence[Axis], source: str) -> None:
    """Refuse a repeated point: its runs would be counted as those of another point."""
    seen: dict[tuple[Hashable, ...], int] = {}
    for index in range(len(group[0].values)):
        first = seen.setdefault(tuple(axis.meaning(index) for axis in group), index)
        if first != index:
            one, other = (
                ", ".join(f"{axis.name} = {axis.text(place)}" for axis in group) for place in (first, index)
            )
            found = f"found {one} twice" if one == other else f"found {one} and {other}, which are equal"
            raise ScenarioError(f"{source}: {found}; accepted: different values of an axis")


def _taken(document: SweepDocument) -> frozenset[str]:
    """Return the columns of the results, whose names no axis can have."""
    kept = {column for name in document.keep for column in TABLES[name].schema.names}
    return RESERVED | set(STATISTICS_SCHEMA.names) | set(document.metrics) | kept


def _axis(key: str, values: tuple[Any, ...], names: Mapping[str, tuple[str, ...]], taken: Set[str]) -> Axis:
    """Return an axis with its given name, else with the last step of its path that is not a number.

    If the results have a column of that name, the preceding steps are added: `bottleneck_delay`.
    """
    if key in names:
        return Axis(key, names[key], values)
    words = [step for step in key.split(".") if not step.isdecimal()] or [key]
    axes = [Axis("_".join(words[-count:]), (key,), values) for count in range(1, len(words) + 1)]
    return next((axis for axis in axes if axis.column not in taken), axes[0])


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)

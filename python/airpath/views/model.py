"""The content of a report as plain data, without any rendering."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from airpath.views.styles import Style

Values = npt.NDArray[np.float64]
"""Numbers; NaN if there is no value."""


@dataclass(frozen=True)
class Line:
    """One line of a panel over time.

    Attributes
    ----------
    scheme
        Index of the scheme in `View.schemes`.
    seed
        Index of the repetition in `View.seeds`; -1 for the mean over all seeds.
    values
        One value for each interval of `View.time_s`, or for `every` of them.
    label
        What distinguishes the line from the others of its scheme; empty if there is only one.
    look
        Id of the scheme whose style the line has; empty for that of its own scheme.
    role
        ``line``; ``flow`` for one flow of a group; ``low`` and ``high`` for the 10th and 90th percentile over
        the flows of a group.
    every
        How many intervals a value covers.
    """

    scheme: int
    seed: int
    values: Values
    label: str = ""
    look: str = ""
    role: Literal["line", "flow", "low", "high"] = "line"
    every: int = 1


@dataclass(frozen=True)
class Stretch:
    """A stretch of time of one scheme with a label, such as the limit of a flow; confidence from 0 to 1."""

    scheme: int
    from_s: float
    to_s: float
    label: str
    confidence: float


@dataclass(frozen=True)
class Panel:
    """One panel over time.

    Attributes
    ----------
    key
        Its name, unique in the view.
    title, unit
        For its heading.
    lines
        Its lines.
    over_capacity
        Whether the capacity of the link under test is shaded behind the lines.
    marks
        Whether the congestion events are marked on the lines.
    levels
        Horizontal lines: value and label.
    second
        A second scale on the right: unit, and the factor from the unit of the panel.
    top
        Upper end of the axis; larger values are cut off.
    stretches, colours
        Labelled stretches of time, shown as strips instead of lines, and the colour of each label.
    certain
        Whether the labels were recorded instead of estimated, so that their confidence need not be shown.
    """

    key: str
    title: str
    unit: str
    lines: Sequence[Line]
    over_capacity: bool = False
    marks: bool = False
    levels: Sequence[tuple[float, str]] = ()
    second: tuple[str, float] | None = None
    top: float | None = None
    stretches: Sequence[Stretch] = ()
    colours: Mapping[str, str] = field(default_factory=dict)
    certain: bool = False


@dataclass(frozen=True)
class Marks:
    """Times of the congestion events of one kind in one run, in seconds; `left_out` if there are too many."""

    scheme: int
    seed: int
    event: str
    times_s: Values
    left_out: int = 0


@dataclass(frozen=True)
class Distribution:
    """A distribution for each scheme, as a line.

    Attributes
    ----------
    title, x_label, y_label
        For its heading and axes.
    lines
        Index of the scheme, x and y.
    x_log, y_log
        Whether axes are logarithmic.
    """

    title: str
    x_label: str
    y_label: str
    lines: Sequence[tuple[int, Values, Values]]
    x_log: bool = False
    y_log: bool = False


@dataclass(frozen=True)
class Pair:
    """Mean difference of two schemes over `n` equal seeds, with its 95 % interval and p value.

    The interval is NaN if all seeds have the same difference.
    """

    first: int
    second: int
    n: int
    difference: float
    low: float
    high: float
    p: float


@dataclass(frozen=True)
class Pairs:
    """Differences between all pairs of schemes in one metric, in its display unit."""

    metric: str
    title: str
    unit: str
    less_is_better: bool
    pairs: Sequence[Pair]


@dataclass(frozen=True)
class Cell:
    """Mean of a metric over the runs of a scheme, with its 95 % interval; NaN if there is no value."""

    mean: float
    low: float
    high: float
    text: str


@dataclass(frozen=True)
class Column:
    """A column of the table: a metric in its display unit.

    Attributes
    ----------
    metric
        Its name in ``summary.parquet``.
    title, unit, definition
        For its head.
    factor
        From the unit of ``summary.parquet`` to `unit`.
    main, narrow
        Whether it is shown at first, and on a narrow screen.
    cells
        One for each scheme.
    """

    metric: str
    title: str
    unit: str
    definition: str
    factor: float
    main: bool
    narrow: bool
    cells: Sequence[Cell]


@dataclass(frozen=True)
class Matrix:
    """A figure at the start of a page: a coloured table of numbers.

    The number `middle` has no colour; those above and below have one colour each. Without it, colours are
    logarithmic from the smallest to the largest number. `links` are the addresses of the results behind the
    numbers, if the page is served.
    """

    title: str
    rows: Sequence[str]
    columns: Sequence[str]
    corner: str
    values: Values
    texts: Sequence[Sequence[str]]
    middle: float | None = None
    links: Sequence[Sequence[str]] = ()


@dataclass(frozen=True)
class Interval:
    """A row of `Intervals`: a number with its interval, in units of the tolerance if there is one."""

    label: str
    group: str
    value: float
    low: float
    high: float
    text: str


@dataclass(frozen=True)
class Intervals:
    """A figure at the start of a page: numbers with intervals against a shaded band about zero."""

    title: str
    x_label: str
    band: float
    rows: Sequence[Interval]


Picture = Matrix | Intervals


@dataclass(frozen=True)
class Section:
    """A section of a report.

    Attributes
    ----------
    id
        Its anchor in the page.
    title
        Its heading.
    note
        How to read it.
    remarks
        Sentences before its tables.
    tables
        Each with a ``title``, a ``head`` and ``rows`` of text.
    pictures
        Its figures. Those of sections of a command come first in the page.
    """

    id: str
    title: str
    note: str = ""
    remarks: Sequence[str] = ()
    tables: Sequence[Mapping[str, Any]] = ()
    pictures: Sequence[Picture] = ()


@dataclass(frozen=True)
class OverTime:
    """The panels over time and the data that they share.

    Attributes
    ----------
    time_s
        End of each interval of the panels, in seconds.
    step_s
        Length of the intervals.
    capacity
        Capacity in each interval, in Mbit/s: index of the repetition (-1: the mean) and values.
    panels
        The panels.
    marks
        Congestion events.
    seeds_shown
        How many repetitions have lines of their own.
    looks
        Schemes, other than those compared, whose styles the lines have.
    """

    time_s: Values
    step_s: float
    capacity: Sequence[tuple[int, Values]]
    panels: Sequence[Panel]
    marks: Sequence[Marks]
    seeds_shown: int
    looks: Sequence[str] = ()


@dataclass(frozen=True)
class View:
    """The complete content of a report.

    Attributes
    ----------
    title, facts, findings
        The heading, the circumstances in one line, and the result in one sentence.
    schemes
        Ids of the schemes, in the order of the runs.
    style
        Style of each scheme, and of every other scheme that lines refer to.
    dashes
        Dash of the lines of each scheme, by number.
    seeds
        Seed of each repetition.
    compared
        Whether the schemes are compared: trade-off and pairs are meaningful.
    columns, table_note
        The table, and how to read it.
    shown
        How many schemes are shown at first.
    points
        Throughput and delay of each run for the trade-off: scheme, seed, delay (ms), throughput (Mbit/s).
    capacity_mbps
        Mean capacity of the link under test; NaN if unknown or different between runs.
    over_time
        The panels over time.
    distributions, pairs, sections
        As their types.
    pairs_note
        A note on the pairs; empty if there is none.
    details
        Sections at the end, collapsed.
    noun
        The name of a row of the table.
    panels_first
        Whether the panels over time come before the table.
    """

    title: str
    facts: str
    findings: str
    schemes: Sequence[str]
    style: Style
    dashes: Sequence[int]
    seeds: Sequence[int]
    compared: bool
    columns: Sequence[Column]
    table_note: str
    shown: int
    points: Sequence[tuple[int, int, float, float]]
    capacity_mbps: float
    over_time: OverTime
    distributions: Sequence[Distribution]
    pairs: Sequence[Pairs]
    pairs_note: str = ""
    sections: Sequence[Section] = ()
    details: Sequence[Section] = ()
    noun: str = "scheme"
    panels_first: bool = False

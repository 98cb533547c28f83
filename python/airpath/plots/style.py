"""How figures look, and how they become files."""

import functools
import io
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from importlib import resources
from typing import Literal, ParamSpec, TypeVar

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from airpath.errors import UsageError
from airpath.schemes import find_scheme

COLUMN_IN = 3.5
"""Width of one column of a paper, in inches."""

PAGE_IN = 7.0
"""Width of a paper's page, in inches."""


@dataclass(frozen=True, slots=True)
class SchemeStyle:
    """How one scheme is drawn, in every figure.

    Attributes
    ----------
    display_name
        Its name in legends.
    colour
        Any colour that matplotlib understands.
    marker
        Any marker that matplotlib understands.
    """

    display_name: str
    colour: str
    marker: str

    @property
    def label(self) -> str:
        """Its name where there is little room: a long one goes on in a new line with each option."""
        if len(self.display_name) <= _LONGEST_LINE:
            return self.display_name
        return self.display_name.replace(":", ":\n", 1).replace(",", ",\n")


_LONGEST_LINE = 24

P = ParamSpec("P")
R = TypeVar("R")

Style = Mapping[str, SchemeStyle]
"""How each scheme is drawn, by scheme id."""

Kind = Literal["png", "svg"]
"""A kind of file."""

NO_SCHEME = SchemeStyle("other traffic", "#7f7f7f", ".")
"""Traffic that nothing controls."""


def style_for(schemes: Iterable[str]) -> Style:
    """Style of each scheme: as registered, else a colour and marker that no other scheme here has.

    Colours are the same in every figure. Schemes composed with the same capacity source share a marker; where
    they meet, the first keeps it and each later one gets a marker of its own.

    Parameters
    ----------
    schemes
        Scheme ids; those unknown to the registry get colours by their order.
    """
    ids = list(dict.fromkeys(schemes))
    registered = {scheme: look for scheme in ids if (look := _registered(scheme)) is not None}
    free_colours = _unused(_COLOURS, {look.colour.lower() for look in registered.values()})
    free_markers = _unused(_MARKERS, {look.marker for look in registered.values()})
    styles: dict[str, SchemeStyle] = {}
    markers: set[str] = set()
    for scheme in ids:
        look = registered.get(scheme)
        if look is None:
            look = SchemeStyle(scheme, next(free_colours), next(free_markers))
        elif look.marker in markers:
            look = replace(look, marker=next(free_markers))
        markers.add(look.marker)
        styles[scheme] = look
    return styles


def styled(function: Callable[P, R]) -> Callable[P, R]:
    """Run a drawing function under airpath's style, whatever the caller's settings are."""

    @functools.wraps(function)
    def inside_style(*args: P.args, **kwargs: P.kwargs) -> R:
        with mpl.rc_context():
            mpl.rcParams.update(mpl.rcParamsDefault | {"backend": mpl.rcParams["backend"]})
            mpl.rcParams.update(_settings())
            return function(*args, **kwargs)

    return inside_style


@styled
def new_axes(width_in: float = PAGE_IN, height_in: float = 2.4) -> Axes:
    """Axes that fill a new figure of this size, in inches."""
    return Figure(figsize=(width_in, height_in), layout="constrained").add_subplot()


@styled
def render(figure: Figure, kind: Kind) -> bytes:
    """Return a PNG (200 dpi) or SVG file; figures made alike give the same bytes, each the first time."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format=kind, metadata={"Software": None} if kind == "png" else {"Date": None})
    return buffer.getvalue()


def layers_above(drawn: Sequence[npt.NDArray[np.float64]], spans: npt.NDArray[np.float64]) -> list[int]:
    """Tell how many later drawings hide each: those that are nowhere apart by 1.5 % of what the axes show.

    What is hidden can be drawn larger, so that it shows beside what hides it.

    Parameters
    ----------
    drawn
        What is drawn, in its order: points in rows, as many of each.
    spans
        How far all of it reaches along each axis.
    """
    near = 0.015 * np.where(spans > 0, spans, 1.0)
    return [
        sum(bool((np.abs(one - later) <= near).all()) for later in drawn[number + 1 :])
        for number, one in enumerate(drawn)
    ]


def legend_above(axes: Axes) -> None:
    """Put the legend above the axes, where it hides no data, in as many columns as fit."""
    handles, labels = axes.get_legend_handles_labels()
    if not handles:
        return
    characters = axes.get_figure(root=True).get_figwidth() * 16  # type: ignore[union-attr]
    longest = max(len(line) for label in labels for line in label.splitlines())
    columns = max(1, min(len(labels), int(characters // (longest + 6))))
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.01), ncols=columns)
    lines = max(sum(1 + label.count("\n") for label in column) for column in np.array_split(labels, columns))
    # A layout takes the room of a legend from the axes, of which a long one would leave nothing.
    figure = axes.get_figure(root=True)
    if lines > _LEGEND_LINES and isinstance(figure, Figure) and figure.get_layout_engine() is not None:
        figure.set_figheight(figure.get_figheight() + (lines - _LEGEND_LINES) * _LEGEND_LINE_IN)


_LEGEND_LINES = 4
"""So many lines of a legend leave enough of the axes below."""
_LEGEND_LINE_IN = 0.14
"""Height of a line of a legend, in inches."""

# Okabe and Ito's colours that are safe for colour-blind readers; yellow is too light for lines.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "H", "8", "d", "h")


def _unused(choices: Sequence[str], used: Set[str]) -> Iterator[str]:
    """Give the choices that are not used, again and again; all of them if every one is used."""
    return itertools.cycle([choice for choice in choices if choice not in used] or choices)


def _registered(scheme: str) -> SchemeStyle | None:
    """Return what the registry of schemes says, if it knows the scheme."""
    try:
        entry = find_scheme(scheme)
    except UsageError:
        return None
    return SchemeStyle(entry.title, entry.colour, entry.marker)


@functools.cache
def _settings() -> mpl.RcParams:
    with resources.as_file(resources.files("airpath.plots") / "airpath.mplstyle") as path:
        return mpl.rc_params_from_file(path, use_default_template=False)

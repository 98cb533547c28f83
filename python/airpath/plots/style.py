"""How figures look, and how they become files."""

import functools
import io
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Literal, ParamSpec, TypeVar

import matplotlib as mpl
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


P = ParamSpec("P")
R = TypeVar("R")

Style = Mapping[str, SchemeStyle]
"""How each scheme is drawn, by scheme id."""

NO_SCHEME = SchemeStyle("other traffic", "#7f7f7f", ".")
"""Traffic that nothing controls."""


def style_for(schemes: Iterable[str]) -> Style:
    """Style of each scheme: as registered, else a colour and marker that no other scheme here has.

    Parameters
    ----------
    schemes
        Scheme ids; those unknown to the registry get colours by their order.
    """
    ids = list(dict.fromkeys(schemes))
    styles = {scheme: registered for scheme in ids if (registered := _registered(scheme)) is not None}
    colours = {style.colour.lower() for style in styles.values()}
    markers = {style.marker for style in styles.values()}
    free_colours = [colour for colour in _COLOURS if colour not in colours] or list(_COLOURS)
    free_markers = [marker for marker in _MARKERS if marker not in markers] or list(_MARKERS)
    for number, scheme in enumerate(scheme for scheme in ids if scheme not in styles):
        colour, marker = free_colours[number % len(free_colours)], free_markers[number % len(free_markers)]
        styles[scheme] = SchemeStyle(scheme, colour, marker)
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
def render(figure: Figure, kind: Literal["png", "svg"]) -> bytes:
    """Return a PNG (200 dpi) or SVG file; the same figure always gives the same bytes."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format=kind, metadata={"Software": None} if kind == "png" else {"Date": None})
    return buffer.getvalue()


def legend_above(axes: Axes) -> None:
    """Put the legend above the axes, where it hides no data, in as many columns as fit."""
    handles, labels = axes.get_legend_handles_labels()
    if not handles:
        return
    characters = axes.get_figure(root=True).get_figwidth() * 16  # type: ignore[union-attr]
    columns = max(1, min(len(labels), int(characters // (max(map(len, labels)) + 6))))
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.01), ncols=columns)


# Okabe and Ito's colours that are safe for colour-blind readers; yellow is too light for lines.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")


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

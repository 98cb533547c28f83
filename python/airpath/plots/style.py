"""How figures look, and how they become files."""

import functools
import io
from collections.abc import Callable, Sequence
from importlib import resources
from typing import Final, Literal, ParamSpec, TypeVar, get_args

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

COLUMN_IN = 3.5
"""Width of one column of a paper, in inches."""

PAGE_IN = 7.0
"""Width of a paper's page, in inches."""


P = ParamSpec("P")
R = TypeVar("R")

Kind = Literal["png", "svg", "pdf"]
"""A kind of file."""
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)


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
    """Return a PNG (200 dpi), SVG or PDF file; equal figures give equal bytes, each the first time."""
    buffer = io.BytesIO()
    # Times and versions would make files of equal figures differ.
    metadata = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}[kind]
    figure.savefig(buffer, format=kind, metadata=metadata)
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


@functools.cache
def _settings() -> mpl.RcParams:
    with resources.as_file(resources.files("airpath.plots") / "airpath.mplstyle") as path:
        return mpl.rc_params_from_file(path, use_default_template=False)

"""The style of figures, and their conversion to files."""

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
    """Run a plotting function under airpath's style, whatever the caller's settings are."""

    @functools.wraps(function)
    def inside_style(*args: P.args, **kwargs: P.kwargs) -> R:
        with mpl.rc_context():
            mpl.rcParams.update(mpl.rcParamsDefault | {"backend": mpl.rcParams["backend"]})
            mpl.rcParams.update(_settings())
            return function(*args, **kwargs)

    return inside_style


@styled
def new_axes(width_in: float = PAGE_IN, height_in: float = 2.4) -> Axes:
    """Return axes that fill a new figure of this size, in inches."""
    return Figure(figsize=(width_in, height_in), layout="constrained").add_subplot()


@styled
def render(figure: Figure, kind: Kind) -> bytes:
    """Return a PNG (200 dpi), SVG or PDF file; equal figures give equal bytes on their first rendering."""
    buffer = io.BytesIO()
    # With times and versions, files of equal figures would differ.
    metadata = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}[kind]
    figure.savefig(buffer, format=kind, metadata=metadata)
    return buffer.getvalue()


def layers_above(drawn: Sequence[npt.NDArray[np.float64]], spans: npt.NDArray[np.float64]) -> list[int]:
    """Return how many later markers hide each marker.

    A later marker hides one if no two of their points are farther apart than 1.5 % of the range of the axes.
    A hidden marker can be enlarged, so that it shows around the one that hides it.

    Parameters
    ----------
    drawn
        The markers in the order of plotting: points in rows, the same number for each.
    spans
        Extent of all points along each axis.
    """
    near = 0.015 * np.where(spans > 0, spans, 1.0)
    return [
        sum(bool((np.abs(one - later) <= near).all()) for later in drawn[number + 1 :])
        for number, one in enumerate(drawn)
    ]


def legend_above(axes: Axes) -> None:
    """Place the legend above the axes, so that it hides no data, in as many columns as fit."""
    handles, labels = axes.get_legend_handles_labels()
    if not handles:
        return
    characters = axes.get_figure(root=True).get_figwidth() * 16  # type: ignore[union-attr]
    longest = max(len(line) for label in labels for line in label.splitlines())
    columns = max(1, min(len(labels), int(characters // (longest + 6))))
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.01), ncols=columns)
    lines = max(sum(1 + label.count("\n") for label in column) for column in np.array_split(labels, columns))
    # The layout takes the height of the legend from the axes; a long legend would leave nothing.
    figure = axes.get_figure(root=True)
    if lines > _LEGEND_LINES and isinstance(figure, Figure) and figure.get_layout_engine() is not None:
        figure.set_figheight(figure.get_figheight() + (lines - _LEGEND_LINES) * _LEGEND_LINE_IN)


_LEGEND_LINES = 4
"""The largest number of lines of a legend that leaves enough height for the axes."""
_LEGEND_LINE_IN = 0.14
"""Height of a line of a legend, in inches."""


@functools.cache
def _settings() -> mpl.RcParams:
    with resources.as_file(resources.files("airpath.plots") / "airpath.mplstyle") as path:
        return mpl.rc_params_from_file(path, use_default_template=False)

"""One figure with its caption."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from airpath.plots.style import render
from airpath.results import RunResult


@dataclass(frozen=True)
class StandardFigure:
    """One figure of the standard set.

    Attributes
    ----------
    name
        Stem of its file names.
    caption
        What is drawn, with the definitions that it needs.
    figure
        The figure.
    run
        The run that it shows; ``None`` if it shows all.
    """

    name: str
    caption: str
    figure: Figure = field(repr=False)
    run: RunResult | None = None

    def keep(self, files: Mapping[str, bytes]) -> None:
        """Take files, by kind, that another process has made."""
        self.__dict__.update(files)  # where cached properties are kept

    @functools.cached_property
    def png(self) -> bytes:
        """The figure as a PNG file, 200 dpi."""
        return render(self.figure, "png")

    @functools.cached_property
    def svg(self) -> bytes:
        """The figure as an SVG file."""
        return render(self.figure, "svg")


def figure_of(axes: Axes) -> Figure:
    """Return the figure in which axes stand."""
    figure = axes.get_figure(root=True)
    assert isinstance(figure, Figure)
    return figure

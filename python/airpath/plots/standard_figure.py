"""One figure with its caption."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from airpath.plots.style import Kind, render
from airpath.results import RunResult


@dataclass(frozen=True)
class StandardFigure:
    """One figure of the standard set.

    Attributes
    ----------
    name
        Stem of its file names.
    caption
        A description of the figure, with the definitions that it needs.
    figure
        The figure.
    run
        The run that it shows; ``None`` if it shows all.
    """

    name: str
    caption: str
    figure: Figure = field(repr=False)
    run: RunResult | None = None
    _files: dict[Kind, bytes] = field(default_factory=dict, init=False, repr=False, compare=False)

    def keep(self, files: Mapping[Kind, bytes]) -> None:
        """Store files, by kind, that another process has rendered."""
        self._files.update(files)

    def file(self, kind: Kind) -> bytes:
        """Return the figure as a file of this kind; it is rendered once."""
        if kind not in self._files:
            self._files[kind] = render(self.figure, kind)
        return self._files[kind]


def figure_of(axes: Axes) -> Figure:
    """Return the figure that contains axes."""
    figure = axes.get_figure(root=True)
    assert isinstance(figure, Figure)
    return figure

"""Tables that are wider than a terminal."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions
from rich.table import Table
from rich.text import Text

FRAME = 3
"""Width of a column in addition to its cells: a space on either side and a line."""


@dataclass(frozen=True)
class Blocks:
    """A table of numbers; columns that do not fit the terminal are placed in further blocks below."""

    labels: Mapping[str, Sequence[str]]
    """Titles and cells of the columns that identify a row; every block begins with them."""
    columns: Mapping[str, Sequence[str]]
    """Titles and cells of the columns of numbers."""
    caption: str
    """The caption below the last block."""
    framed: bool = True
    """Whether there are lines around cells."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Table | Text]:
        """Yield one table for each block, and the caption."""
        for titles in self._blocks(options.max_width):
            table = Table() if self.framed else Table(box=None, padding=(0, 1), header_style="bold")
            for title in self.labels:
                table.add_column(Text(title), no_wrap=True)
            for title in titles:
                width = _width(title, self.columns[title])
                table.add_column(Text(title, justify="right"), justify="right", width=width)
            cells = (*self.labels.values(), *(self.columns[title] for title in titles))
            for row in zip(*cells, strict=True):
                table.add_row(*map(Text, row))
            yield table
        yield Text(self.caption, style="table.caption")

    def _blocks(self, width: int) -> list[list[str]]:
        """Distribute the columns evenly over as few blocks as the width allows."""
        blocks = self._filled(width)
        for narrower in range(width - 1, 0, -1):
            others = self._filled(narrower)
            if len(others) > len(blocks):
                break
            blocks = others
        return blocks

    def _filled(self, width: int) -> list[list[str]]:
        """Fill blocks of this width one after another, each with at least one column."""
        room = width - 1 - sum(FRAME + _width(title, cells) for title, cells in self.labels.items())
        blocks: list[list[str]] = [[]]
        left = room
        for title, cells in self.columns.items():
            needed = FRAME + _width(title, cells)
            if needed > left and blocks[-1]:
                blocks.append([])
                left = room
            blocks[-1].append(title)
            left -= needed
        return blocks


def _width(title: str, cells: Sequence[str]) -> int:
    """Return the width at which no cell breaks, and the title at most once and between words."""
    words = title.split()
    halves = (
        max(cell_len(" ".join(words[:first])), cell_len(" ".join(words[first:])))
        for first in range(1, len(words) + 1)
    )
    return max(min(halves, default=0), *map(cell_len, cells), 0)

"""The report of results in a cell of a notebook."""

from html import escape
from pathlib import Path

from airpath.explorer.page import page
from airpath.results import Results, read
from airpath.views.view import view_of

HEIGHT_PX = 1000
"""Height of the frame."""


class Explorer:
    """The report of results; notebooks show it in a frame.

    Parameters
    ----------
    results
        The results.
    """

    def __init__(self, results: Results) -> None:
        self._results = results

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{escape(self.html())}" title="airpath" width="100%" height="{HEIGHT_PX}"'
            ' style="border: 0" loading="lazy"></iframe>'
        )

    def html(self) -> str:
        """Return the page as one text, for a file of its own."""
        return page(view_of(self._results))

    def __repr__(self) -> str:
        return f"Explorer({self._results!r})"


def explore(results: Results | Path | str) -> Explorer:
    """Return the report of results for a notebook.

    Parameters
    ----------
    results
        Results, or a results directory.

    Raises
    ------
    airpath.errors.UsageError
        If the directory contains no results.
    """
    return Explorer(results if isinstance(results, Results) else read(Path(results)))

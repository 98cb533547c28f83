"""The diagnosis of `airpath estimate`, compared with the truth of simulated flows. Not from a paper."""

from airpath_papers.diagnosis.figure import WINDOWS_FIGURE

FIGURES = (WINDOWS_FIGURE,)
"""The figures of this package."""

__all__ = ["FIGURES"]

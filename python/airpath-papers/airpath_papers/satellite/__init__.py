"""Every scheme on a satellite link with burst losses: a public scenario, evaluated by our claims."""

from airpath_papers.satellite.figure import DOWNLOADS_FIGURE

FIGURES = (DOWNLOADS_FIGURE,)
"""The figures of this package."""

__all__ = ["FIGURES"]

"""Every scheme on a satellite link with losses in bursts: a public case, and ours in how it is judged."""

from airpath_papers.satellite.figure import DOWNLOADS_FIGURE

FIGURES = (DOWNLOADS_FIGURE,)
"""Ours."""

__all__ = ["FIGURES"]

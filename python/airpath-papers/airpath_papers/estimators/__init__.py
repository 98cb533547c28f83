"""Every ACK-rate estimator against the truth on links whose capacity moves. Ours, not a paper's."""

from airpath_papers.estimators.figure import LINKS_FIGURE

FIGURES = (LINKS_FIGURE,)
"""Ours."""

__all__ = ["FIGURES"]

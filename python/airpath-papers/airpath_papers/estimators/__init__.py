"""Every ACK-rate estimator compared with the truth on links with varying capacity. Not from a paper."""

from airpath_papers.estimators.figure import LINKS_FIGURE

FIGURES = (LINKS_FIGURE,)
"""The figures of this package."""

__all__ = ["FIGURES"]

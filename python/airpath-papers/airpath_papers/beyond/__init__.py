"""The capacity source `busy` and the sender Kite: the evidence of their pages. Not from a paper."""

from airpath_papers.beyond import busy, kite
from airpath_papers.figure import Figure

FIGURES: tuple[Figure, ...] = (*busy.FIGURES, *kite.FIGURES)
"""The figures of this package."""

__all__ = ["FIGURES"]

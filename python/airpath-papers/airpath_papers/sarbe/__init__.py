"""Figures of SARBE: stable accurate rapid bandwidth estimate for improving TCP over wireless networks."""

from airpath_papers.sarbe.compression import FIG2A, FIG2B
from airpath_papers.sarbe.fairness import FIG5
from airpath_papers.sarbe.friendliness import FIG6
from airpath_papers.sarbe.goodput import FIG4
from airpath_papers.sarbe.steps import FIG1

FIGURES = (FIG1, FIG2A, FIG2B, FIG4, FIG5, FIG6)
"""In the order of the paper; its figure 3 is a diagram of the network."""

__all__ = ["FIGURES"]

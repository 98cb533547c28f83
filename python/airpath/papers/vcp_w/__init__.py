"""Figures of VCP-W: analysis, simulation and implementation of VCP, a wireless profiling."""

from airpath.papers.vcp_w.fig2a import FIG2A, FIG2D
from airpath.papers.vcp_w.fig2bc import FIG2B, FIG2C
from airpath.papers.vcp_w.fig3 import FIG3

FIGURES = (FIG2A, FIG2B, FIG2C, FIG2D, FIG3)

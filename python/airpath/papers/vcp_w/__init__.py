"""Figures of VCP-W: analysis, simulation and implementation of VCP, a wireless profiling."""

from airpath.papers.vcp_w.fig2a import FIG2A, FIG2D

FIGURES = (FIG2A, FIG2D)

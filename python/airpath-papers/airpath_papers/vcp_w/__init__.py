"""Figures of VCP-W: analysis, simulation and implementation of VCP, a wireless profiling."""

from airpath_papers.vcp_w.causes import CAUSES
from airpath_papers.vcp_w.fig2a import FIG2A, FIG2D
from airpath_papers.vcp_w.fig2bc import FIG2B, FIG2C
from airpath_papers.vcp_w.fig3 import FIG3
from airpath_papers.vcp_w.fig5 import FIG5A, FIG5C
from airpath_papers.vcp_w.fig6 import FIG6
from airpath_papers.vcp_w.surfaces import SURFACES
from airpath_papers.vcp_w.testbed import FIGURES as TESTBED
from airpath_papers.vcp_w.text3b import TEXT3B

FIGURES = (FIG2A, FIG2B, FIG2C, FIG2D, FIG3, TEXT3B, FIG5A, FIG5C, CAUSES, FIG6, SURFACES, *TESTBED)

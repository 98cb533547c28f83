"""Figures of VCP-W: analysis, simulation, and implementation of VCP: a wireless profiling."""

from airpath.papers.vcp_w.testbed import FIGURES

__all__ = ["FIGURES"]

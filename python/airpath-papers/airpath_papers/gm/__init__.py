"""Figures of GM: Grieco and Mascolo on filters of bandwidth samples, and the anti-aliasing before them."""

from airpath_papers.gm.anti_aliased import FIG7
from airpath_papers.gm.per_ack import FIG3, FIG4, FIG5, FIG6
from airpath_papers.gm.ten_flows import FIG11
from airpath_papers.gm.varying import FIG8, FIG9, FIG10

FIGURES = (FIG3, FIG4, FIG5, FIG6, FIG7, FIG8, FIG9, FIG10, FIG11)
"""In the order of the paper."""

__all__ = ["FIGURES"]

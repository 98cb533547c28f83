"""The figures of VCP-W's testbed."""

from typing import Final

from airpath.papers.figure import Figure
from airpath.papers.vcp_w.fig10 import FIG10A, FIG10B, FIG10C, FIG10D
from airpath.papers.vcp_w.table_1 import TABLE_1

FIGURES: Final[tuple[Figure, ...]] = (FIG10A, FIG10B, FIG10C, FIG10D, TABLE_1)
"""In the order of the paper, then ours."""

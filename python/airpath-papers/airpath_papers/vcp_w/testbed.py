"""The figures of VCP-W's testbed."""

from typing import Final

from airpath_papers.figure import Figure
from airpath_papers.vcp_w.fig10ad import FIG10A, FIG10D
from airpath_papers.vcp_w.fig10bc import FIG10B, FIG10C
from airpath_papers.vcp_w.fig11 import FIG11A, FIG11B, FIG11D
from airpath_papers.vcp_w.fig11c import FIG11C
from airpath_papers.vcp_w.fig12 import FIG12
from airpath_papers.vcp_w.fig13 import FIG13
from airpath_papers.vcp_w.fig14 import FIG14
from airpath_papers.vcp_w.heuristic import HEURISTIC
from airpath_papers.vcp_w.hurts import HURTS
from airpath_papers.vcp_w.repairs import REPAIRS_FIGURE
from airpath_papers.vcp_w.table_1 import TABLE_1

FIGURES: Final[tuple[Figure, ...]] = (
    FIG10A,
    FIG10B,
    FIG10C,
    FIG10D,
    TABLE_1,
    FIG11A,
    FIG11B,
    FIG11C,
    FIG11D,
    FIG12,
    FIG13,
    FIG14,
    HEURISTIC,
    HURTS,
    REPAIRS_FIGURE,
)
"""In the order of the paper, then ours."""

"""Figures and tables of EBE-J: bandwidth estimation by an extended Kalman filter, the journal paper."""

from airpath_papers.ebe_j.analysis_of_variance import FIG11, FIG12, VCP_ANOVA
from airpath_papers.ebe_j.cubic_dumbbell import CUBIC_ANOVA, FIG7
from airpath_papers.ebe_j.cubic_files import CUBIC_FILES
from airpath_papers.ebe_j.cubic_parking_lot import FIG10
from airpath_papers.ebe_j.cubic_small import CUBIC_SMALL
from airpath_papers.ebe_j.discussion import JOIN_LEAVE, SMALL_BUFFERS
from airpath_papers.ebe_j.files import FILE_TRANSFERS
from airpath_papers.ebe_j.parking_lot import FIG8A, FIG8B, FIG9A, FIG9B
from airpath_papers.ebe_j.threshold import FIG1
from airpath_papers.ebe_j.topologies import CUBIC_BESIDE_ROUTERS, CUBIC_TOPOLOGIES, VCP_TOPOLOGIES
from airpath_papers.ebe_j.vcp_dumbbell import FIG3A, FIG3B, FIG4A, FIG4B, FIG5A, FIG5B
from airpath_papers.ebe_j.xcp_dumbbell import FIG6A, FIG6B

FIGURES = (
    FIG1,
    FIG3A,
    FIG3B,
    FIG4A,
    FIG4B,
    FIG5A,
    FIG5B,
    FIG6A,
    FIG6B,
    FIG7,
    CUBIC_BESIDE_ROUTERS,
    FILE_TRANSFERS,
    CUBIC_FILES,
    FIG8A,
    FIG8B,
    VCP_TOPOLOGIES,
    FIG9A,
    FIG9B,
    FIG10,
    CUBIC_TOPOLOGIES,
    FIG11,
    FIG12,
    VCP_ANOVA,
    CUBIC_ANOVA,
    JOIN_LEAVE,
    SMALL_BUFFERS,
    CUBIC_SMALL,
)
"""In the order of the paper."""

__all__ = ["FIGURES"]

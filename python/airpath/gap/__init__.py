"""Differences between backends: one scenario simulated, over the kernel, and over the Linux datapath."""

from airpath.gap.compared import Compared, Gap, GapFailed, gap
from airpath.gap.differences import TOLERANCES, Difference, Verdict, differences

__all__ = ["TOLERANCES", "Compared", "Difference", "Gap", "GapFailed", "Verdict", "differences", "gap"]

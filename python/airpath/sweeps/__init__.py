"""Sweeps: runs of a scenario with different values of its keys, collected in a data set."""

from airpath.sweeps.plan import SweepPlan, sweep_names
from airpath.sweeps.results import SweepResults
from airpath.sweeps.running import SweepInterrupted, default_out, sweep

__all__ = ["SweepInterrupted", "SweepPlan", "SweepResults", "default_out", "sweep", "sweep_names"]

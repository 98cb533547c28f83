"""Executing stored runs again: `airpath rerun`."""

from airpath.rerun.kept import KeptRuns, load_kept
from airpath.rerun.tables import compare_tables, differing

__all__ = ["KeptRuns", "compare_tables", "differing", "load_kept"]

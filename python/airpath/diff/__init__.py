"""Differences between two results: their configuration and their metrics."""

from airpath.diff.differences import MetricDifference, ResultsDifference, diff
from airpath.diff.sides import Side, read_side

__all__ = ["MetricDifference", "ResultsDifference", "Side", "diff", "read_side"]

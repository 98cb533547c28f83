"""What differs between two results: what they were made of, and what was measured."""

from airpath.diff.differences import MetricDifference, ResultsDifference, diff
from airpath.diff.sides import Side, read_side

__all__ = ["MetricDifference", "ResultsDifference", "Side", "diff", "read_side"]

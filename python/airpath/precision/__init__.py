"""Enough repetitions? How well the mean of a metric is known, and adding runs until it is known well enough.

`rule` says what is asked for, `reached` judges what runs gave, `report` says it.
"""

from airpath.precision.rule import PrecisionRule

__all__ = ["PrecisionRule"]

"""Enough repetitions? How well the mean of a metric is known, and adding runs until it is known well enough.

`rule` contains the request, `reached` evaluates runs; `airpath.views.precision` presents the outcome.
"""

from airpath.precision.rule import PrecisionRule

__all__ = ["PrecisionRule"]

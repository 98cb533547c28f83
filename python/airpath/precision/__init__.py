"""Precision of a metric's mean over repetitions, and adding runs until the requested precision is reached.

`rule` contains the request, `reached` evaluates runs; `airpath.views.precision` presents the outcome.
"""

from airpath.precision.rule import PrecisionRule

__all__ = ["PrecisionRule"]

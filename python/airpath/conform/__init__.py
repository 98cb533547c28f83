"""Whether a controller keeps the rules for controllers, over random lists of operations."""

from airpath.conform.examination import Examination, Failing, Replay, RuleVerdict, Step

__all__ = ["Examination", "Failing", "Replay", "RuleVerdict", "Step"]

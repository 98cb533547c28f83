"""Random lists of operations that check whether a controller obeys the rules for controllers."""

from airpath.conform.examination import Examination, Failing, Replay, RuleVerdict, Step

__all__ = ["Examination", "Failing", "Replay", "RuleVerdict", "Step"]

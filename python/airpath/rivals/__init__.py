"""Fairness between schemes: pairs of schemes that share a link."""

from airpath.rivals.meetings import Meeting, Rivals, rivals

__all__ = ["Meeting", "Rivals", "rivals"]

"""Schemes in pairs on one link: who gets how much beside whom."""

from airpath.rivals.meetings import Meeting, Rivals, rivals

__all__ = ["Meeting", "Rivals", "rivals"]

"""Scripted tests of congestion control: suites of cases, expectations, baselines, verdicts."""

from airpath.checks.expectation import Judged
from airpath.checks.running import Checked, CheckedCase, CheckInterrupted, check
from airpath.checks.suite import Case, Suite, suite_names

__all__ = [
    "Case",
    "CheckInterrupted",
    "Checked",
    "CheckedCase",
    "Judged",
    "Suite",
    "check",
    "suite_names",
]

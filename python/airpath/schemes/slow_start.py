"""Slow starts that any window-based scheme can have."""

from typing import Any, Final

from airpath.declared import component_type

SlowStart: Final[Any] = component_type("slow-start")
"""The name of a slow start, or a table with its `kind` and parameters."""

"""Deprecated: the module `airpath_lint.carry` of airpath-lint. This name is removed in 0.3."""

from typing import Any

from airpath.lint import moved


def __getattr__(name: str) -> Any:
    if name not in ("Carried", "carry_over"):
        raise AttributeError(f"module 'airpath.lint.carry' has no attribute {name!r}")
    return moved(name, "airpath_lint.carry")

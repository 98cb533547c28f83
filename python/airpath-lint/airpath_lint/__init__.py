"""A linter for traffic control set-ups: what a script or a screen of `tc` amounts to, and what is wrong."""

from airpath_lint.linting import Linted, lint, lint_text

__all__ = ["Linted", "lint", "lint_text"]

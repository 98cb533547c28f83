"""A linter for `tc` configurations: it describes the resulting link and flags mistakes.

`airpath lint` is the command. Functions are loaded when they are first used.
"""

from typing import TYPE_CHECKING, Any, Final

from airpath.commands import Command

if TYPE_CHECKING:
    from airpath_lint.linting import Linted, lint, lint_text

__all__ = ["COMMAND", "Linted", "lint", "lint_text"]

COMMAND: Final = Command(
    "Check a `tc`/netem configuration: describe the resulting link and flag mistakes.",
    "airpath_lint.cli:lint",
    task="Tools",
    before="figures",
)
"""The command `airpath lint`."""


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'airpath_lint' has no attribute {name!r}")
    from airpath_lint import linting

    value = globals()[name] = getattr(linting, name)
    return value

"""The declaration of a command of `airpath`."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Command:
    """A command of `airpath`, named by its entry point in the group `airpath.commands`."""

    summary: str
    """The first sentence of its help."""
    target: str
    """The code, as `MODULE:NAME`; the module is imported when the command runs.

    NAME is a function whose parameters are the options of the command, or a `typer.Typer` with commands of
    its own. `HELP` in the module is the rest of the help of a function.
    """
    task: str = "Tools"
    """The panel of `airpath --help` that lists it."""
    before: str | None = None
    """The command before which help lists it; by default it is listed last."""

"""Errors of runs that code of the user ended."""

from collections.abc import Iterable

from airpath import _core
from airpath.errors import PluginError
from airpath.plugins.specs import Spec


def plugin_error(failed: _core.PluginFailed, run: str) -> PluginError:
    """Return the error of a run that the user's code ended: file, line, problem, run and simulated time."""
    from airpath.plugins.loading import place  # here, because few runs need it

    now, problem, *component = failed.args
    if problem is None:
        cause = failed.__cause__
        where = place(cause) or component[0]
        problem = f"{where}: {type(cause).__name__}: {cause}"
    when = "at its start" if now is None else f"at {now:g} s"
    return PluginError(f"{problem} ({run}, {when})")


def crash_error(schemes: Iterable[str], problem: str, stack: str, run: str) -> PluginError:
    """Return the error of a run whose process ended: the line of Python, else the files, and the run.

    Parameters
    ----------
    schemes
        The components of the run that are code in files.
    problem
        How the process ended.
    stack
        The Python stack at that time, as `faulthandler` writes it; may be empty.
    run
        Scheme and seed.
    """
    from airpath.plugins.loading import place_in_stack  # here, because few runs need it

    return PluginError(f"{place_in_stack(stack) or suspects(schemes)}: {problem} ({run})")


def suspects(schemes: Iterable[str]) -> str:
    """Return the files that may have ended a process: libraries and modules of Linux, else all."""
    specs = [spec for scheme in schemes if (spec := Spec.parse(scheme)) is not None]
    compiled = [spec for spec in specs if spec.is_library or spec.program] or specs
    return " or ".join(dict.fromkeys(str(spec.file) for spec in compiled))

"""The command line: `airpath COMMAND …`."""

import os
import sys
from collections.abc import Callable, Sequence
from typing import Final

import typer

from airpath._os.interrupts import raised_again_if_lost
from airpath._os.no_pandas import without_pandas
from airpath.cli.commands import CommandGroup
from airpath.cli.place import settle
from airpath.errors import AirpathError, ScenarioError, UsageError

OTHER_FAULT: Final = 1
USAGE_FAULT: Final = 2
"""The command line or the scenario is wrong."""
INTERRUPTED: Final = 130

app: Final = typer.Typer(
    name="airpath",
    cls=CommandGroup,
    help="A laboratory for congestion control and bandwidth estimation over links with varying capacity.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit code.

    Exit codes: 0 for success, 2 for a wrong command line or scenario, 130 after Ctrl-C, 1 for
    everything else.

    Parameters
    ----------
    arguments
        The arguments; by default those of the process.
    """
    sys.exit(guarded(lambda: app(arguments, prog_name="airpath", standalone_mode=False)))


def guarded(work: Callable[[], int | None]) -> int:
    """Run `work` and turn every failure into one message on standard error and an exit code.

    Parameters
    ----------
    work
        The work; it returns an exit code, or nothing on success.
    """
    traceback = bool(os.environ.get("AIRPATH_TRACEBACK"))
    try:
        with raised_again_if_lost(), without_pandas():
            code = work()
        sys.stdout.flush()
    except typer.TyperException as error:
        return _misused(error)
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except BrokenPipeError:
        # The reader has ended, as in `airpath list | head -1`; nothing may be written at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OTHER_FAULT
    except Exception as error:
        if traceback:
            raise
        return _refused(error)
    finally:
        settle()
    if code == INTERRUPTED:
        return _failed("interrupted", INTERRUPTED)
    return int(code or 0)


def _refused(error: Exception) -> int:
    if isinstance(error, UsageError | ScenarioError):
        return _failed(str(error), USAGE_FAULT)
    if isinstance(error, AirpathError):
        return _failed(str(error), OTHER_FAULT)
    return _failed(f"{_unexpected(error)} (AIRPATH_TRACEBACK=1 shows where)", OTHER_FAULT)


def _misused(error: typer.TyperException) -> int:
    """Report wrong arguments; print nothing if there were none and the help was shown."""
    message = error.format_message().replace("Value error, ", "")
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "airpath"
    return _failed(f"{message} (see {command} --help)", error.exit_code) if message else error.exit_code


def _failed(message: str, code: int) -> int:
    for line in message.splitlines():
        sys.stderr.write(f"airpath: {line}\n")
    return code


def _unexpected(error: Exception) -> str:
    if isinstance(error, ImportError) and error.name in ("airpath._core", "airpath"):
        return "the engine is not built; run `make build` in a checkout, or install the package again"
    text = " ".join(str(error).split())
    return f"unexpected {type(error).__name__}: {text}" if text else f"unexpected {type(error).__name__}"


def _show_version(wanted: bool) -> None:
    if wanted:
        from airpath import __version__

        sys.stdout.write(f"airpath {__version__}\n")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
    ),
) -> None:
    """Define the options that belong to no command."""

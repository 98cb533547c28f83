"""The command line: `airpath COMMAND …`."""

import os
import sys
from collections.abc import Sequence
from typing import Final

import typer

from airpath.cli import compare, doctor, listing, run, trace, validate
from airpath.errors import AirpathError, ScenarioError, UsageError

OTHER_FAULT: Final = 1
USAGE_FAULT: Final = 2
"""The command line or the scenario is wrong."""
INTERRUPTED: Final = 130

app: Final = typer.Typer(
    name="airpath",
    help="A laboratory for bandwidth estimation and congestion control over links whose capacity moves.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("run", help=run.HELP)(run.run)
app.command("compare", help=compare.HELP)(compare.compare)
app.command("validate", help=validate.HELP)(validate.validate)
app.command("list", help=listing.HELP)(listing.list_)
app.add_typer(trace.app, name="trace")
app.command("doctor", help=doctor.HELP)(doctor.doctor)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit code.

    Exit codes: 0 when all is well, 2 for a wrong command line or scenario, 130 after Ctrl-C, 1 for everything else.

    Parameters
    ----------
    arguments
        The arguments; by default those of the process.
    """
    sys.exit(_outcome(arguments))


def _outcome(arguments: Sequence[str] | None) -> int:
    """Run a command; every failure becomes one message on standard error and an exit code."""
    traceback = bool(os.environ.get("AIRPATH_TRACEBACK"))
    try:
        code = app(arguments, prog_name="airpath", standalone_mode=False)
        sys.stdout.flush()
    except (UsageError, ScenarioError) as error:
        if traceback:
            raise
        return _failed(str(error), USAGE_FAULT)
    except AirpathError as error:
        if traceback:
            raise
        return _failed(str(error), OTHER_FAULT)
    except typer.TyperException as error:
        # No message: the help was asked for by giving no arguments.
        message = error.format_message()
        return _failed(f"{message} (see airpath --help)", error.exit_code) if message else error.exit_code
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except BrokenPipeError:
        # The reader has gone, as in `airpath list | head -1`; nothing may be written at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OTHER_FAULT
    except Exception as error:
        if traceback:
            raise
        return _failed(f"{_unexpected(error)} (AIRPATH_TRACEBACK=1 shows where)", OTHER_FAULT)
    if code == INTERRUPTED:
        return _failed("interrupted", INTERRUPTED)
    return int(code or 0)


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
    """Nothing but the options that belong to no command."""

"""The command line: `airpath COMMAND …`."""

import os
import sys
from collections.abc import Callable, Sequence
from typing import Final

import typer

from airpath.cli import (
    check,
    compare,
    diff,
    doctor,
    emulate,
    estimate,
    fit,
    gap,
    lint,
    listing,
    reproduce,
    rerun,
    rivals,
    run,
    sweep,
    trace,
    validate,
)
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
app.command("rivals", help=rivals.HELP)(rivals.rivals)
app.command("gap", help=gap.HELP)(gap.gap)
app.command("emulate", help=emulate.HELP)(emulate.emulate)
app.command("rerun", help=rerun.HELP)(rerun.rerun)
app.command("check", help=check.HELP)(check.check)
app.command("diff", help=diff.HELP)(diff.diff)
app.command("sweep", help=sweep.HELP)(sweep.sweep)
app.command("reproduce", help=reproduce.HELP)(reproduce.reproduce)
app.command("estimate", help=estimate.HELP)(estimate.estimate)
app.command("fit", help=fit.HELP)(fit.fit)
app.command("lint", help=lint.HELP)(lint.lint)
app.command("validate", help=validate.HELP)(validate.validate)
app.command("list", help=listing.HELP)(listing.list_)
app.add_typer(trace.app, name="trace")
app.command("doctor", help=doctor.HELP)(doctor.doctor)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit code.

    Exit codes: 0 when all is well, 2 for a wrong command line or scenario, 130 after Ctrl-C, 1 for
    everything else.

    Parameters
    ----------
    arguments
        The arguments; by default those of the process.
    """
    sys.exit(guarded(lambda: app(arguments, prog_name="airpath", standalone_mode=False)))


def guarded(work: Callable[[], int | None]) -> int:
    """Do some work; every failure becomes one message on standard error and an exit code.

    Parameters
    ----------
    work
        What to do; returns an exit code, or nothing when all is well.
    """
    traceback = bool(os.environ.get("AIRPATH_TRACEBACK"))
    try:
        code = work()
        sys.stdout.flush()
    except typer.TyperException as error:
        return _misused(error)
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except BrokenPipeError:
        # The reader has gone, as in `airpath list | head -1`; nothing may be written at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OTHER_FAULT
    except Exception as error:
        if traceback:
            raise
        return _refused(error)
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
    """Say what is wrong with the arguments; nothing if there were none and the help has been shown."""
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
    """Nothing but the options that belong to no command."""

"""The commands, grouped by task. The module of a command is imported only when the command runs.

Other distributions add commands with entry points. They are looked up only for help and for a name that
airpath itself does not know, because that takes milliseconds.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from airpath._entry_points import load_entry_points, reject_entry_point
from airpath.commands import Command
from airpath.errors import UsageError

GROUP: Final = "airpath.commands"
"""The group of entry points whose objects are commands (`Command`)."""
DISTRIBUTIONS: Final[Mapping[str, str]] = {"lint": "airpath-lint", "reproduce": "airpath-papers"}
"""Commands of this repository that are not in the distribution airpath, and the distributions that are."""

TASKS: Final[Mapping[str, Mapping[str, str]]] = {
    "Simulate": {
        "run": "Run a scenario file and write its tables and a report.",
        "compare": "Compare congestion-control schemes on one link and write tables and a report.",
        "rivals": "Measure fairness: run every pair of schemes on one link and report shares and delays.",
        "sweep": "Run a scenario over many values of its keys and write the results as Parquet tables.",
        "leaderboard": (
            "Rank senders, capacity sources or estimators, also your own, over fixed cases with intervals."
        ),
    },
    "Measure": {
        "estimate": (
            "Report the bandwidth of flows in captures (pcap, pcapng) or QUIC logs (qlog), and what limited"
            " them."
        ),
        "fit": "Fit a Gilbert-Elliott loss model to a capture or a loss trace and print it as configuration.",
        "trace": "Inspect and convert link traces, and summarise logs of emulated links.",
    },
    "Verify": {
        "conform": "Check controllers against the rules for controllers and print what breaks one.",
        "check": "Check a scheme against a suite of expectations and report those that are not met.",
        "rerun": "Repeat the runs of a results directory and report whether the tables are identical.",
        "diff": "Compare two results directories: configuration, metrics, and intervals of the differences.",
        "gap": (
            "Run a scenario on several backends (simulator, QUIC stack, Linux kernel) and report the"
            " differences."
        ),
    },
    "Tools": {
        "list": (
            "List schemes, estimators, queues, links, networks, scenarios, sweeps or suites, or count them."
        ),
        "new": "Write a component to start from: a controller, an estimator, a capacity source or a queue.",
        "validate": "Validate a scenario file without running it and report what is wrong.",
        "schema": "Print the JSON schema of scenarios, for completion and checks in an editor.",
        "emulate": "Run a command over an emulated link, with real packets and the kernel's TCP.",
        "view": "Show results in a browser: any below a directory, overlays, differences, sweeps.",
        "figures": "Draw the figures of a result directory as PNG, SVG or PDF files.",
        "doctor": "Check this installation and report what works, what is missing, and how to get it.",
    },
}
"""The first sentence of the help of each command, by task, in the order of `airpath --help`.

The module `airpath.cli.NAME` contains the rest of the help as `HELP` and the command as a function with the
name of the module.
"""

SUMMARIES: Final = {name: summary for commands in TASKS.values() for name, summary in commands.items()}
TARGETS: Final = {"list": "airpath.cli.listing:listing", "trace": "airpath.cli.trace:app"}
"""The code of the commands whose module or function has another name."""

COMMANDS: Final[Mapping[str, Command]] = {
    name: Command(summary, TARGETS.get(name, f"airpath.cli.{name}:{name}"), task)
    for task, summaries in TASKS.items()
    for name, summary in summaries.items()
}
"""The commands of airpath itself."""


class CommandGroup(TyperGroup):
    """A group that lists its commands without importing their modules."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._rows = dict(COMMANDS)
        self._is_complete = False
        self._list_rows()

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands, in the order of help."""
        self._look_up()
        return super().list_commands(ctx)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command without its options; `None` if there is none of this name."""
        if cmd_name not in self.commands:
            self._look_up()
        return super().get_command(ctx, cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Import the command that the arguments name; return its name, the command and its arguments."""
        if args and not ctx.resilient_parsing and self.get_command(ctx, args[0]) is None:
            _reject_if_elsewhere(args[0])
        name, _, rest = super().resolve_command(ctx, args)
        return name, None if name is None else load(name, self._rows[name]), rest

    def _look_up(self) -> None:
        if not self._is_complete:
            self._is_complete = True
            self._rows = all_commands()
            self._list_rows()

    def _list_rows(self) -> None:
        self.commands.clear()
        for name, row in self._rows.items():
            self.add_command(TyperCommand(name, help=row.summary, rich_help_panel=row.task), name)


def all_commands() -> dict[str, Command]:
    """Return the commands of airpath and of other installed distributions, in the order of help."""
    rows = dict(COMMANDS)
    for name, distribution, row in load_entry_points(GROUP):
        if not isinstance(row, Command):
            reason = f"found {type(row).__name__}; accepted: airpath.commands.Command"
            reject_entry_point(GROUP, name, distribution, reason)
        elif name in rows:
            reject_entry_point(GROUP, name, distribution, "another command has this name")
        else:
            names = list(rows)
            place = names.index(row.before) if row.before in rows else len(names)
            entries = list(rows.items())
            rows = dict([*entries[:place], (name, row), *entries[place:]])
    return rows


def load(name: str, row: Command) -> Any:
    """Import a command and return it as a Typer command."""
    module_name, _, attribute = row.target.partition(":")
    module = import_module(module_name)
    code = getattr(module, attribute)
    if isinstance(code, typer.Typer):
        return get_command(code)
    app = typer.Typer(add_completion=False, rich_markup_mode="markdown")
    app.command(name, help=f"{row.summary}\n\n{getattr(module, 'HELP', '')}")(code)
    return get_command(app)


def _reject_if_elsewhere(name: str) -> None:
    if distribution := DISTRIBUTIONS.get(name):
        raise UsageError(
            f"the command {name} is in the distribution {distribution}, which is not installed; run"
            f" `pip install {distribution}`, or `make build` in a checkout"
        )

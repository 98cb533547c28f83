"""The commands, grouped by task. The module of a command is imported only when the command runs."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

TASKS: Final[Mapping[str, Mapping[str, str]]] = {
    "Simulate": {
        "run": "Run a scenario file and write its tables and a report.",
        "compare": "Compare congestion-control schemes on one link and write tables and a report.",
        "rivals": "Measure fairness: run every pair of schemes on one link and report shares and delays.",
        "sweep": "Run a scenario over many values of its keys and write the results as Parquet tables.",
    },
    "Measure": {
        "estimate": (
            "Estimate bandwidth from packet captures (pcap, pcapng) or QUIC logs (qlog), also"
            " gzip-compressed."
        ),
        "fit": "Fit a Gilbert-Elliott loss model to a capture or a loss trace and print it as configuration.",
        "trace": "Inspect and convert link traces, and summarise logs of emulated links.",
    },
    "Verify": {
        "check": "Check a scheme against a suite of expectations and report those that are not met.",
        "rerun": "Repeat the runs of a results directory and report whether the tables are identical.",
        "diff": "Compare two results directories: configuration, metrics, and intervals of the differences.",
        "gap": (
            "Run a scenario on several backends (simulator, QUIC stack, Linux kernel) and report the"
            " differences."
        ),
        "reproduce": "Reproduce figures and tables of the papers and report whether their claims hold.",
    },
    "Tools": {
        "list": (
            "List schemes, estimators, queues, links, networks, scenarios, sweeps or suites, or count them."
        ),
        "validate": "Validate a scenario file without running it and report what is wrong.",
        "emulate": "Run a command over an emulated link, with real packets and the kernel's TCP.",
        "lint": "Check a `tc`/netem configuration: describe the resulting link and flag mistakes.",
        "figures": "Draw the figures of a result directory as PNG and SVG files.",
        "doctor": "Check this installation and report what works, what is missing, and how to get it.",
    },
}
"""The first sentence of the help of each command, by task, in the order of `airpath --help`.

The module `airpath.cli.NAME` contains the rest of the help as `HELP` and the command as a function with the
name of the module. The module of a group of commands contains `app` instead.
"""

SUMMARIES: Final = {name: summary for commands in TASKS.values() for name, summary in commands.items()}
MODULES: Final = {"list": "listing"}
"""Modules whose name differs from that of their command."""


class CommandGroup(TyperGroup):
    """A group that lists its commands without importing their modules."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for task, summaries in TASKS.items():
            for name, summary in summaries.items():
                self.add_command(TyperCommand(name, help=summary, rich_help_panel=task), name)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Import the command that the arguments name; return its name, the command and its arguments."""
        name, _, rest = super().resolve_command(ctx, args)
        return name, None if name is None else command(name), rest


def command(name: str) -> Any:
    """Import a command and return it as a Typer command."""
    module_name = MODULES.get(name, name)
    module = import_module(f"airpath.cli.{module_name}")
    if hasattr(module, "app"):
        return get_command(module.app)
    app = typer.Typer(add_completion=False, rich_markup_mode="markdown")
    app.command(name, help=f"{SUMMARIES[name]}\n\n{module.HELP}")(getattr(module, module_name))
    return get_command(app)

"""`airpath view`."""

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from airpath.cli.output import show
from airpath.cli.place import OUT

HELP = """\
Lists all results below the directories, also those that appear later, and shows one, several in one view, or
the differences of two. A zoomed range of one scheme shows single flows and recorded packets. Sweeps are maps
of two axes. The address works on this machine only; nothing is written. Ctrl-C ends the command.

Examples:

    airpath view

    airpath view out ../other-results --no-browser
"""


def view(
    directories: Annotated[
        list[Path] | None, typer.Argument(help="Directories with results; default: out.", show_default=False)
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = 0,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Only print the address.")] = False,
) -> None:
    """Show results in a browser."""
    from airpath.viewer.server import Viewer

    with Viewer(directories or [OUT], port) as viewer:
        show(f"viewer: {viewer.address}")
        if not no_browser:
            webbrowser.open(viewer.address)
        try:
            viewer.serve_forever()
        except KeyboardInterrupt:
            show("stopped")

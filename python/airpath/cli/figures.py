"""`airpath figures`."""

from pathlib import Path
from typing import Annotated

import typer

from airpath.cli.output import ForceOption, JobsOption, OutOption, show
from airpath.cli.place import LATEST

HELP = """\
Examples:

    airpath figures

    airpath figures out/compare-12mbps --out paper
"""


def figures(
    results: Annotated[
        Path, typer.Argument(help="A result directory of `run`, `compare`, `gap` or `rerun`.")
    ] = LATEST,
    jobs: JobsOption = None,
    out: OutOption = None,
    force: ForceOption = False,
) -> None:
    """Draw the figures of results."""
    from airpath.cli.place import claim
    from airpath.errors import UsageError
    from airpath.results import read
    from airpath.runner import workers

    if not results.is_dir():
        raise UsageError(f"{results}: there is no such directory; accepted: a directory of results")
    if (results / "rivals.json").exists():
        raise UsageError(f"{results}: these are pairs of schemes; `airpath rivals … --figures` draws them")
    drawn = read(results)
    from airpath.plots import save_figures, standard_figures  # here, because matplotlib is slow to import

    # The link may point to other results when the figures are drawn.
    folder = results.parent / results.readlink() if results.is_symlink() else results
    target = claim(out, folder / "figures", force=force, may_replace=lambda folder: folder.name == "figures")
    save_figures(standard_figures(drawn), target, workers(jobs))
    show(f"figures: {target}")

"""`airpath figures`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from airpath.cli.output import ForceOption, JobsOption, OutOption, show
from airpath.cli.place import LATEST

if TYPE_CHECKING:
    from airpath.plots import StandardFigure

HELP = """\
Examples:

    airpath figures

    airpath figures out/compare-12mbps --out paper

    airpath figures out/compare-12mbps --format pdf --only trade-off,window
"""


def figures(
    results: Annotated[
        Path, typer.Argument(help="A result directory of `run`, `compare`, `gap` or `rerun`.")
    ] = LATEST,
    kinds: Annotated[
        str, typer.Option("--format", metavar="LIST", help="Kinds of files, with commas: png, svg, pdf.")
    ] = "png,svg",
    only: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="Figures, with commas, by name or its beginning, such as trade-off,window; default: all.",
            show_default=False,
        ),
    ] = None,
    jobs: JobsOption = None,
    out: OutOption = None,
    force: ForceOption = False,
) -> None:
    """Plot the figures of results."""
    from airpath.cli.place import claim
    from airpath.errors import UsageError
    from airpath.results import read
    from airpath.runner import workers

    if not results.is_dir():
        raise UsageError(f"{results}: there is no such directory; accepted: a directory of results")
    if (results / "rivals.json").exists():
        raise UsageError(f"{results}: these are pairs of schemes; `airpath rivals … --figures` draws them")
    drawn = read(results)
    from airpath.plots import KINDS, save_figures, standard_figures  # here, because matplotlib is slow

    wanted = [kind for kind in KINDS if kind in kinds.split(",")]
    if unknown := sorted({*kinds.split(",")} - {*KINDS}):
        raise UsageError(f"--format: found {unknown[0]!r}; accepted: {', '.join(KINDS)}, with commas")
    chosen = _chosen(standard_figures(drawn), only)
    # The link may point to other results when the figures are plotted.
    folder = results.parent / results.readlink() if results.is_symlink() else results
    target = claim(out, folder / "figures", force=force, may_replace=lambda folder: folder.name == "figures")
    save_figures(chosen, target, workers(jobs), wanted)
    show(f"figures: {target}")


def _chosen(figures: "list[StandardFigure]", only: str | None) -> "list[StandardFigure]":
    """Return the figures whose names begin with one of the listed names."""
    from airpath.errors import UsageError

    if only is None:
        return figures
    chosen: dict[str, StandardFigure] = {}
    for name in only.split(","):
        found = {one.name: one for one in figures if one.name == name or one.name.startswith(f"{name}-")}
        if not found:
            names = ", ".join(one.name for one in figures)
            raise UsageError(f"--only: found {name!r}; accepted: {names}, or their beginnings")
        chosen |= found
    return list(chosen.values())

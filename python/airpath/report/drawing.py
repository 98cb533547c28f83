"""Figures and report of results whose tables are written."""

import json
from collections.abc import Sequence
from pathlib import Path

from airpath.durable import write_whole
from airpath.errors import OutputError
from airpath.plots import render_figures, save_figures, standard_figures
from airpath.report.html import Section, report_html
from airpath.results import Results


def draw(
    results: Results,
    directory: Path,
    *,
    figures: bool,
    report: bool,
    sections: Sequence[Section] = (),
    standard: bool = True,
    workers: int = 1,
) -> None:
    """Draw figures into the directory of results, and write its report.

    Parameters
    ----------
    results
        The results; their tables are in the directory.
    directory
        Where they are.
    figures, report
        Whether to write the figures as files, and ``report.html``.
    sections
        More sections of the report, with figures of their own.
    standard
        Whether the standard figures are drawn and the report compares the schemes.
    workers
        How many processes draw, if there are many figures.

    Raises
    ------
    airpath.errors.OutputError
        If something cannot be written.
    """
    drawn = standard_figures(results) if standard else []
    more = [figure for section in sections for figure in section.figures]
    try:
        if figures:
            save_figures([*drawn, *more], directory / "figures", workers)
        if report:
            render_figures([*drawn, *more], workers, kinds=("svg",))
            html = report_html(
                results,
                scenario_text=(directory / "scenario.toml").read_text(encoding="utf-8"),
                provenance=json.loads((directory / "provenance.json").read_text(encoding="utf-8")),
                figures=drawn,
                sections=sections,
                compared=standard,
            )
            write_whole(directory / "report.html", html.encode(), forced=False)
    except OSError as error:
        raise OutputError(f"cannot write to {directory}: {error.strerror or error}") from None

"""The report of results whose tables are already written."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from airpath._os.durable import write_whole
from airpath.errors import OutputError
from airpath.explorer.page import page
from airpath.results import Results
from airpath.views.model import Section, View
from airpath.views.view import view_of


def write_report(
    results: Results, directory: Path, *, sections: Sequence[Section] = (), compared: bool = True
) -> None:
    """Write ``report.html``.

    Parameters
    ----------
    results
        The results; their tables, scenario and provenance are in the directory.
    directory
        Their directory.
    sections
        Sections of the command; their figures come first.
    compared
        Whether the report compares the schemes.

    Raises
    ------
    airpath.errors.OutputError
        If the report cannot be written.
    """
    try:
        provenance = json.loads((directory / "provenance.json").read_text(encoding="utf-8"))
        scenario = (directory / "scenario.toml").read_text(encoding="utf-8")
        view = view_of(results, provenance=provenance, sections=sections, compared=compared)
    except OSError as error:
        raise OutputError(f"cannot read {directory}: {error.strerror or error}") from None
    write_page(view, directory / "report.html", scenario_text=scenario, provenance=provenance)


def write_page(
    view: View, file: Path, *, scenario_text: str = "", provenance: Mapping[str, Any] | None = None
) -> None:
    """Write the page of a view, completely or not at all.

    Parameters
    ----------
    view, scenario_text, provenance
        As for `airpath.explorer.page.page`.
    file
        The file to write.

    Raises
    ------
    airpath.errors.OutputError
        If the page cannot be written.
    """
    text = page(view, scenario_text=scenario_text, provenance=provenance)
    try:
        write_whole(file, text.encode(), forced=False)
    except OSError as error:
        raise OutputError(f"cannot write {file}: {error.strerror or error}") from None

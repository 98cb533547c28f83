"""The view of results: the complete content of a report."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from airpath.results import Results
from airpath.views.details import details, validity
from airpath.views.distributions import distributions
from airpath.views.findings import findings
from airpath.views.groups import OTHER
from airpath.views.model import Section, View
from airpath.views.outside import outside
from airpath.views.over_time import over_time
from airpath.views.styles import NO_SCHEME, Style, style_for
from airpath.views.table import LOOKED_AT, note, pairs, points, table
from airpath.views.title import facts_line, title

FEW: Final = 3
"""The largest number of schemes without comparison that are all shown at first; of more, one is shown."""


def view_of(
    results: Results,
    *,
    provenance: Mapping[str, Any] | None = None,
    sections: Sequence[Section] = (),
    compared: bool = True,
    style: Style | None = None,
    dashes: Sequence[int] = (),
) -> View:
    """Return the view of results.

    Parameters
    ----------
    results
        The results.
    provenance
        The content of ``provenance.json``, if there is any.
    sections
        Sections of the command; their figures come first.
    compared
        Whether to compare the schemes, and to report the differences between them.
    style
        Style of each scheme; as registered by default. Flows are not shown by groups if it is given.
    dashes
        Dash of each scheme, by number; different ones by default.
    """
    seeds = list(dict.fromkeys(run.record.seed for run in results.runs))
    panels = over_time(results, seeds, apart=(None if compared else True) if style is None else False)
    looks = dict(style_for(dict.fromkeys((*results.schemes, *panels.looks)))) | {OTHER: NO_SCHEME}
    style = looks | dict(style or {})
    capacities = results.summary["capacity_mbps"].to_numpy()
    return View(
        title=title(results, "schemes" if compared else "pairs of schemes"),
        facts=facts_line(results, provenance or {}),
        findings=findings(results.summary, lambda scheme: style[scheme].display_name) if compared else "",
        schemes=results.schemes,
        style=style,
        dashes=dashes or range(len(results.schemes)),
        seeds=seeds,
        compared=compared,
        columns=table(results),
        table_note=note(results),
        shown=1 if not compared and len(results.schemes) > FEW else len(results.schemes),
        points=points(results, seeds) if compared else [],
        capacity_mbps=float(np.mean(capacities)) if len(capacities) else math.nan,
        over_time=panels,
        distributions=distributions(results),
        pairs=pairs(results) if compared else [],
        pairs_note=LOOKED_AT if results.until is not None else "",
        noun="scheme" if compared else "pair",
        sections=[*validity(results), *sections],
        details=[*details(results, style, compared=compared), *outside(provenance or {})],
    )

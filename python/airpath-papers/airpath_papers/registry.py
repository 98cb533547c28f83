"""Every figure that can be reproduced, by name.

Other distributions add figures with entry points in the group `airpath.figures`.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from airpath._entry_points import load_entry_points, reject_entry_point
from airpath._nearest import suggestion
from airpath.errors import UsageError
from airpath_papers import (
    ablation,
    ablation_cubic,
    beyond,
    diagnosis,
    ebe_c,
    ebe_j,
    estimators,
    gm,
    sarbe,
    satellite,
    vcp_w,
)
from airpath_papers.figure import Figure

FIGURES: Final[tuple[Figure, ...]] = (
    *ebe_j.FIGURES,
    *ebe_c.FIGURES,
    *gm.FIGURES,
    *sarbe.FIGURES,
    *vcp_w.FIGURES,
    *estimators.FIGURES,
    *diagnosis.FIGURES,
    *satellite.FIGURES,
    *ablation.FIGURES,
    *ablation_cubic.FIGURES,
    *beyond.FIGURES,
)
"""The figures of this distribution, in the order of the report."""
GROUP: Final = "airpath.figures"
"""The group of entry points whose objects are sequences of figures."""
OURS: Final = "ours"
"""The name for figures that are not in a paper."""
ALL: Final = "all"
"""The name for all figures."""


def figures() -> tuple[Figure, ...]:
    """Return the figures of this distribution, then those of other installed distributions."""
    found = {figure.id: figure for figure in FIGURES}
    for name, distribution, added in load_entry_points(GROUP):
        if reason := _rejected(added, found):
            reject_entry_point(GROUP, name, distribution, reason)
        else:
            found |= {figure.id: figure for figure in added}
    return tuple(found.values())


def figure_named(name: str) -> Figure:
    """Return the figure of this name, which exists."""
    if own := [figure for figure in FIGURES if figure.id == name]:
        return own[0]
    return next(figure for figure in figures() if figure.id == name)


def _rejected(added: Any, known: Mapping[str, Figure]) -> str:
    """Return the reason why figures cannot be added; empty if they can."""
    if not isinstance(added, Sequence) or not all(isinstance(one, Figure) for one in added):
        return f"found {type(added).__name__}; accepted: a sequence of airpath_papers.figure.Figure"
    ids = [one.id for one in added]
    if taken := [one for one in ids if one in known or ids.count(one) > 1]:
        return f"another figure has the id {taken[0]}"
    return ""


def select_on_kernel(names: Sequence[str]) -> list[Figure]:
    """Return the figures of `select` that run on real kernels.

    Raises
    ------
    UsageError
        If there is none; the message lists all that do.
    """
    if chosen := [figure for figure in select(names) if figure.kernel is not None]:
        return chosen
    what = ", ".join(names)
    there = ", ".join(figure.id for figure in figures() if figure.kernel is not None)
    raise UsageError(f'no figure of "{what}" runs on real kernels (backend emulate); available: {there}')


def select(names: Sequence[str] = ()) -> list[Figure]:
    """Return figures by name, each once, in the order of the report.

    Parameters
    ----------
    names
        If empty, the figures of the papers. `ours` selects those not in a paper, `all` both; other names
        select a paper (`ebe-j`, including our figures about it), a figure (`ebe-j/fig3a`), or several with a
        common prefix (`ebe-j/fig3`).

    Raises
    ------
    UsageError
        If a name matches nothing; the message names the nearest.
    """
    known = figures()
    if not names:
        return [figure for figure in known if not figure.ours]
    chosen = {figure.id for name in names for figure in _named(name, known)}
    return [figure for figure in known if figure.id in chosen]


def _named(what: str, known: Sequence[Figure]) -> list[Figure]:
    if what == ALL:
        return list(known)
    if what == OURS:
        return [figure for figure in known if figure.ours]
    if chosen := [figure for figure in known if figure.id == what]:
        return chosen
    if chosen := [figure for figure in known if figure.id.split("/")[0] == what]:
        return chosen
    if "/" in what and (chosen := [figure for figure in known if _is_part(figure, what)]):
        return chosen
    papers = dict.fromkeys(figure.id.split("/")[0] for figure in known)
    accepted = [ALL, OURS, *papers, *(figure.id for figure in known)]
    raise UsageError(f'no paper or figure is named "{what}"; {suggestion(what, accepted)}')


def _is_part(figure: Figure, what: str) -> bool:
    """Return whether this is a part (a, b, …) of the figure `what`."""
    rest = figure.id.removeprefix(what)
    return rest != figure.id and len(rest) == 1 and rest.isalpha()

"""Every figure that can be reproduced, by name."""

from collections.abc import Sequence
from typing import Final

from airpath.errors import UsageError
from airpath.nearest import suggestion
from airpath_papers import ablation, ablation_cubic, ebe_c, ebe_j, estimators, gm, sarbe, satellite, vcp_w
from airpath_papers.figure import Figure

FIGURES: Final[tuple[Figure, ...]] = (
    *ebe_j.FIGURES,
    *ebe_c.FIGURES,
    *gm.FIGURES,
    *sarbe.FIGURES,
    *vcp_w.FIGURES,
    *estimators.FIGURES,
    *satellite.FIGURES,
    *ablation.FIGURES,
    *ablation_cubic.FIGURES,
)
"""Every figure, in the order of the report."""
OURS: Final = "ours"
"""What is in no paper, by this name."""
ALL: Final = "all"
"""Everything, by this name."""


def select_on_kernel(names: Sequence[str]) -> list[Figure]:
    """Return those of the figures that `select` returns which run on real kernels.

    Raises
    ------
    UsageError
        If there is none; the text names those that there are.
    """
    if chosen := [figure for figure in select(names) if figure.kernel is not None]:
        return chosen
    what = ", ".join(names)
    there = ", ".join(figure.id for figure in FIGURES if figure.kernel is not None)
    raise UsageError(f'nothing of "{what}" runs on real kernels (world emulate); there are {there}')


def select(names: Sequence[str] = ()) -> list[Figure]:
    """Return figures by name, each once, in the order of the report.

    Parameters
    ----------
    names
        None for what the papers have. `ours` is what they do not have, `all` both; others name a paper
        (`ebe-j`, with what is ours about it), a figure (`ebe-j/fig3a`), or several that begin alike
        (`ebe-j/fig3`).

    Raises
    ------
    UsageError
        If there is none of one of these names; the text names the nearest.
    """
    if not names:
        return [figure for figure in FIGURES if not figure.ours]
    chosen = {figure.id for name in names for figure in _named(name)}
    return [figure for figure in FIGURES if figure.id in chosen]


def _named(what: str) -> list[Figure]:
    if what == ALL:
        return list(FIGURES)
    if what == OURS:
        return [figure for figure in FIGURES if figure.ours]
    if chosen := [figure for figure in FIGURES if figure.id == what]:
        return chosen
    if chosen := [figure for figure in FIGURES if figure.id.split("/")[0] == what]:
        return chosen
    if "/" in what and (chosen := [figure for figure in FIGURES if _is_part(figure, what)]):
        return chosen
    papers = dict.fromkeys(figure.id.split("/")[0] for figure in FIGURES)
    known = [ALL, OURS, *papers, *(figure.id for figure in FIGURES)]
    raise UsageError(f'there is nothing to reproduce under "{what}"; {suggestion(what, known)}')


def _is_part(figure: Figure, what: str) -> bool:
    """Tell whether this is a part (a, b, …) of the figure `what`."""
    rest = figure.id.removeprefix(what)
    return rest != figure.id and len(rest) == 1 and rest.isalpha()

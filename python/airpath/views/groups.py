"""Flows of a run that share a line: all flows under test, or each group of flows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from airpath.metrics.run import columns, flows_under_test, link_under_test
from airpath.results import RunResult

Columns = Mapping[str, npt.NDArray[Any]]
"""Columns of a table, by name."""


@dataclass(frozen=True)
class Group:
    """Flows that share a line in each panel.

    Attributes
    ----------
    label
        Name of the group; empty if it contains all flows of the run.
    look
        Scheme of its flows; empty if all flows of the run have the same.
    flows
        Their numbers.
    controlled
        Whether they have congestion windows.
    """

    label: str
    look: str
    flows: npt.NDArray[np.int64]
    controlled: bool


OTHER = "other traffic"
"""Id of the style of lines of flows without a controller (`airpath.views.styles.NO_SCHEME`)."""


def groups_of(run: RunResult, *, apart: bool) -> list[Group]:
    """Return the flows that share lines.

    Parameters
    ----------
    run
        The run.
    apart
        Return all flows measured at the link under test, by their groups, instead of the flows under test
        as one group.
    """
    plan, flows = run.record.plan, columns(run.flows)
    if not apart:
        tested = flows_under_test(plan, flows)
        return [Group("", "", flows["flow"][tested], bool(_controlled(plan, flows)[tested].any()))]
    link = link_under_test(plan)
    here = np.array([source["measured_at"] == link for source in plan["flows"]], dtype=bool)[flows["source"]]
    names = list(dict.fromkeys(flows["group"][here]))
    schemes = [flows["flow_scheme"][here & (flows["group"] == name)][0] for name in names]
    alike = len({scheme for scheme in schemes if scheme is not None}) == 1
    return [
        Group(
            "" if len(names) == 1 else _label(name, scheme),
            OTHER if scheme is None else "" if alike else scheme,
            flows["flow"][here & (flows["group"] == name)],
            scheme is not None,
        )
        for name, scheme in zip(names, schemes, strict=True)
    ]


def flows_under_test_of(run: RunResult) -> npt.NDArray[np.int64]:
    """Return the numbers of the flows under test."""
    flows = columns(run.flows)
    numbers: npt.NDArray[np.int64] = flows["flow"][flows_under_test(run.record.plan, flows)]
    return numbers


def _label(name: str, scheme: str | None) -> str:
    return "" if name == scheme else name


def _controlled(plan: Mapping[str, Any], flows: Columns) -> npt.NDArray[np.bool_]:
    of_source = np.array([flow.get("controller") is not None for flow in plan["flows"]], dtype=bool)
    controlled: npt.NDArray[np.bool_] = of_source[flows["source"]]
    return controlled


def schemes_of(groups: Sequence[Group]) -> list[str]:
    """Return the schemes whose styles the groups need."""
    return [group.look for group in groups if group.look and group.look != OTHER]

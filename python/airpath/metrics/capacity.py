"""When the capacity of a link may change, as its plan says."""

import json
from itertools import pairwise

from airpath import _core
from airpath.metrics.time_bins import Plan


def capacity_changes_s(plan: Plan, link: int) -> list[float]:
    """Return the times at which a link's capacity may change, in seconds; none for traces."""
    starts, period = changes_of(plan, link) or ([], None)
    duration_ns = plan["duration_ns"]
    rounds = range(0, duration_ns, period or duration_ns)
    changes = [again + start for again in rounds for start in starts if 0 < again + start < duration_ns]
    return [change / 1e9 for change in changes]


def changes_of(plan: Plan, link: int) -> tuple[list[int], int | None] | None:
    """Return when a link's rate may change, as `_core.rate_changes` does."""
    return _core.rate_changes(json.dumps(plan["links"][link]["rate"]))


def constant_stretches_s(plan: Plan, link: int) -> list[tuple[float, float]]:
    """Return start and end in seconds of each stretch of constant capacity; none for traces."""
    if changes_of(plan, link) is None:
        return []
    return list(pairwise([0.0, *capacity_changes_s(plan, link), plan["duration_ns"] / 1e9]))

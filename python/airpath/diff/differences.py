"""Differences between two results."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from airpath.diff.sides import Side, Variant, read_side
from airpath.errors import UsageError
from airpath.metrics import METRICS
from airpath.results.changes import Change, changes, environment_changes, input_changes
from airpath.statistics import MeanDifference, MeanEstimate, mean_difference

PLAN = "plan"
"""Name of the resolved scenario among the facts; its text is too long to be shown."""


@dataclass(frozen=True, slots=True)
class MetricDifference:
    """One metric of one scheme in both results.

    Attributes
    ----------
    label
        The scheme, in a sweep with the values of the axes; both labels if they differ.
    metric
        The metric, of `airpath.metrics.METRICS`.
    first, second
        The measured means.
    difference
        The second minus the first.
    """

    label: str
    metric: str
    first: MeanEstimate
    second: MeanEstimate
    difference: MeanDifference

    @property
    def share(self) -> float:
        """The difference as a share of the first mean; infinite if that is zero, NaN if one has no value."""
        difference = self.difference.difference
        if self.first.mean == 0.0:
            return math.copysign(math.inf, difference) if difference else 0.0
        return difference / abs(self.first.mean)

    @property
    def improves(self) -> bool | None:
        """Whether the second is better; ``None`` if no direction is better, or one side has no value."""
        better, difference = METRICS[self.metric].better, self.difference.difference
        if not better or math.isnan(difference):
            return None
        return (difference > 0.0) == (better == "higher")


@dataclass(frozen=True)
class ResultsDifference:
    """All differences between two results.

    Attributes
    ----------
    first, second
        The directories.
    changes
        Differences in configuration: keys of scenarios, seeds, backends, inputs, versions, platform.
    only_first, only_second
        Labels that exist on only one side.
    metrics
        The metrics that differ: first those whose interval excludes zero, then the others, each by share.
    same
        Number of metrics, over all labels, that do not differ.
    """

    first: Path
    second: Path
    changes: tuple[Change, ...]
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]
    metrics: tuple[MetricDifference, ...]
    same: int

    @property
    def is_empty(self) -> bool:
        """Whether nothing differs."""
        return not (self.changes or self.only_first or self.only_second or self.metrics)


def diff(first: str | Path, second: str | Path) -> ResultsDifference:
    """Compare two results, of runs or of sweeps.

    Schemes with the same name are compared. If each side has exactly one scheme that the other does not have,
    these two are compared as well. Metrics are compared seed by seed if at least two seeds are the same
    (paired), otherwise by Welch's interval. The date, the command and the duration of the runs are ignored.

    Parameters
    ----------
    first, second
        The directories.

    Raises
    ------
    OutputError
        If a directory contains no results, or damaged ones.
    UsageError
        If one contains runs and the other a sweep.
    """
    a, b = read_side(Path(first)), read_side(Path(second))
    if a.kind != b.kind:
        raise UsageError(
            f"found {_kind(a)} and {_kind(b)}; accepted: two results of `run`, `compare` or `gap`,"
            " or two sweeps"
        )
    pairs = _pairs(list(a.variants), list(b.variants))
    found = [
        difference
        for ours, theirs in pairs
        for difference in _metrics(_label(ours, theirs), a.variants[ours], b.variants[theirs])
    ]
    different = [one for one in found if _differs(one)]
    matched = ({ours for ours, _ in pairs}, {theirs for _, theirs in pairs})
    return ResultsDifference(
        a.directory,
        b.directory,
        tuple(_changes(a, b, pairs)),
        tuple(label for label in a.variants if label not in matched[0]),
        tuple(label for label in b.variants if label not in matched[1]),
        tuple(sorted(different, key=_order)),
        len(found) - len(different),
    )


def _kind(side: Side) -> str:
    return f"a sweep in {side.directory}" if side.kind == "sweep" else f"runs in {side.directory}"


def _pairs(first: Sequence[str], second: Sequence[str]) -> list[tuple[str, str]]:
    """Return the pairs of labels to compare."""
    pairs = [(label, label) for label in first if label in second]
    alone = [label for label in first if label not in second], [one for one in second if one not in first]
    if len(alone[0]) == len(alone[1]) == 1:
        pairs.append((alone[0][0], alone[1][0]))
    return pairs


def _label(ours: str, theirs: str) -> str:
    return ours if ours == theirs else f"{ours} → {theirs}"


def _changes(a: Side, b: Side, pairs: Sequence[tuple[str, str]]) -> list[Change]:
    found = list(changes(a.settings, b.settings))
    of_variants = {
        _label(ours, theirs): _of_variant(a.variants[ours], b.variants[theirs]) for ours, theirs in pairs
    }
    for change in dict.fromkeys(one for changed in of_variants.values() for one in changed):
        where = [label for label, changed in of_variants.items() if change in changed]
        whose = "" if len(where) == len(of_variants) else f" ({', '.join(where)})"
        found.append(replace(change, what=f"{change.what}{whose}"))
    found += input_changes(a.provenance, b.provenance)
    return [*found, *environment_changes(a.provenance, b.provenance)]


def _of_variant(ours: Variant, theirs: Variant) -> list[Change]:
    found = list(changes(ours.settings, theirs.settings))
    if ours.seeds != theirs.seeds:
        found.append(Change("seeds", seeds_text(ours.seeds), seeds_text(theirs.seeds)))
    for change in changes(ours.facts, theirs.facts):
        if change.what != PLAN:
            found.append(change)
        elif not found:
            # A different plan follows from the other differences; without any, the version caused it.
            found.append(Change("plan of the same scenario", "one", "another"))
    return found


def seeds_text(seeds: Sequence[int]) -> str:
    """Return seeds as users write them: a range, or a list."""
    if len(seeds) > 2 and list(seeds) == list(range(seeds[0], seeds[0] + len(seeds))):
        return f"{seeds[0]} to {seeds[-1]}"
    return ", ".join(map(str, seeds))


def _metrics(label: str, ours: Variant, theirs: Variant) -> list[MetricDifference]:
    nothing: Mapping[int, float] = {}
    return [
        MetricDifference(
            label,
            metric,
            MeanEstimate.of(first := ours.metrics.get(metric, nothing)),
            MeanEstimate.of(second := theirs.metrics.get(metric, nothing)),
            mean_difference(second, first),
        )
        for metric in METRICS
        if metric in ours.metrics or metric in theirs.metrics
    ]


def _differs(one: MetricDifference) -> bool:
    """Return whether anything differs: any pair if the metric is paired, else the means."""
    difference = one.difference
    return not (difference.difference == 0.0 and (difference.pairs < 2 or difference.low == difference.high))


def _order(one: MetricDifference) -> tuple[bool, float, str, str]:
    share = abs(one.share)
    return not one.difference.is_sure, -(math.inf if math.isnan(share) else share), one.label, one.metric

"""Distributions of delays and completion times, and fairness over time."""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from airpath.metrics import FAIRNESS_BIN_S, TimeBins
from airpath.metrics.run import (
    columns,
    flows_under_test,
    long_lived,
    measured_span_s,
    rows_with,
    sources_under_test,
    windowed_jain,
)
from airpath.results import Results, RunResult
from airpath.views.model import Distribution, Values

Cumulative = tuple[Values, Values]
"""Values in ascending order, and the fraction of all that does not exceed each."""
RAREST: Final = 1e-4
"""Distributions of delay end at the value that this fraction of packets exceeds."""
POINTS: Final = 160
"""The number of points of a line."""
LOGARITHMIC_FROM: Final = 20.0
"""Values that span a larger factor have a logarithmic axis."""


def distributions(results: Results) -> list[Distribution]:
    """Return the distributions of results; those without values are left out."""
    schemes = list(results.schemes)
    delays, completions = delay_distributions(results.runs), completion_distributions(results.runs)
    found = []
    if delays:
        found.append(
            Distribution(
                "One-way delay",
                "one-way delay (ms)",
                "fraction of packets that exceeds it",
                [(schemes.index(scheme), *_exceeding(*one)) for scheme, one in delays.items()],
                x_log=is_wide(list(delays.values())),
                y_log=True,
            )
        )
    if completions:
        found.append(
            Distribution(
                "Completion times",
                "completion time (s)",
                "cumulative fraction of transfers",
                [(schemes.index(scheme), *_thinned(*one)) for scheme, one in completions.items()],
                x_log=is_wide(list(completions.values())),
            )
        )
    if fairness := _fairness(results):
        found.append(fairness)
    return found


def delay_distributions(runs: Sequence[RunResult]) -> dict[str, Cumulative]:
    """Return one-way delays in ms of the flows under test, by scheme, without schemes that have none."""
    pooled: dict[str, list[Cumulative]] = {}
    for run in runs:
        histogram = columns(run.delay_histogram)
        mine = sources_under_test(run.record.plan)[histogram["source"]]
        rows = mine & rows_with(run.delay_histogram, "kind", "one-way")
        pooled.setdefault(run.record.scheme, []).append(
            (histogram["delay_s"][rows] * 1e3, histogram["packets"][rows])
        )
    return _cumulate(pooled)


def completion_distributions(runs: Sequence[RunResult]) -> dict[str, Cumulative]:
    """Return completion times in s of the transfers that count, by scheme, without schemes that have none."""
    pooled: dict[str, list[Cumulative]] = {}
    for run in runs:
        completions, flows = columns(run.completions), columns(run.flows)
        tested = flows["flow"][flows_under_test(run.record.plan, flows)]
        start_s, _ = measured_span_s(run.record.plan)
        rows = np.isin(completions["flow"], tested) & (completions["start_s"] >= start_s)
        times = (completions["end_s"] - completions["start_s"])[rows]
        pooled.setdefault(run.record.scheme, []).append((times, np.ones(times.size)))
    return _cumulate(pooled)


def is_wide(of_schemes: Sequence[Cumulative]) -> bool:
    """Return whether the positive values span a factor that needs a logarithmic axis."""
    everything = np.concatenate([values for values, _ in of_schemes]) if of_schemes else np.empty(0)
    positive = everything[everything > 0]
    return bool(positive.size and positive.max() > LOGARITHMIC_FROM * positive.min())


def _cumulate(
    pooled: Mapping[str, Sequence[tuple[Values, npt.NDArray[np.float64]]]],
) -> dict[str, Cumulative]:
    found = {}
    for scheme, parts in pooled.items():
        values = np.concatenate([part[0] for part in parts])
        counts = np.concatenate([part[1] for part in parts])
        if counts.sum() > 0:
            distinct, index = np.unique(values, return_inverse=True)
            cumulative = np.cumsum(np.bincount(index, weights=counts))
            found[scheme] = (distinct, cumulative / cumulative[-1])
    return found


def _exceeding(values: Values, fraction: Values) -> Cumulative:
    """Return at most `POINTS` values, and the fraction that exceeds each, down to `RAREST`."""
    levels = np.geomspace(1.0, RAREST, POINTS)
    places = np.unique(np.searchsorted(fraction, 1.0 - levels, side="left"))
    places = places[places < len(values)]
    rest = 1.0 - fraction[places]
    kept = rest >= RAREST
    return values[places][kept], rest[kept]


def _thinned(values: Values, fraction: Values) -> Cumulative:
    """Return at most `POINTS` values at equal fractions."""
    places = np.unique(np.searchsorted(fraction, np.arange(1, POINTS + 1) / POINTS - 1e-12))
    places = places[places < len(values)]
    return values[places], fraction[places]


def _fairness(results: Results) -> Distribution | None:
    """Return the Jain index over time of the first run of each scheme, if it has two long-lived flows."""
    schemes, lines = list(results.schemes), []
    for run in results.first_runs():
        plan, flows = run.record.plan, columns(run.flows)
        tested = flows_under_test(plan, flows) & long_lived(plan, flows)
        bins = TimeBins(plan, FAIRNESS_BIN_S)
        index = windowed_jain(columns(run.flow_series), flows["flow"][tested], flows["start_s"][tested], bins)
        known = np.isfinite(index)
        if known.any():
            lines.append((schemes.index(run.record.scheme), bins.middle_s[known], index[known]))
    if not lines:
        return None
    return Distribution(
        f"Jain index over {FAIRNESS_BIN_S:g} s, first seed", "time (s)", "Jain index (1: equal shares)", lines
    )

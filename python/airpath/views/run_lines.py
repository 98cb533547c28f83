"""Lines of one run: the state of its flows and of the link under test in each interval."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from airpath.metrics import OWN_ESTIMATOR
from airpath.metrics.run import columns, link_under_test, rows_with
from airpath.results import RunResult
from airpath.views.grid import Grid
from airpath.views.groups import Columns, Group
from airpath.views.model import Line, Values

MOST_FLOWS: Final = 8
"""The maximum number of flows of a group with lines of their own, those with the most departed bytes."""

ROUTER: Final = (
    ("load_factor", "load_factor", 1.0),
    ("feedback", "feedback", 8e-6),
    ("x1", "filter_queue", 1.0),
    ("x2", "filter_rate", 1.0),
    ("capacity_estimate_bps", "estimate", 1e-6),
)
"""Quantities of routers: name in the table, panel, factor to the unit of the panel."""


@dataclass(frozen=True)
class Place:
    """The place of a run in a view: indices of scheme and repetition."""

    scheme: int
    seed: int


def lines_of(run: RunResult, place: Place, grid: Grid, groups: Sequence[Group]) -> Iterator[tuple[str, Line]]:
    """Return the lines of a run, each with the key of its panel."""
    series = columns(run.flow_series)
    for group in groups:
        mine = np.isin(series["flow"], group.flows)
        if not mine.any():
            continue
        rows = {name: series[name][mine] for name in _SERIES}
        for key, values in _of_flows(rows, grid, controlled=group.controlled):
            if np.isfinite(values).any():
                yield key, Line(place.scheme, place.seed, values, group.label, group.look)
    yield from _of_link(run, place, grid)
    yield from _estimates(run, place, grid, groups)


def capacity_of(run: RunResult, grid: Grid) -> Values:
    """Return the capacity of the link under test in Mbit/s; NaN if it is unknown."""
    series = columns(run.link_series)
    mine = series["link"] == link_under_test(run.record.plan)
    offered = series["offered_bytes"][mine]
    if not mine.any() or np.isnan(offered).any():
        return np.full(grid.count, math.nan)
    return grid.rate_mbps(series["time_s"][mine], offered)


def flow_lines(run: RunResult, place: Place, grid: Grid, group: Group) -> Iterator[tuple[str, Line]]:
    """Return rate and window of single flows of a group, and percentiles over all flows if there are many."""
    series = columns(run.flow_series)
    mine = np.isin(series["flow"], group.flows)
    if len(group.flows) < 2 or not mine.any():
        return
    rows = {name: series[name][mine] for name in _SERIES}
    flows = np.unique(rows["flow"])
    sizes = np.bincount(np.searchsorted(flows, rows["flow"]), rows["departed_bytes"])
    largest = set(flows[np.argsort(-sizes, kind="stable")[:MOST_FLOWS]].tolist())
    for key in ("rate", "window"):
        if key == "window" and not group.controlled:
            continue
        values = {flow: _of_flow(rows, grid, flow, key) for flow in flows.tolist()}
        for flow, one in values.items():
            if flow in largest:
                yield key, Line(place.scheme, place.seed, one, f"flow {flow}", group.look, "flow")
        if len(flows) > MOST_FLOWS:
            roles: tuple[tuple[Literal["low", "high"], float], ...] = (("low", 10), ("high", 90))
            for role, percentile in roles:
                bound = _percentile(np.array(list(values.values())), percentile)
                yield key, Line(place.scheme, place.seed, bound, group.label, group.look, role)


_SERIES = ("flow", "time_s", "departed_bytes", "delay_mean_s", "cwnd_bytes")


def _of_flow(rows: Columns, grid: Grid, flow: int, key: str) -> Values:
    mine = rows["flow"] == flow
    time_s = rows["time_s"][mine]
    if key == "rate":
        return grid.rate_mbps(time_s, rows["departed_bytes"][mine])
    return grid.mean(time_s, rows["cwnd_bytes"][mine] * 1e-3)


def _percentile(rows: Values, percent: float) -> Values:
    """Return a percentile of each column over its known values, much faster than `numpy.nanpercentile`."""
    ordered = np.sort(rows, axis=0)  # NaN comes last
    count = np.isfinite(rows).sum(axis=0)
    place = np.maximum(count - 1, 0) * percent / 100
    below, columns = place.astype(np.int64), np.arange(rows.shape[1])
    above = np.minimum(below + 1, np.maximum(count - 1, 0))
    low, high = ordered[below, columns], ordered[above, columns]
    percentile: Values = low + (high - low) * (place - below)
    return percentile


def _of_flows(rows: Columns, grid: Grid, *, controlled: bool) -> Iterator[tuple[str, Values]]:
    time_s = rows["time_s"]
    yield "rate", grid.rate_mbps(time_s, rows["departed_bytes"])
    yield "delay", grid.mean(time_s, rows["delay_mean_s"] * 1e3, rows["departed_bytes"])
    if controlled:
        yield "window", grid.mean(time_s, rows["cwnd_bytes"] * 1e-3)


def _of_link(run: RunResult, place: Place, grid: Grid) -> Iterator[tuple[str, Line]]:
    link, series = link_under_test(run.record.plan), columns(run.link_series)
    mine = series["link"] == link
    queue = grid.mean(series["time_s"][mine], series["queue_mean_bytes"][mine] * 1e-3)
    if np.isfinite(queue).any():
        yield "queue", Line(place.scheme, place.seed, queue)
    table = run.link_observations
    if not len(table):
        return
    observed = columns(table)
    here = observed["link"] == link
    for quantity, key, factor in ROUTER:
        chosen = here & rows_with(table, "quantity", quantity)
        if chosen.any():
            values = grid.mean(observed["time_s"][chosen], observed["value"][chosen] * factor)
            yield key, Line(place.scheme, place.seed, values, "router" if key == "estimate" else "")


def _estimates(
    run: RunResult, place: Place, grid: Grid, groups: Sequence[Group]
) -> Iterator[tuple[str, Line]]:
    """Return the estimates of senders as means over flows, for the path or for the flow's share of it."""
    table = run.table("flow_estimates")
    if not len(table):
        return
    estimates = columns(table)
    names = dict.fromkeys(estimates["estimator"])
    for group in groups:
        mine = np.isin(estimates["flow"], group.flows)
        for name in names:
            chosen = mine & rows_with(table, "estimator", name)
            values = grid.mean(estimates["time_s"][chosen], estimates["estimate_bps"][chosen] * 1e-6)
            if np.isfinite(values).any():
                label = ", ".join(filter(None, (group.label, "" if name == OWN_ESTIMATOR else name)))
                yield "estimate", Line(place.scheme, place.seed, values, label, group.look)

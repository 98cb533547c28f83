"""Panels over time, of all runs of all schemes."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from airpath.metrics.run import columns, link_under_test
from airpath.results import Results, RunResult
from airpath.views.grid import FEWEST_INTERVALS, MOST_NUMBERS, Grid, joined, mean_over, same
from airpath.views.groups import flows_under_test_of, groups_of, schemes_of
from airpath.views.limits import limits_panel
from airpath.views.model import Line, Marks, OverTime, Panel, Values
from airpath.views.run_lines import Place, capacity_of, flow_lines, lines_of

FEW_SCHEMES: Final = 3
"""The maximum number of schemes with a line for each group of flows; above it, flows under test are added."""
FLOW_VALUES: Final = 200
"""Approximate number of values of the line of a single flow; without room for them, the line is left out."""
MOST_MARKS: Final = 100
"""The maximum number of marked congestion events of one kind and run."""
MARKED: Final = ("loss", "timeout", "ecn reduction", "spurious timeout")
"""Congestion events that are marked."""


def over_time(results: Results, seeds: Sequence[int], *, apart: bool | None = None) -> OverTime:
    """Return the panels of results.

    Parameters
    ----------
    results
        The results.
    seeds
        The seeds of the results, in order.
    apart
        Whether each group of flows has lines of its own; by default if there are few schemes.
    """
    grid, schemes = Grid.of_runs(results.runs), list(results.schemes)
    apart = len(schemes) <= FEW_SCHEMES if apart is None else apart
    places = {
        run: Place(schemes.index(run.record.scheme), seeds.index(run.record.seed)) for run in results.runs
    }
    groups = {run: groups_of(run, apart=apart) for run in results.runs}
    lines: dict[str, list[Line]] = {}
    for run, place in places.items():
        for key, line in lines_of(run, place, grid, groups[run]):
            lines.setdefault(key, []).append(line)
    count = sum(map(len, lines.values()))
    shown = _seeds_shown(count, len(seeds))
    if shown < len(seeds):
        lines = {key: _reduced(of_panel, shown) for key, of_panel in lines.items()}
        count = sum(map(len, lines.values()))
    singles = [
        found
        for run, place in places.items()
        if place.seed == 0
        for group in groups[run]
        for found in flow_lines(run, place, grid, group)
    ]
    factor = max(1, math.ceil(grid.count * count / MOST_NUMBERS))
    every = max(1, grid.count // (factor * FLOW_VALUES))
    if grid.count / factor * (count + len(singles) / every) <= MOST_NUMBERS:
        for key, line in singles:
            lines.setdefault(key, []).append(replace(line, every=every))
    capacity = _capacity(places, grid)
    ends = grid.end_s
    return OverTime(
        time_s=np.array([ends[min(k + factor, grid.count) - 1] for k in range(0, grid.count, factor)]),
        step_s=grid.step_s * factor,
        capacity=[(seed, joined(values, factor)) for seed, values in capacity],
        panels=[*_panels(results, lines, factor), *limits_panel(places, grid)],
        marks=[mark for run, place in places.items() if place.seed < shown for mark in _marks(run, place)],
        seeds_shown=shown,
        looks=[one for of_run in groups.values() for one in schemes_of(of_run)],
    )


def _seeds_shown(lines: int, seeds: int) -> int:
    """Return how many seeds can have lines of their own."""
    if lines * FEWEST_INTERVALS <= MOST_NUMBERS:
        return seeds
    return max(1, int(seeds * MOST_NUMBERS / (lines * FEWEST_INTERVALS)) - 1)


def _reduced(lines: Sequence[Line], shown: int) -> list[Line]:
    """Return the lines of the first seeds, and the means over all seeds."""
    alike: dict[tuple[int, str, str], list[Line]] = {}
    for line in lines:
        alike.setdefault((line.scheme, line.label, line.look), []).append(line)
    means = [
        replace(of_seeds[0], seed=-1, values=mean_over(np.array([line.values for line in of_seeds])))
        for of_seeds in alike.values()
    ]
    return [line for line in lines if line.seed < shown] + means


def _capacity(places: dict[RunResult, Place], grid: Grid) -> list[tuple[int, Values]]:
    """Return the capacity of each seed; one for all if it is the same."""
    of_seed: dict[int, Values] = {}
    for run, place in places.items():
        if place.seed not in of_seed:
            values = capacity_of(run, grid)
            if np.isfinite(values).any():
                of_seed[place.seed] = values
    known = list(of_seed.values())
    if not known:
        return []
    return [(-1, known[0])] if same(known) else list(of_seed.items())


def _panels(results: Results, lines: dict[str, list[Line]], factor: int) -> list[Panel]:
    fewer = {
        key: [replace(line, values=joined(line.values, factor * line.every)) for line in of_panel]
        for key, of_panel in lines.items()
    }
    several = any(len(flows_under_test_of(run)) > 1 for run in results.runs)
    panels = [
        Panel("rate", "Rate over capacity (shaded)", "Mbit/s", fewer.get("rate", ()), over_capacity=True),
        Panel(
            "queue",
            "Queue",
            "kB",
            fewer.get("queue", ()),
            levels=_limit(results),
            second=_delay_of_queue(results),
        ),
        Panel("delay", "One-way delay", "ms", fewer.get("delay", ())),
        Panel(
            "window",
            "Congestion window, mean of flows" if several else "Congestion window",
            "kB",
            fewer.get("window", ()),
            marks=True,
        ),
        Panel(
            "estimate",
            f"Estimates over capacity (shaded){', mean of flows' if several else ''}",
            "Mbit/s",
            fewer.get("estimate", ()),
            over_capacity=True,
        ),
        Panel(
            "load_factor",
            "Load factor of the router",
            "",
            fewer.get("load_factor", ()),
            levels=((0.8, "high load from 0.8"), (1.0, "overload from 1")),
        ),
        Panel("feedback", "Aggregate feedback of the router", "Mbit/s", fewer.get("feedback", ())),
        Panel("filter_queue", "Queue in the router's filter (x1)", "packets", fewer.get("filter_queue", ())),
        Panel(
            "filter_rate",
            "Arrival rate in the router's filter (x2)",
            "packets/s",
            fewer.get("filter_rate", ()),
        ),
    ]
    return [panel for panel in panels if panel.lines]


def _limit(results: Results) -> list[tuple[float, str]]:
    """Return the limit of the queue in kB, if it is the same in all runs and in bytes."""
    limits = {
        plan["links"][link_under_test(plan)]["queue"].get("limit_bytes")
        for plan in (run.record.plan for run in results.runs)
        if plan["links"]
    }
    only = limits.pop() if len(limits) == 1 else None
    return [(only * 1e-3, "limit")] if only else []


def _delay_of_queue(results: Results) -> tuple[str, float] | None:
    """Return the factor from kB to ms of queueing delay at the mean capacity, if all runs have the same."""
    means = results.summary["capacity_mbps"].to_numpy()
    if not len(means) or not (means > 0).all() or np.ptp(means) > 0.01 * means.max():
        return None
    constant = all(
        plan["links"][link_under_test(plan)]["rate"]["kind"] == "constant"
        for plan in (run.record.plan for run in results.runs)
    )
    return ("ms" if constant else "ms at mean capacity"), 8.0 / float(means.mean())


def _marks(run: RunResult, place: Place) -> list[Marks]:
    events = columns(run.flow_events)
    mine = np.isin(events["flow"], flows_under_test_of(run))
    marks = []
    for event in MARKED:
        times = np.sort(events["time_s"][mine & (events["event"] == event)])
        if times.size:
            kept = times if times.size <= MOST_MARKS else times[:0]
            marks.append(Marks(place.scheme, place.seed, event, kept, times.size - kept.size))
    return marks

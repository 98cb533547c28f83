"""The view of captures: flows, their delivered rates, estimates and round trips."""

import math
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from airpath.captures.analysis import CaptureAnalysis, FlowAnalysis, Numbers
from airpath.captures.answer_view import (
    COLOURS,
    answer_lines,
    answer_text,
    bandwidth_cell,
    limit_cell,
    stretches,
)
from airpath.captures.diagnosis import HostSum
from airpath.results.formatting import NO_VALUE, number
from airpath.schemes import ESTIMATORS
from airpath.units import format_rate, format_size
from airpath.views.grid import Grid
from airpath.views.model import Cell, Column, Line, Marks, OverTime, Panel, Section, View
from airpath.views.styles import SchemeStyle, Style

MOST_FLOWS: Final = 12
"""The maximum number of flows with lines, those with most payload; the tables contain all."""
MOST_SUMS: Final = 4
"""The maximum number of sums over the flows of a host."""
MOST_ROWS: Final = 300
"""The maximum number of rows of the table of estimates."""
ROOM: Final = 1.5
"""The upper end of the axis of estimates, as a multiple of the highest delivered rate."""
_COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#882255", "#332288")
_MARKERS: Final = ("o", "s", "^", "D", "v", "P", "X", "p")
_COLUMNS: Final = (
    ("bytes", "payload", "MB", 1e-6, "payload, each byte once"),
    ("delivered_bps", "delivered", "Mbit/s", 1e-6, "payload acknowledged, from the first to the last"),
    ("rtt_min_ns", "RTT min", "ms", 1e-6, "smallest round trip"),
    ("rtt_median_ns", "RTT median", "ms", 1e-6, "median round trip"),
    ("retransmitted", "retransmitted", "packets", 1.0, "full segments retransmitted; QUIC: packets lost"),
    ("duration_ns", "duration", "s", 1e-9, "from the first to the last packet"),
    ("timeouts", "timeouts", "", 1.0, "retransmission timeouts, as inferred"),
)
_NARROW: Final = ("bytes",)
Flows = Sequence[tuple[CaptureAnalysis, FlowAnalysis]]


def view_of_captures(captures: Sequence[CaptureAnalysis]) -> View:
    """Return the view of captures: the largest flows."""
    every = [(capture, flow) for capture in captures for flow in capture.flows]
    sums = [one for capture in captures for one in capture.sums][:MOST_SUMS]
    flows = sorted(every, key=lambda pair: -pair[1].facts["bytes"])[:MOST_FLOWS]
    ids = [_id(capture, flow, len(captures)) for capture, flow in flows]
    ids += [_sum_id(one) for one in sums]
    end_s = max((float(flow.time_s[-1]) for _, flow in flows if len(flow.time_s)), default=0.0)
    width_s = min((flow.width_s for _, flow in flows if len(flow.time_s)), default=1.0)
    lines = sum(4 + len(flow.estimates_bps) for _, flow in flows)
    grid = Grid.of(width_s, end_s, lines)
    return View(
        title=_title(captures, len(every)),
        facts=_facts(captures, len(every)),
        findings=_findings(flows, sums),
        schemes=ids,
        style=_styles(ids, flows),
        dashes=[0] * len(ids),
        seeds=[0],
        compared=False,
        columns=_table(flows, sums),
        table_note=f"The {len(flows)} flows with most payload of {len(every)}."
        if len(every) > len(flows)
        else "",
        shown=1,
        points=[],
        capacity_mbps=math.nan,
        over_time=OverTime(
            time_s=grid.end_s,
            step_s=grid.step_s,
            capacity=[],
            panels=[panel for panel in _panels(flows, sums, grid) if panel.lines or panel.stretches],
            marks=[mark for place, (_, flow) in enumerate(flows) for mark in _marks(place, flow)],
            seeds_shown=1,
        ),
        distributions=[],
        pairs=[],
        details=_details(every),
        noun="flow",
        panels_first=True,
    )


def _id(capture: CaptureAnalysis, flow: FlowAnalysis, captures: int) -> str:
    return f"{capture.path.name}, flow {flow.number}" if captures > 1 else f"flow {flow.number}"


def _sum_id(one: HostSum) -> str:
    return f"{len(one.flows)} flows {'received' if one.down else 'sent'} by {one.host}"


def _title(captures: Sequence[CaptureAnalysis], flows: int) -> str:
    names = ", ".join(capture.path.name for capture in captures)
    return f"{flows} flow{'' if flows == 1 else 's'} of {names}"


def _facts(captures: Sequence[CaptureAnalysis], flows: int) -> str:
    size = sum(flow.facts["bytes"] for capture in captures for flow in capture.flows)
    kind = "QUIC log" if all(capture.is_log for capture in captures) else "packet capture"
    files = f"{kind}{'' if len(captures) == 1 else 's'}"
    return f"{files} · {flows} flow{'' if flows == 1 else 's'} with data · {format_size(size, 3)} of payload"


def _findings(flows: Flows, sums: Sequence[HostSum]) -> str:
    """Return the answers for the largest sum of a host and for the largest flow."""
    if not flows:
        return "No flow carried data."
    _, flow = flows[0]
    name = f"Flow {flow.number}, {flow.name}"
    texts = [answer_text(f"All {_sum_id(one)}", one.answer, None) for one in sums[:1]]
    return " ".join([*texts, answer_text(name, flow.diagnosis.answer, flow)])


def _styles(ids: Sequence[str], flows: Flows) -> Style:
    """Return the styles of flows, which come first, and of estimators."""
    styles = {
        one: SchemeStyle(one, _COLOURS[k % len(_COLOURS)], _MARKERS[k % len(_MARKERS)])
        for k, one in enumerate(ids)
    }
    colours = {estimator.id: estimator.colour for estimator in ESTIMATORS}
    names = dict.fromkeys(name for _, flow in flows for name in flow.estimates_bps)
    for name in names:
        styles[_look(name)] = SchemeStyle(name, colours.get(name.partition(":")[0], "#7f7f7f"), ".")
    return styles


def _look(estimator: str) -> str:
    return f"estimator {estimator}"


def _table(flows: Flows, sums: Sequence[HostSum]) -> list[Column]:
    nothing = [Cell(math.nan, math.nan, math.nan, "")] * len(sums)
    answers = [flow.diagnosis.answer for _, flow in flows] + [one.answer for one in sums]
    bandwidth = [bandwidth_cell(answer) for answer in answers]
    limits = [*(limit_cell(flow) for _, flow in flows), *nothing]
    full = "mean while the link was full; ≥: a lower bound, because it was not"
    held = "the limit that held longest"
    columns = [
        Column("bandwidth", "bandwidth", "Mbit/s", full, 1e-6, main=True, narrow=True, cells=bandwidth),
        Column("limit", "limited by", "", held, 1.0, main=True, narrow=False, cells=limits),
    ]
    for key, title, unit, factor, text in _COLUMNS:
        cells = [*(_cell(flow.facts.get(key), factor) for _, flow in flows), *nothing]
        columns.append(Column(key, title, unit, text, factor, main=True, narrow=key in _NARROW, cells=cells))
    return columns


def _cell(value: Any, factor: float) -> Cell:
    if value is None:
        return Cell(math.nan, math.nan, math.nan, NO_VALUE)
    return Cell(value * factor, math.nan, math.nan, number(value * factor))


def _panels(flows: Flows, sums: Sequence[HostSum], grid: Grid) -> list[Panel]:
    def of(column: str, factor: float) -> list[Line]:
        return [
            Line(place, 0, values)
            for place, (_, flow) in enumerate(flows)
            if (values := _mean(flow, flow.series.get(column), grid, factor)) is not None
        ]

    answers = [flow.diagnosis.answer for _, flow in flows] + [one.answer for one in sums]
    return [
        Panel(
            "answer",
            "Bandwidth, with its 95 % interval",
            "Mbit/s",
            [line for place, answer in enumerate(answers) for line in answer_lines(place, answer, grid)],
        ),
        Panel(
            "limits",
            "What limited the flow",
            "",
            (),
            stretches=[one for place, (_, flow) in enumerate(flows) for one in stretches(place, flow)],
            colours=COLOURS,
        ),
        Panel("rate", "Delivered payload", "Mbit/s", of("delivered_bps", 1e-6)),
        Panel("estimate", "Estimates of bandwidth", "Mbit/s", list(_estimates(flows, grid)), top=_top(flows)),
        Panel("rtt", "Round trip, mean", "ms", of("rtt_mean_s", 1e3), marks=True),
        Panel("rtt_min", "Round trip, smallest", "ms", of("rtt_min_s", 1e3)),
        Panel("window", "Congestion window, as logged", "kB", of("logged_congestion_window_bytes", 1e-3)),
        Panel("in_flight", "Bytes in flight, as logged", "kB", of("logged_in_flight_bytes", 1e-3)),
    ]


def _top(flows: Flows) -> float | None:
    """Return the upper end of the axis of estimates: some are far above any delivered rate."""
    highest = [float(np.nanmax(flow.series["delivered_bps"], initial=0.0)) for _, flow in flows]
    return ROOM * max(highest) * 1e-6 if highest and max(highest) > 0 else None


def _estimates(flows: Flows, grid: Grid) -> Iterator[Line]:
    for place, (_, flow) in enumerate(flows):
        for name, estimates in flow.estimates_bps.items():
            if (values := _mean(flow, estimates, grid, 1e-6)) is not None:
                yield Line(place, 0, values, name, _look(name))


def _mean(flow: FlowAnalysis, values: Numbers | None, grid: Grid, factor: float) -> Numbers | None:
    """Return the means of a series in the intervals of the grid; `None` if there is no value."""
    if values is None or not np.isfinite(values).any():
        return None
    return grid.mean(flow.time_s, values * factor)


def _marks(place: int, flow: FlowAnalysis) -> list[Marks]:
    """Return the times at which segments were retransmitted."""
    times = flow.time_s[np.nan_to_num(flow.series["retransmitted_packets"]) > 0]
    return [Marks(place, 0, "retransmission", times)] if len(times) else []


def _details(flows: Flows) -> list[Section]:
    rows = [
        [
            f"{capture.path.name}, flow {flow.number}",
            str(entry["name"]),
            NO_VALUE if entry["mean_bps"] is None else format_rate(entry["mean_bps"], 3),
            entry["missing"] or "",
        ]
        for capture, flow in flows
        for entry in flow.estimates
    ]
    note = (
        ""
        if len(rows) <= MOST_ROWS
        else f"The first {MOST_ROWS} of {len(rows)} rows; estimates.parquet has all."
    )
    head = ("flow", "estimator", "mean over time", "")
    return [
        Section(
            "estimators", "Estimators", note, tables=[{"title": "", "head": head, "rows": rows[:MOST_ROWS]}]
        )
    ]

"""A part of one run: single flows and packets in a range of time, decimated to the resolution of a screen."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from airpath.explorer.block import Block
from airpath.metrics.run import columns
from airpath.results import RunResult
from airpath.views.groups import flows_under_test_of
from airpath.views.model import Values

MOST_FLOWS: Final = 24
"""Maximum number of flows with their own lines: those with the most departed bytes in the range."""
WIDEST_PX: Final = 4000
"""Maximum width of a screen."""


def detail(run: RunResult, from_s: float, to_s: float, width_px: int) -> tuple[list[dict[str, Any]], str]:
    """Return the panels of single flows and packets as the page reads them, and their block.

    If there are more than two values per pixel, the smallest and the largest of each pixel are kept.

    Parameters
    ----------
    run
        The run.
    from_s, to_s
        The range, in seconds.
    width_px
        Width of the panels.
    """
    block, panels = Block(), []
    pixels = max(50, min(width_px, WIDEST_PX))
    series = columns(run.flow_series)
    mine = np.isin(series["flow"], flows_under_test_of(run))
    mine &= (series["time_s"] > from_s) & (series["time_s"] <= to_s)
    rows = {name: series[name][mine] for name in _COLUMNS}
    interval_s = run.record.plan["record"]["interval_ns"] / 1e9
    for key, title, unit, values in (
        ("flow-rate", "Rate of single flows", "Mbit/s", rows["departed_bytes"] * 8e-6 / interval_s),
        ("flow-window", "Congestion window of single flows", "kB", rows["cwnd_bytes"] * 1e-3),
        ("flow-delay", "One-way delay of single flows", "ms", rows["delay_mean_s"] * 1e3),
    ):
        if (panel := _flows(rows, values, pixels, block)) is not None:
            panels.append({"key": key, "title": title, "unit": unit, **panel})
    panels += _packets(run, from_s, to_s, pixels, block)
    return panels, block.text()


_COLUMNS: Final = ("flow", "time_s", "departed_bytes", "cwnd_bytes", "delay_mean_s")


def decimated(time_s: Values, values: Values, pixels: int) -> tuple[Values, Values]:
    """Return values at their times; if there are more than two per pixel, the smallest and the largest."""
    if len(time_s) <= 2 * pixels:
        return time_s, values
    edges = np.linspace(time_s[0], time_s[-1], pixels + 1)
    place = np.clip(np.searchsorted(edges, time_s, side="right") - 1, 0, pixels - 1)
    starts = np.flatnonzero(np.diff(place, prepend=-1))
    unknown = np.isnan(values)
    low = np.minimum.reduceat(np.where(unknown, np.inf, values), starts)
    high = np.maximum.reduceat(np.where(unknown, -np.inf, values), starts)
    left, step = edges[place[starts]], edges[1] - edges[0]
    times = np.column_stack((left + step / 4, left + 3 * step / 4)).ravel()
    extremes = np.column_stack((low, high)).ravel()
    return times, np.where(np.isfinite(extremes), extremes, np.nan)


def _flows(
    rows: Mapping[str, npt.NDArray[Any]], values: Values, pixels: int, block: Block
) -> dict[str, Any] | None:
    """Return the lines of flows over their common times; nothing without values."""
    if not np.isfinite(values).any():
        return None
    flows, index = np.unique(rows["flow"], return_inverse=True)
    sizes = np.bincount(index, rows["departed_bytes"])
    chosen = np.sort(np.argsort(-sizes, kind="stable")[:MOST_FLOWS])
    times, at = np.unique(rows["time_s"], return_inverse=True)
    shown, lines = times, []
    for place in chosen.tolist():
        of_flow = np.full(len(times), np.nan)
        of_flow[at[index == place]] = values[index == place]
        shown, kept = decimated(times, of_flow, pixels)
        lines.append([f"flow {flows[place]}", block.add(kept).facts()])
    return {"times": block.add(shown).facts(), "lines": lines}


def _packets(run: RunResult, from_s: float, to_s: float, pixels: int, block: Block) -> list[dict[str, Any]]:
    """Return the one-way delay of each packet, if packets were recorded."""
    packets = columns(run.packets)
    mine = np.isin(packets["flow"], flows_under_test_of(run))
    mine &= (packets["received_s"] > from_s) & (packets["received_s"] <= to_s)
    if not mine.any():
        return []
    received = packets["received_s"][mine]
    order = np.argsort(received, kind="stable")
    delays = (received - packets["sent_s"][mine])[order] * 1e3
    times, kept = decimated(received[order], delays, pixels)
    line = ["packets", block.add(kept).facts()]
    times_at = block.add(times).facts()
    return [
        {
            "key": "packet-delay",
            "title": "One-way delay of packets",
            "unit": "ms",
            "times": times_at,
            "lines": [line],
        }
    ]

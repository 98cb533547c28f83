"""Runs and figures without an engine: numbers with known measures."""

import numpy as np

from airpath_papers.run_data import LINK_COLUMNS, LinkData, RunData

INTERVAL_S = 0.2
BUFFER = 1000.0


def link_data(duration_s: float = 20.0, **columns: np.ndarray | float) -> LinkData:
    """Return a link of 100 bytes in an interval that carries nothing; columns replace the zeros."""
    count = round(duration_s / INTERVAL_S)
    series = {name: np.zeros(count) for name in LINK_COLUMNS}
    series["time_s"] = np.arange(1, count + 1) * INTERVAL_S
    series["offered_bytes"] = np.full(count, 100.0)
    series |= {name: np.full(count, 1.0) * values for name, values in columns.items()}
    return LinkData(BUFFER, float(series["dropped_packets"].sum()), series, {})


def run_data(link: LinkData | None = None, **changes: object) -> RunData:
    link = link or link_data()
    facts: dict = {
        "duration_s": float(link.series["time_s"][-1]),
        "link_under_test": "bottleneck",
        "metrics": {"jain_index": 0.9, "completion_mean_s": float("nan")},
        "links": {"bottleneck": link},
        "window_time_s": link.series["time_s"],
        "windows_packets": np.ones((3, len(link.series["time_s"]))),
        "ssthresh_packets": np.full((3, len(link.series["time_s"])), np.nan),
        "departed_bytes": np.zeros((3, len(link.series["time_s"]))),
        "min_rtt_s": np.full(3, 0.1),
        "timeouts": np.zeros(3),
        "estimates": {},
        "completion_group": ("file", "file", "short"),
        "completion_start_s": np.array([0.0, 1.0, 0.0]),
        "completion_end_s": np.array([10.0, 13.0, 1.0]),
        "flow_group": ("file", "file", "short"),
        "flow_goodput_bytes": np.array([1.0, 2.0, 3.0]),
        "groups": ("file", "short"),
        "group_time_s": link.series["time_s"],
        "group_departed_bytes": np.zeros((2, len(link.series["time_s"]))),
        "flow_reports": {},
    }
    return RunData(**{**facts, **changes})

"""Engine tables made by hand: small and exact, or large and like real ones."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from airpath.results import TABLES, RunRecord

MILLISECOND = 1_000_000
SECOND = 1_000_000_000

CUBIC = {"kind": "cubic", "c": 0.4, "beta": 0.7, "fast_convergence": True, "reno_friendly": True}
RENO = {"kind": "newreno", "slow_start": "standard"}


def encode(name: str, columns: Mapping[str, Any], rows: int | None = None) -> dict[str, np.ndarray]:
    """Return one engine table; columns that are not given contain zeros (`i64`) or NaN (`f64`)."""
    unknown = set(columns) - {column.name for column in TABLES[name].columns}
    assert not unknown, unknown
    count = rows if rows is not None else max((len(values) for values in columns.values()), default=0)
    encoded = {}
    for column in TABLES[name].columns:
        kind = np.int64 if column.engine_type == "i64" else np.float64
        absent = np.full(count, 0 if column.engine_type == "i64" else math.nan)
        encoded[column.name] = np.asarray(columns.get(column.name, absent)).astype(kind)
    return encoded


def flow(
    name: str, controller: dict[str, Any] | None = CUBIC, traffic: str = "bulk", measured_at: int = 0
) -> dict[str, Any]:
    """Return one source of a plan."""
    return {
        "name": name,
        "path": [0],
        "reverse_path": [1],
        "measured_at": measured_at,
        "traffic": {"kind": traffic},
        "controller": controller,
        "transport": {"mss_bytes": 1460, "header_bytes": 40} if controller else None,
    }


def plan(
    flows: Sequence[dict[str, Any]],
    duration_s: float = 4.0,
    interval_s: float = 0.5,
    measure_from_s: float = 1.0,
) -> dict[str, Any]:
    """Return a plan with a bottleneck and a reverse path."""
    return {
        "duration_ns": round(duration_s * SECOND),
        "record": {
            "measure_from_ns": round(measure_from_s * SECOND),
            "interval_ns": round(interval_s * SECOND),
            "packets": False,
            "capture": [],
        },
        "links": [
            {
                "name": "down",
                "rate": {"kind": "constant", "bps": 8_000_000},
                "queue": {"kind": "drop-tail", "limit_bytes": 100_000, "limit_packets": None},
            },
            {
                "name": "up",
                "rate": {"kind": "unlimited"},
                "queue": {"kind": "drop-tail", "limit_bytes": None, "limit_packets": None},
            },
        ],
        "flows": list(flows),
    }


def small_tables() -> dict[str, dict[str, np.ndarray]]:
    """Return two bulk flows with 3:1 shares of 8 Mbit/s, and a datagram flow: 4 s with 1 s of warm-up."""
    ends = np.arange(1, 9) * 0.5
    return {
        "flows": encode(
            "flows",
            {
                "flow": [0, 1, 2],
                "source": [0, 1, 2],
                "instance": [0, 0, 0],
                "start_s": [0.0, 0.0, 0.0],
                "first_departure_s": [1.0, 1.0, 1.0],
                "last_departure_s": [4.0, 4.0, 4.0],
                "departed_bytes": [1_500_000, 500_000, 250_000],
                "arrived_bytes": [1_600_000, 500_000, 250_000],
                "goodput_bytes": [1_400_000, 480_000, 0],
                "delivered_packets": [300, 100, 50],
                "sent_packets": [420, 130, 66],
                "retransmitted_packets": [7, 3, 0],
                "lost_packets": [20, 0, 0],
                "timeouts": [1, 0, 0],
                "delay_mean_s": [0.020, 0.040, 0.9],
                "queueing_mean_s": [0.010, 0.030, 0.8],
            },
        ),
        "flow_series": encode(
            "flow_series",
            {
                "flow": np.repeat([0, 1], 8),
                "time_s": np.tile(ends, 2),
                "departed_bytes": [250_000] * 8 + [83_333] * 6 + [250_000] * 2,
                "delay_mean_s": [0.02] * 16,
                "delay_max_s": [0.03] * 16,
                "cwnd_bytes": [14_600.0] * 16,
                "phase": [0] * 2 + [2] * 14,
            },
        ),
        "flow_events": encode("flow_events", {"flow": [0, 0], "time_s": [1.2, 2.2], "event": [0, 1]}),
        "completions": encode(
            "completions",
            {
                "flow": [0, 0, 0, 1],
                "transfer": [0, 1, 2, 0],
                "start_s": [0.5, 1.0, 2.0, 2.5],
                "end_s": [0.9, 1.5, 3.0, 2.75],
                "bytes": [1000] * 4,
            },
        ),
        "links": encode(
            "links",
            {
                "link": [0],
                "offered_bytes": [3_000_000.0],
                "arrived_bytes": [2_500_000],
                "departed_bytes": [2_250_000],
                "dropped_bytes_overflow": [175_000],
                "dropped_bytes_early": [75_000],
                "dropped_bytes_corruption": [50_000],
                "queue_mean_bytes": [30_000.0],
            },
        ),
        "link_series": encode(
            "link_series",
            {
                "link": [0] * 8,
                "time_s": ends,
                "offered_bytes": [
                    500_000.0,
                    500_000.0,
                    1_000_000.0,
                    250_000.0,
                    0.0,
                    500_000.0,
                    500_000.0,
                    500_000.0,
                ],
                "departed_bytes": [500_000, 500_000, 500_000, 250_000, 0, 250_000, 500_000, 500_000],
                "queue_mean_bytes": [0.0, 9e9, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
            },
        ),
        "drops": encode(
            "drops",
            {"link": [0, 0], "flow": [0, 1], "time_s": [1.2, 1.3], "bytes": [1500, 1500], "reason": [0, 2]},
        ),
        "delay_histogram": encode(
            "delay_histogram",
            {
                "source": [0, 0, 1, 1, 2, 0, 1],
                "kind": [0, 0, 0, 0, 0, 1, 1],
                "delay_s": [0.010, 0.030, 0.020, 0.060, 0.9, 0.010, 0.030],
                "packets": [150, 150, 79, 21, 50, 300, 100],
            },
        ),
    }


def small_record(scheme: str = "cubic", repetition: int = 0, seed: int = 1, **changes: Any) -> RunRecord:
    """Return a run of `small_tables`."""
    sources = [flow("one"), flow("two"), flow("noise", controller=None, traffic="constant-bit-rate")]
    facts: dict[str, Any] = {
        "scheme": scheme,
        "scenario_name": "small",
        "seed": seed,
        "repetition": repetition,
        "plan": plan(sources),
        "tables": small_tables(),
        "wall_s": 0.25,
    }
    return RunRecord(**{**facts, **changes})

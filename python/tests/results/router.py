"""Engine tables of a run with a router whose estimate can be computed by hand.

20 s in intervals of 0.5 s; the capacity is 8 Mbit/s and from 10 s on 4 Mbit/s. The estimate is 7.6 Mbit/s (5
% below), then 8 and 6 for one interval each, and then 4.2 and 3.8 (5 % off) in turn.
"""

import math
from typing import Any

import numpy as np

from airpath.results import RunRecord

from .synthetic import encode, flow, plan

XCP = {"kind": "xcp", "halve_on_loss": True}
ENDS = np.arange(1, 41) * 0.5
CAPACITY_BPS = np.where(ENDS <= 10, 8e6, 4e6)
ESTIMATE_BPS = np.concatenate(([7.6e6] * 20, [8e6, 6e6], np.tile([4.2e6, 3.8e6], 9)))
QUEUE = {"limit_bytes": 100_000, "limit_packets": None}
ROUTER = {
    "kind": "router",
    **QUEUE,
    "protocol": {"kind": "xcp"},
    "source": {"kind": "ebe", "maintainer": "latch", "threshold": 0.15},
}


def quantities() -> dict[str, Any]:
    """Return the quantities that the router reports, by name."""
    wave = np.sin(ENDS)
    return {
        "capacity_estimate_bps": ESTIMATE_BPS,
        "feedback": 1e5 * wave,
        "load_factor": 0.9 + 0.2 * wave,
        "maintainer_on": (wave < 0).astype(float),
        "x1": 10 + wave,
        "x2": 900 + wave,
        "p11": 1e-5 + 0 * wave,
        "p12": -1e-6 + 0 * wave,
        "p22": 1e-5 + 0 * wave,
        "k1": 0.6 + 0 * wave,
        "k2": 1e-3 * wave,
        "queue_mean_packets": 10 + 2 * wave,
        "arrival_rate_pps": 900 + 5 * wave,
    }


def observations(reported: dict[str, Any], link: int = 0) -> dict[str, np.ndarray]:
    """Return the engine's table of these quantities: interval after interval, in the order of the engine."""
    count = len(reported)
    return encode(
        "link_observations",
        {
            "link": [link] * (count * len(ENDS)),
            "time_s": np.repeat(ENDS, count),
            "quantity": np.tile(range(count), len(ENDS)),
            "value": np.array(list(reported.values())).T.ravel(),
        },
    )


def router_record(
    reported: dict[str, Any] | None = None, offered: Any = CAPACITY_BPS / 16, **changes: Any
) -> RunRecord:
    """Return a run of one XCP flow through the router, measured from 1 s."""
    reported = quantities() if reported is None else reported
    resolved = plan([flow("one", XCP)], duration_s=20.0, interval_s=0.5, measure_from_s=1.0)
    steps = [[0, 8_000_000], [10_000_000_000, 4_000_000]]
    resolved["links"][0]["rate"] = {"kind": "steps", "steps": steps, "repeat_after_ns": None}
    resolved["links"][0]["queue"] = ROUTER
    tables = {
        "flows": encode(
            "flows",
            {"flow": [0], "departed_bytes": [10], "first_departure_s": [1.0], "last_departure_s": [20.0]},
        ),
        "links": encode("links", {"link": [0], "offered_bytes": [14_000_000.0], "departed_bytes": [10]}),
        "link_series": encode(
            "link_series",
            {
                "link": [0] * 40,
                "time_s": ENDS,
                "offered_bytes": offered,
                "queue_mean_bytes": np.linspace(0, 50_000, 40),
            },
        ),
        "link_observations": observations(reported),
        "flow_observations": encode(
            "flow_observations",
            {"flow": [0, 0], "time_s": [0.5, 1.0], "quantity": [0, 0], "value": [10.0, 12.5]},
        ),
    }
    facts: dict[str, Any] = {
        "scheme": "xcp-ebe",
        "scenario_name": "router",
        "seed": 3,
        "repetition": 0,
        "plan": resolved,
        "tables": tables,
        "wall_s": math.nan,
        "quantities": tuple(reported),
    }
    return RunRecord(**{**facts, **changes})

"""Engine tables like those of real runs: windows rise and halve over a varying capacity (a fluid model)."""

import math
from typing import Any

import numpy as np

from airpath.results import RunRecord

from .synthetic import CUBIC, RENO, encode, flow, plan

GAIN = {"reno": 0.6, "cubic": 1.0, "vegas": 0.25}
KEPT = {"reno": 0.5, "cubic": 0.7, "vegas": 0.8}
HIGHEST_FILL = {"reno": 1.0, "cubic": 1.0, "vegas": 0.15}


def record(
    scheme: str, repetition: int, flows: int = 1, duration_s: float = 60.0, *, packets: bool = False
) -> RunRecord:
    """Return a run of `flows` flows of one scheme; runs of the same repetition have the same capacity."""
    interval, mss, delay_s, limit = 0.1, 1460, 0.025, 150_000
    steps = round(duration_s / interval)
    air = np.random.default_rng(repetition)
    capacity = (
        np.repeat(air.uniform(3e6, 12e6, math.ceil(duration_s / 5)), round(5 / interval))[:steps]
        * interval
        / 8
    )
    noise = np.random.default_rng([repetition, len(scheme), flows])
    start = np.arange(flows) * (2.0 if flows <= 4 else 0.1)
    cwnd = np.full(flows, 10.0 * mss)
    ssthresh = np.full(flows, math.nan)
    backlog, series, link, events, drops = 0.0, [], [], [], []
    for step in range(steps):
        end = (step + 1) * interval
        active = start < end - interval / 2
        rtt = 2 * delay_s + backlog / max(capacity[step] / interval, 1e4)
        sent = np.where(active, cwnd * interval / rtt * noise.uniform(0.9, 1.1, flows), 0.0)
        departed = min(backlog + sent.sum(), capacity[step])
        share = departed * sent / max(sent.sum(), 1.0)
        before, backlog = backlog, backlog + sent.sum() - departed
        queueing = (before + backlog) / 2 / (capacity[step] / interval)
        lost = np.zeros(flows, dtype=int)
        if backlog > HIGHEST_FILL[scheme] * limit:
            loser = int(noise.choice(np.flatnonzero(active)))
            if scheme != "vegas":
                lost[loser] = round((backlog - limit) / (mss + 40)) + 1
                drops += [(0, loser, end, mss + 40, 0)] * int(lost[loser])
            backlog = min(backlog, limit)
            events.append((loser, end - interval / 3, 1 if noise.uniform() < 0.08 else 0))
            ssthresh[loser] = cwnd[loser] = max(cwnd[loser] * KEPT[scheme], 2 * mss)
        slow_start = np.isnan(ssthresh)
        cwnd = np.where(active, cwnd + np.where(slow_start, cwnd, GAIN[scheme] * mss) * interval / rtt, cwnd)
        link.append(
            (
                0,
                end,
                capacity[step],
                sent.sum(),
                departed,
                int(lost.sum()),
                0,
                (before + backlog) / 2,
                (before + backlog) / 3000,
                max(before, backlog),
                int(backlog),
                int(backlog / 1500),
                (before + backlog) / 2 / limit,
            )
        )
        series += [
            (
                i,
                end,
                sent[i],
                share[i],
                share[i] * 0.97,
                lost[i],
                delay_s + queueing,
                delay_s + queueing * 1.3 + 0.002,
                queueing,
                cwnd[i],
                ssthresh[i],
                cwnd[i],
                rtt,
                math.nan,
                0 if slow_start[i] else 2,
            )
            for i in np.flatnonzero(active)
        ]
    names = (
        "flow",
        "time_s",
        "sent_bytes",
        "departed_bytes",
        "goodput_bytes",
        "lost_packets",
        "delay_mean_s",
        "delay_max_s",
        "queueing_mean_s",
        "cwnd_bytes",
        "ssthresh_bytes",
        "in_flight_bytes",
        "srtt_s",
        "pacing_rate_bps",
        "phase",
    )
    columns = dict(zip(names, map(np.array, zip(*series, strict=True)), strict=True))
    span = columns["time_s"] > 5.0
    link_names = (
        "link",
        "time_s",
        "offered_bytes",
        "arrived_bytes",
        "departed_bytes",
        "dropped_packets",
        "marked_packets",
        "queue_mean_bytes",
        "queue_mean_packets",
        "queue_max_bytes",
        "queue_bytes",
        "queue_packets",
        "queue_share",
    )
    links = dict(zip(link_names, map(np.array, zip(*link, strict=True)), strict=True))
    after = links["time_s"] > 5.0
    per_flow: dict[str, list[Any]] = {
        name: []
        for name in (
            "departed_bytes",
            "goodput_bytes",
            "delay_mean_s",
            "queueing_mean_s",
            "delivered_packets",
        )
    }
    histogram: list[tuple[int, int, float, int]] = []
    for i in range(flows):
        rows = span & (columns["flow"] == i)
        count = np.maximum(columns["departed_bytes"][rows] / 1500, 0.0).astype(int)
        for name in ("departed_bytes", "goodput_bytes"):
            per_flow[name].append(columns[name][rows].sum())
        per_flow["delivered_packets"].append(count.sum())
        for kind, name in ((0, "delay_mean_s"), (1, "queueing_mean_s")):
            per_flow[name].append(np.average(columns[name][rows], weights=count))
            values = np.ceil(columns[name][rows] * 1e3) / 1e3
            histogram += [(i, kind, value, int(count[values == value].sum())) for value in np.unique(values)]
    transfers = noise.exponential(0.4, 200) + 0.1
    departed = links["departed_bytes"][after].sum()
    dropped = sum(lost[3] for lost in drops if lost[2] > 5.0)
    tables = {
        "flows": encode(
            "flows",
            {
                "flow": range(flows),
                "source": range(flows),
                "instance": [0] * flows,
                "start_s": start,
                "first_departure_s": np.maximum(start, 5.0),
                "last_departure_s": [duration_s] * flows,
                "arrived_bytes": np.array(per_flow["departed_bytes"]) * 1.01,
                "sent_packets": [5000] * flows,
                "retransmitted_packets": noise.integers(10, 90, flows),
                "timeouts": noise.integers(0, 3, flows),
                **per_flow,
            },
        ),
        "flow_series": encode("flow_series", columns),
        "flow_events": encode(
            "flow_events",
            dict(zip(("flow", "time_s", "event"), zip(*events, strict=True), strict=True)) if events else {},
        ),
        "completions": encode(
            "completions",
            {
                "flow": [0] * 200,
                "transfer": range(200),
                "start_s": np.linspace(6, 50, 200),
                "end_s": np.linspace(6, 50, 200) + transfers,
                "bytes": [10_000] * 200,
            },
        ),
        "links": encode(
            "links",
            {
                "link": [0],
                "offered_bytes": [capacity[50:].sum()],
                "arrived_bytes": [departed + dropped],
                "departed_bytes": [departed],
                "dropped_bytes_overflow": [dropped],
                "queue_mean_bytes": [links["queue_mean_bytes"][after].mean()],
                "delay_s": [delay_s],
            },
        ),
        "link_series": encode("link_series", links),
        "drops": encode(
            "drops",
            dict(zip(("link", "flow", "time_s", "bytes", "reason"), zip(*drops, strict=True), strict=True))
            if drops
            else {},
        ),
        "delay_histogram": encode(
            "delay_histogram",
            dict(zip(("source", "kind", "delay_s", "packets"), zip(*histogram, strict=True), strict=True)),
        ),
    }
    if packets:
        time_s = np.sort(noise.uniform(0, duration_s, 20_000))
        delay = np.interp(
            time_s, columns["time_s"][columns["flow"] == 0], columns["delay_mean_s"][columns["flow"] == 0]
        ) + noise.exponential(0.002, 20_000)
        tables["packets"] = encode(
            "packets",
            {
                "flow": [0] * 20_000,
                "sent_s": time_s - delay,
                "received_s": time_s,
                "queueing_s": delay - delay_s,
                "bytes": [1500] * 20_000,
            },
        )
    controller = RENO if scheme == "reno" else CUBIC
    resolved = plan([flow(f"flow-{i}", controller) for i in range(flows)], duration_s, interval, 5.0)
    resolved["links"][0]["rate"] = {
        "kind": "uniform",
        "low_bps": 3_000_000,
        "high_bps": 12_000_000,
        "hold_ns": 5_000_000_000,
    }
    resolved["links"][0]["queue"]["limit_bytes"] = limit
    return RunRecord(scheme, "moving capacity", 1000 + repetition, repetition, resolved, tables, wall_s=0.1)

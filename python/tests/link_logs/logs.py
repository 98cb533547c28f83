"""Logs in the formats of `mm-link` and Pantheon, and their numbers, line by line as the tools define them."""

import math
from dataclasses import dataclass, field

import numpy as np


def mm_link(
    milliseconds: int = 10_000, every_ms: int = 1, packet_every_us: int = 1250, most: int = 40, seed: int = 1
) -> str:
    """Return the log of a drop-tail queue of at most `most` packets at a link with regular opportunities.

    The link is idle in the third of each four seconds. Packets are of any size up to that of an opportunity.
    """
    draw = np.random.default_rng(seed)
    base = 1_700_000_000_000
    lines = ["# mahimahi mm-link (uplink) [x.trace] > up.log", f"# base timestamp: {base}"]
    queue: list[tuple[int, int]] = []
    sent = 0
    for now in range(1, milliseconds + 1):
        if now % every_ms == 0 and now // 1000 % 4 != 2:
            lines.append(f"{base + now} # 1504")
            room = 1504
            while queue and queue[0][1] <= room:
                arrival, size = queue.pop(0)
                room -= size
                lines.append(f"{base + now} - {size} {now - arrival}")
        while sent * packet_every_us < now * 1000:
            sent += 1
            size = int(draw.integers(40, 1505))
            lines.append(f"{base + now} + {size}")
            if len(queue) < most:
                queue.append((now, size))
            else:
                lines.append(f"{base + now} d 1 {size}")
    return "\n".join(lines) + "\n"


def tunnel(flows: int = 3, packets: int = 2000, seed: int = 2) -> str:
    """Return a merged tunnel log of several flows, whose packets overtake each other and get lost."""
    draw = np.random.default_rng(seed)
    events: list[tuple[float, str]] = [(float(k), f"# {1500}") for k in range(100, 4000)]
    for flow in range(1, flows + 1):
        sent = np.round(np.sort(draw.uniform(100 * flow, 3500, packets)), 3)
        delay = np.round(draw.exponential(20, packets) + 30, 3)
        size = draw.integers(40, 1501, packets)
        for start, took, of in zip(sent, delay, size, strict=True):
            events.append((start, f"+ {of} {flow}"))
            if draw.uniform() > 0.05:
                events.append((round(start + took, 3), f"- {of} {took:.3f} {flow}"))
    lines = [f"{at:.3f} {said}" for at, said in sorted(events)]
    return "\n".join(["# init timestamp: 1539184020013.250", *lines]) + "\n"


@dataclass
class Tally:
    """The counts of one flow, or of all flows."""

    arrived: int = 0
    left: int = 0
    arrival_ms: list[float] = field(default_factory=list)
    departure_ms: list[float] = field(default_factory=list)
    delays_ms: list[float] = field(default_factory=list)
    capacity: int = 0
    capacity_ms: list[float] = field(default_factory=list)
    dropped: int = 0
    all_ms: list[float] = field(default_factory=list)


def tallies(text: str) -> dict[int | None, Tally]:
    """Count a log line by line: all flows under ``None``, and each flow."""
    found: dict[int | None, Tally] = {None: Tally()}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        time, event, *items = line.split()
        whole = found[None]
        whole.all_ms.append(float(time))
        if event == "#":
            whole.capacity += int(items[0])
            whole.capacity_ms.append(float(time))
            continue
        if event == "d":
            whole.dropped += int(items[0])
            continue
        named = len(items) == (2 if event == "+" else 3)
        flow = int(items[-1]) if named else 0
        for tally in (whole, found.setdefault(flow, Tally())):
            if event == "+":
                tally.arrived += int(items[0])
                tally.arrival_ms.append(float(time))
            else:
                tally.left += int(items[0])
                tally.departure_ms.append(float(time))
                tally.delays_ms.append(float(items[1]))
    return found


def nearest_rank(values: list[float]) -> float:
    """Return the 95th percentile."""
    return sorted(values)[math.ceil(0.95 * len(values)) - 1]


def signal_delays_ms(tally: Tally) -> list[float]:
    """Return the signal delay at each millisecond, by checking all packets for each."""
    packets = sorted(
        (round(left - delay, 3), left)
        for left, delay in zip(tally.departure_ms, tally.delays_ms, strict=True)
    )
    sent = np.array([one for one, _ in packets])
    left = np.array([other for _, other in packets])
    steps = int((sent[-1] - sent[0]) + 1e-9)
    return [float(left[sent >= sent[0] + k - 1e-9].min() - sent[0] - k) for k in range(steps + 1)]


def script_signal_delays_ms(tally: Tally) -> list[float]:
    """Return the series of mm-throughput-graph: a delay for each millisecond."""
    least: dict[int, float] = {}
    for left, delay in zip(tally.departure_ms, tally.delays_ms, strict=True):
        sent = round(left - delay)
        least[sent] = min(delay, least.get(sent, math.inf))
    for at in range(max(least), min(least) - 1, -1):
        if at not in least:
            least[at] = least[at + 1] + 1
    return list(least.values())

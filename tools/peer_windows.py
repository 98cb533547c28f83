"""Compare the congestion window over time with that of ns-2: measures, table and figure.

    python tools/peer_windows.py

Writes table and figure into `docs/reference`, which is not under version control. The measurements of ns-2
are in `python/tests/peers/cwnd_ns2.json`; the tests there check the measures against them.
"""

import json
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

import airpath

ROOT = Path(__file__).parent.parent
DATA = ROOT / "python" / "tests" / "peers" / "cwnd_ns2.json"
OUT = ROOT / "docs" / "reference"

STEP: Final = 0.1
"""Time between two samples of a window, seconds."""
SETTLED: Final = 10.0
"""Start of the measurement, seconds: slow start and its losses are over."""
FALL: Final = 0.97
"""A sample below this fraction of the one before it is a decrease at a loss. Vegas steps down by 1/86."""
ONE_LOSS: Final = 0.45
"""Decreases closer together than this, in seconds, count as one: Linux of 2007 spreads it over a round trip
of up to 0.2 s.
"""


@dataclass(frozen=True, slots=True)
class Link:
    """The link of the one flow, 50 ms each way."""

    rate: str
    buffer: str


SMALL: Final = Link("10mbps", "83 packets")
LARGE: Final = Link("100mbps", "417 packets")


@dataclass(frozen=True, slots=True)
class Case:
    """One scheme here and its counterpart in ns-2."""

    peer: str
    """Its name in the data, without link and ` delayed`."""
    scheme: str
    """The scheme here, with options."""
    losses_per_cycle: int = 1
    """Losses until the window repeats itself: two if fast convergence acts at every other one."""
    link: Link = SMALL


HIGHSPEED: Final = "highspeed:counting=acknowledgments,slow_start=per-acknowledgment"

CASES: Final = (
    Case("linux:reno", "newreno:slow_start=per-acknowledgment"),
    Case("sack", "newreno:counting=acknowledgments,slow_start=per-acknowledgment"),
    Case("linux:cubic", "cubic-2008", losses_per_cycle=2),
    Case("linux:bic", "bic:slow_start=per-acknowledgment", losses_per_cycle=2),
    Case("linux:bic", "bic:slow_start=per-acknowledgment", losses_per_cycle=2, link=LARGE),
    Case("linux:westwood", "westwood+:slow_start=per-acknowledgment"),
    Case("linux:vegas", "vegas:slow_start=per-acknowledgment"),
    Case("vegas", "vegas:alpha=1,beta=3,keep=0.75,slow_start=every-other-round"),
    Case("linux:veno", "veno:counting=acknowledgments,slow_start=per-acknowledgment"),
    Case("linux:highspeed", HIGHSPEED),
    Case("linux:highspeed", HIGHSPEED, link=LARGE),
    Case("linux:htcp", "htcp:slow_start=per-acknowledgment"),
    Case("linux:htcp", "htcp:slow_start=per-acknowledgment", link=LARGE),
)

SCENARIO = """
name = "one-flow"
duration = "60s"

[record]
interval = "100ms"

[topology]
kind = "dumbbell"

[topology.bottleneck]
rate = "{rate}"
delay = "50ms"
queue = {{ kind = "drop-tail", limit = "{buffer}" }}

[transport]
mss = "1460B"
headers = "40B"
ack = "40B"
initial_window = "10 packets"
min_rto = "200ms"
delayed_ack_segments = {segments}
delayed_ack_timeout = "100ms"

[[flows]]
name = "flow"
scheme = "{scheme}"
"""


@dataclass(frozen=True, slots=True)
class Measures:
    """The measures that are compared, of one window over time."""

    epoch: float | None
    """Mean time between losses, seconds; `None` with less than one whole cycle."""
    peak: float | None
    """Mean window before a loss, segments; `None` without losses."""
    mean: float
    """Mean window, segments."""


def theirs(case: Case, *, delayed: bool) -> list[float]:
    """Return the window of ns-2, in segments, with a sample every `STEP`."""
    windows = json.loads(DATA.read_text(encoding="utf-8"))["windows"]
    name = f"{case.link.rate} {case.peer}{' delayed' if delayed else ''}"
    return [float(segments) for segments in windows[name]]


def ours(case: Case, *, delayed: bool) -> list[float]:
    """Return the window of airpath, in segments, with a sample every `STEP`."""
    text = SCENARIO.format(
        rate=case.link.rate,
        buffer=case.link.buffer,
        segments=2 if delayed else 1,
        scheme=case.scheme,
    )
    record = airpath.run(airpath.Scenario.from_dict(tomllib.loads(text)), progress=False).runs[0]
    return [window / 1460 for window in record.flow_series["cwnd_bytes"].to_pylist()]


def measure(window: Sequence[float], losses_per_cycle: int) -> Measures:
    """Return the measures of a window over time."""
    falls: list[int] = []
    last = -1.0
    for index, (before, after) in enumerate(pairwise(window)):
        if after < FALL * before:
            time = (index + 1) * STEP
            if time - last > ONE_LOSS and time > SETTLED:
                falls.append(index)
            last = time
    cycles = (len(falls) - 1) // losses_per_cycle
    counted = cycles * losses_per_cycle
    settled = window[round(SETTLED / STEP) :]
    return Measures(
        epoch=(falls[counted] - falls[0]) * STEP / counted if cycles >= 1 else None,
        peak=sum(window[index] for index in falls) / len(falls) if falls else None,
        mean=sum(settled) / len(settled),
    )


def main() -> None:
    """Write table and figure."""
    (OUT / "lists").mkdir(parents=True, exist_ok=True)
    lines = [
        "| ns-2, here | link | acknowledgments | epoch, s | peak, segments | mean, segments |",
        "|---|---|---|---|---|---|",
        *(row(case, delayed=delayed) for case in CASES for delayed in (False, True)),
    ]
    (OUT / "lists" / "peer-windows.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    draw(OUT / "peer-windows.png")


def row(case: Case, *, delayed: bool) -> str:
    """Return the line of the table for one case."""
    peer = measure(theirs(case, delayed=delayed), case.losses_per_cycle)
    own = measure(ours(case, delayed=delayed), case.losses_per_cycle)
    cells = [f"`{case.peer}`, `{case.scheme}`", case.link.rate, "delayed" if delayed else "each segment"]
    cells += [
        f"{number(getattr(peer, quantity))}, {number(getattr(own, quantity))}"
        for quantity in ("epoch", "peak", "mean")
    ]
    return f"| {' | '.join(cells)} |"


def number(value: float | None) -> str:
    """Return a measure, or a dash if there is none."""
    return "-" if value is None else f"{value:.1f}"


def draw(place: Path) -> None:
    """Plot the windows of every case, ns-2 behind."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 2.1 * len(CASES)), layout="constrained")
    panels = figure.subplots(len(CASES), 2, sharex=True, sharey="row")
    for row_of_panels, case in zip(panels, CASES, strict=True):
        for panel, delayed in zip(row_of_panels, (False, True), strict=True):
            for window, name, style in (
                (theirs(case, delayed=delayed), "ns-2", {"color": "#999999", "linewidth": 2.5}),
                (ours(case, delayed=delayed), "airpath", {"color": "#0072B2", "linewidth": 1.0}),
            ):
                times = [STEP * (index + 1) for index in range(len(window))]
                panel.plot(times, window, label=name, **style)
            kind = "delayed acknowledgments" if delayed else "each segment acknowledged"
            panel.set_title(f"{case.peer}, {case.link.rate}: {kind}", fontsize=9)
        row_of_panels[0].set_ylabel("window, segments", fontsize=8)
    panels[0][0].legend(fontsize=8)
    for panel in panels[-1]:
        panel.set_xlabel("time, s", fontsize=8)
    figure.savefig(place, dpi=110)


if __name__ == "__main__":
    main()

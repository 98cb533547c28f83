"""Plot window and queue of one flow of every scheme over the same link, for the pages of the schemes.

    python tools/scheme_figures.py

Writes `docs/reference/figures/SCHEME.svg`, which are not under version control.
"""

import tomllib
from pathlib import Path
from typing import Final

import pyarrow.compute as pc
from matplotlib import rc_context
from matplotlib.figure import Figure

import airpath
from airpath.schemes import SCHEMES
from airpath.schemes.router_assisted import FAMILIES

OUT: Final = Path(__file__).parent.parent / "docs" / "reference" / "figures"
MSS_BYTES: Final = 1460
STEP_S: Final = 0.1

REQUIRED: Final = {"fixed": "fixed:window=60packets"}
"""Schemes with parameters that have no default."""
QUEUE: Final = ('kind = "scheme", limit = "1bdp"', "buffer 40 packets")
QUEUES: Final = {
    "prague": ('kind = "dual-pi2", step = "2ms"', "DualPI2, step 2 ms"),
    "dctcp": ('kind = "dual-pi2", step = "20ms"', "DualPI2, step 20 ms"),
}
"""Queues, and their descriptions, of schemes that need marks."""

SCENARIO: Final = """
name = "one-flow"
duration = "60s"

[record]
interval = "{interval}s"

[topology]
kind = "dumbbell"

[topology.bottleneck]
rate = "12mbps"
delay = "20ms"
queue = {{ {queue} }}

[[flows]]
name = "flow"
scheme = "{scheme}"
"""


def main() -> None:
    """Write the figure of every end-to-end scheme, and of one scheme of every router protocol."""
    OUT.mkdir(parents=True, exist_ok=True)
    for name in figures():
        plot(name, OUT / f"{name}.svg")


def figures() -> list[str]:
    """Return the names of the schemes that have a figure."""
    return [scheme.id for scheme in SCHEMES if scheme.router is None] + [one.protocol for one in FAMILIES]


def plot(name: str, place: Path) -> None:
    """Plot window and queue, in packets, over time."""
    queue, description = QUEUES.get(name, QUEUE)
    text = SCENARIO.format(interval=STEP_S, queue=queue, scheme=REQUIRED.get(name, name))
    run = airpath.run(airpath.Scenario.from_dict(tomllib.loads(text)), progress=False).runs[0]
    window = run.flow_series["cwnd_bytes"].to_pylist()
    data = run.link_series.filter(pc.equal(run.link_series["link"], 0))
    rows = (
        ("window, packets", [one / MSS_BYTES for one in window], "#0072B2"),
        ("queue, packets", data["queue_mean_packets"].to_pylist(), "#D55E00"),
    )
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": name, "font.family": "sans-serif"}):
        figure = Figure(figsize=(7, 3.2), layout="constrained")
        figure.suptitle(f"one flow, 12 Mbit/s, round trip 40 ms, {description}", fontsize=9)
        for panel, (label, values, colour) in zip(figure.subplots(2, 1, sharex=True), rows, strict=True):
            panel.plot(
                [STEP_S * (index + 1) for index in range(len(values))],
                values,
                color=colour,
                linewidth=1,
            )
            panel.set(ylabel=label, ylim=(0, None), xlim=(0, 60))
        panel.set_xlabel("time, s")
        figure.savefig(place, metadata={"Date": None})


if __name__ == "__main__":
    main()

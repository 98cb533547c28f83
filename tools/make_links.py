"""Make the synthetic LTE-like links that are shipped with airpath.

    python tools/make_links.py python/airpath/links

The model is deliberately small and entirely our own. A Markov chain moves between mean rates (good, fair and
poor coverage, handover outage) every 10 ms; a first-order autoregressive process in decibels adds fading. A
scheduler serves the user in bursts: in each millisecond it grants the user airtime with some probability, and
then all the bytes due since the last grant leave at once. The result is rounded to delivery opportunities of
1500 bytes and written as a Mahimahi trace: one line for each opportunity, its time in whole milliseconds. The
generator is seeded, so the same NumPy version makes the same files. The seeds were chosen from several to
give a minute with outages in both directions.
"""

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np

DURATION_MS = 60_000
COHERENCE_MS = 10
"""The time for which fading and coverage stay constant."""
OPPORTUNITY_BITS = 1500 * 8
MEAN_STAY_MS = np.array([6000.0, 3000.0, 1500.0, 400.0])
"""Mean duration of good, fair and poor coverage and of an outage."""
NEXT = np.array(
    [[0.0, 0.75, 0.2, 0.05], [0.6, 0.0, 0.35, 0.05], [0.25, 0.6, 0.0, 0.15], [0.2, 0.4, 0.4, 0.0]]
)
"""Probabilities of the next state when the chain leaves a state."""
LEVEL = np.array([1.0, 0.55, 0.15, 0.0])
"""Rate in each state, relative to good coverage."""
FADING_DEVIATION_DB = 2.0
FADING_MEMORY_MS = 80.0


@dataclass(frozen=True)
class Link:
    """The parameters that differ between the two directions."""

    file: str
    mean_mbps: float
    grant_probability: float
    """Probability of airtime in one millisecond: lower for the uplink, which is therefore burstier."""
    seed: int


def main() -> None:
    """Write both files and print a summary of each."""
    parser = argparse.ArgumentParser(description="Make the synthetic links.")
    parser.add_argument("folder", type=Path, help="folder for the traces")
    folder = parser.parse_args().folder
    for link in (Link("lte.down", 9.0, 0.35, 20261), Link("lte.up", 4.0, 0.15, 2)):
        times = opportunities(link)
        (folder / link.file).write_text("".join(f"{time}\n" for time in times), encoding="ascii")
        mean = len(times) * OPPORTUNITY_BITS / times[-1] / 1e3
        print(  # noqa: T201 - a script speaks to its user
            f"{link.file}: {len(times)} opportunities in {times[-1]} ms, mean {mean:.2f} Mbit/s"
        )


def opportunities(link: Link) -> list[int]:
    """Return the times of the delivery opportunities in milliseconds; the last is the end of the trace."""
    random = np.random.default_rng(link.seed)
    blocks = DURATION_MS // COHERENCE_MS
    rate = LEVEL[coverage(random, blocks)] * 10 ** (fading(random, blocks) / 10)
    per_ms = np.repeat(rate, COHERENCE_MS)
    # Scaled so that the file as a whole has the nominal mean rate.
    due = np.cumsum(per_ms * (link.mean_mbps * 1e3 * DURATION_MS / per_ms.sum()))
    granted = random.random(DURATION_MS) < link.grant_probability
    granted[per_ms == 0] = False
    served = np.maximum.accumulate(np.where(granted, due, 0.0))
    counts = np.diff(np.floor(served / OPPORTUNITY_BITS).astype(int), prepend=0)
    times = np.repeat(np.arange(1, DURATION_MS + 1), counts)
    # The last line is the period: without it the trace would repeat a little too early.
    return [*times.tolist(), DURATION_MS]


def coverage(random: np.random.Generator, blocks: int) -> np.ndarray:
    """Return the state of the Markov chain in each block."""
    states = np.zeros(blocks, dtype=int)
    state = 0
    for block in range(blocks):
        states[block] = state
        if random.random() < COHERENCE_MS / MEAN_STAY_MS[state]:
            state = int(random.choice(len(LEVEL), p=NEXT[state]))
    return states


def fading(random: np.random.Generator, blocks: int) -> np.ndarray:
    """Return the fading in decibels for each block."""
    memory = np.exp(-COHERENCE_MS / FADING_MEMORY_MS)
    shocks = random.normal(0.0, FADING_DEVIATION_DB * np.sqrt(1 - memory**2), blocks)
    level = np.empty(blocks)
    level[0] = random.normal(0.0, FADING_DEVIATION_DB)
    for block in range(1, blocks):
        level[block] = memory * level[block - 1] + shocks[block]
    return level


if __name__ == "__main__":
    main()

"""The truth of a simulated flow, and what the diagnosis says of it."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from airpath_papers.diagnosis.scenes import Scene
from airpath_papers.run_data import RunData

Numbers = npt.NDArray[np.float64]

FULL: Final = 0.9
"""The link is full if it carries more than this share of its capacity."""
QUEUED: Final = 0.8
"""… or this share, while packets wait for most of the time."""
WAITING_BYTES: Final = 1500
MOST: Final = 0.5
"""A flow that writes is limited by its application if its sender counts this share of the time."""
OTHER: Final = "other"
"""The truth of a bulk flow that leaves the link idle: no label is right."""


@dataclass(frozen=True)
class Window:
    """One window of time."""

    truth: str
    label: str
    confidence: float

    @property
    def is_right(self) -> bool:
        """Whether its label is the truth."""
        return self.truth == self.label


@dataclass(frozen=True)
class Bin:
    """One bin of the bandwidth over time."""

    capacity_bps: float
    """Payload that the link could have carried."""
    rate_bps: float
    low_bps: float
    high_bps: float
    full: bool
    seconds: float


def windows(scene: Scene, run: RunData) -> list[Window]:
    """Return the windows of a flow after its start."""
    found, link = run.diagnosis, run.links[run.link_under_test].series
    assert found is not None
    time_s = link["time_s"]
    counted = []
    for place, label in enumerate(found.labels):
        from_s, to_s, confidence = (found.windows[name][place] for name in ("from_s", "to_s", "confidence"))
        mine = (time_s > from_s) & (time_s <= to_s)
        if mine.any() and from_s >= scene.from_s:
            limit = scene.limit
            if "application" in found.windows and found.windows["application"][place] < MOST:
                limit = "bottleneck"
            truth = _truth(scene, limit, {name: column[mine] for name, column in link.items()})
            counted.append(Window(truth, label, float(confidence)))
    return counted


def _truth(scene: Scene, limit: str, link: dict[str, Numbers]) -> str:
    offered, departed = link["offered_bytes"].sum(), link["departed_bytes"].sum()
    if offered == 0:
        return "stall"
    waiting = np.mean(link["queue_mean_bytes"] > WAITING_BYTES)
    is_full = departed > FULL * offered or (waiting > FULL and departed > QUEUED * offered)
    if is_full and (scene.is_alone or limit == "bottleneck"):
        return "bottleneck"
    return OTHER if limit == "bottleneck" else limit


def bins(run: RunData, from_s: float = 0.0) -> list[Bin]:
    """Return the bins of a flow that begin at `from_s` or later and in which the link had a capacity."""
    found, link = run.diagnosis, run.links[run.link_under_test].series
    assert found is not None
    time_s, offered = link["time_s"], link["offered_bytes"]
    interval_s = time_s[1] - time_s[0]
    counted = []
    for start_s, end_s, rate, low, high, full in zip(*found.bins.values(), strict=True):
        inside = np.clip(np.minimum(time_s, end_s) - np.maximum(time_s - interval_s, start_s), 0, None)
        capacity = 8 * (offered * inside).sum() / interval_s / (end_s - start_s) * found.payload_share
        if capacity > 0 and start_s >= from_s:
            counted.append(Bin(capacity, rate, low, high, bool(full), end_s - start_s))
    return counted

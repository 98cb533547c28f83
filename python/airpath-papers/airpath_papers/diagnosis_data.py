"""The stored diagnosis of the first flow of a run that captures packets, as `airpath estimate` finds it."""

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from airpath.captures import Diagnosis, analyse
from airpath.metrics.run import columns
from airpath.results import RunResult

Numbers = npt.NDArray[np.float64]

FIRST_FLOW: Final = "10.0.0.0:"
"""Beginning of the address of the first flow's sender in captures of the simulator."""
HEADERS: Final = 52
"""Headers of a segment with timestamps, in bytes."""
WINDOW_COLUMNS: Final = ("from_s", "to_s", "confidence")
BIN_COLUMNS: Final = ("from_s", "to_s", "rate_bps", "low_bps", "high_bps", "full")


@dataclass(frozen=True)
class DiagnosisData:
    """The diagnosis of one flow."""

    labels: tuple[str, ...]
    """What limited it in each window of time."""
    windows: Mapping[str, Numbers] = field(repr=False)
    """Begin and end of each window, and the stated probability that its label is right. If the run recorded
    what limited the sender, also the share of time in which that was the application.
    """
    bins: Mapping[str, Numbers] = field(repr=False)
    """Bandwidth in bins of time, with its 95 % interval, in bit/s of payload; whether the link was full."""
    headline: Mapping[str, float]
    """The one bandwidth, its interval, and whether the link was full; empty if nothing was delivered."""
    policers: int
    """Number of token buckets that were found."""
    payload_share: float
    """Share of a full segment on the wire that is payload."""


def diagnosis(run: RunResult) -> DiagnosisData | None:
    """Return the diagnosis of the first flow; `None` for a run without a capture."""
    if run.record.capture is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "run.pcapng")
        path.write_bytes(run.record.capture)
        capture = analyse(path, ["samples"])
    flow = next(flow for flow in capture.flows if flow.facts["source"].startswith(FIRST_FLOW))
    data = _data(flow.diagnosis, capture.start_ns * 1e-9, flow.facts["mss"])
    limits = columns(run.table("flow_limits"))
    mine = limits["flow"] == 0
    if not mine.any():
        return data
    shares = _means(data.windows, limits["time_s"][mine], limits["application"][mine])
    return replace(data, windows={**data.windows, "application": shares})


def _means(windows: Mapping[str, Numbers], time_s: Numbers, values: Numbers) -> Numbers:
    """Return the mean in each window of values of equal intervals, whose ends are `time_s`."""
    sums = np.concatenate([[0.0], np.cumsum(values)])
    first, end = (np.searchsorted(time_s, windows[name], "right") for name in ("from_s", "to_s"))
    shares: Numbers = (sums[end] - sums[first]) / np.maximum(end - first, 1)
    return shares


def _data(found: Diagnosis, start_s: float, mss: float) -> DiagnosisData:
    """Return the stored data; times of a capture begin at `start_s`."""
    limits, answer, headline = found.limits, found.answer, found.answer.headline
    windows = {name: np.array(limits[name], dtype=np.float64) for name in WINDOW_COLUMNS}
    bins = {name: np.array(getattr(answer, name), dtype=np.float64) for name in BIN_COLUMNS}
    for of in (windows, bins):
        of["from_s"] += start_s
        of["to_s"] += start_s
    names = ("full", "rate_bps", "low_bps", "high_bps", "full_share")
    return DiagnosisData(
        labels=tuple(limits["label"]),
        windows=windows,
        bins=bins,
        headline={} if headline is None else {name: float(getattr(headline, name)) for name in names},
        policers=len(found.policers),
        payload_share=mss / (mss + HEADERS),
    )


def facts_of(data: DiagnosisData) -> dict[str, Any]:
    """Return the part of the data that is not in arrays."""
    return {
        "labels": data.labels,
        "headline": dict(data.headline),
        "policers": data.policers,
        "payload_share": data.payload_share,
    }

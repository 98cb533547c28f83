"""The links on which estimators are judged: those that are shipped, and recordings where they are present.

The environment variable `AIRPATH_TRACES` names the folder of the recordings. They are public data sets that
are not shipped; those that are absent are left out.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from airpath.links import FOLDER

VARIABLE: Final = "AIRPATH_TRACES"


class Kind(StrEnum):
    """What sets links apart for an estimator."""

    BURSTS = "bursts"
    """A scheduler that delivers many packets in a millisecond (LTE)."""
    SLOW = "few packets"
    """One that delivers a few, at rates of some 100 kbit/s (3G)."""
    SMOOTH = "evenly"
    """A log of rates, over each of which packets leave evenly."""


@dataclass(frozen=True)
class JudgedLink:
    """A link and its opposite direction."""

    label: str
    """Its name in tables."""
    kind: Kind
    """How it delivers."""
    path: Path
    """Its trace."""
    reverse: Path
    """The trace of its opposite direction; its own where there is none."""
    window_packets: int
    """What the sender has in flight: 300 ms of the mean rate, at least 20 packets."""
    format: str = "mahimahi"
    """Format of the trace."""
    reverse_direction: str = "down"
    """Which direction to read of the reverse trace."""

    def changes(self) -> Mapping[str, Any]:
        """Return what differs in the scenario."""
        forward, back = "topology.bottleneck.rate", "topology.reverse.rate"
        return {
            f"{forward}.file": str(self.path),
            f"{forward}.format": self.format,
            f"{back}.file": str(self.reverse),
            f"{back}.format": self.format,
            f"{back}.direction": self.reverse_direction,
        }


def judged_links(folder: str | None) -> tuple[JudgedLink, ...]:
    """Return the shipped links and those recordings of a folder that are there."""
    shipped = (
        JudgedLink("lte.down (synthetic)", Kind.BURSTS, FOLDER / "lte.down", FOLDER / "lte.up", 225),
        JudgedLink("lte.up (synthetic)", Kind.BURSTS, FOLDER / "lte.up", FOLDER / "lte.down", 100),
    )
    if not folder:
        return shipped
    recordings = (_recording(Path(folder), *row) for row in _RECORDINGS)
    return (*shipped, *(link for link in recordings if link.path.is_file()))


def _recording(
    folder: Path,
    label: str,
    kind: Kind,
    file: str,
    reverse: str,
    window_packets: int,
    format_: str,
    reverse_direction: str,
) -> JudgedLink:
    back = folder / (reverse or file)
    return JudgedLink(
        label,
        kind,
        folder / file,
        back if back.is_file() else folder / file,
        window_packets,
        format_,
        reverse_direction,
    )


_RECORDINGS: Final = (
    ("Verizon LTE", Kind.BURSTS, "Verizon-LTE-short.down", "Verizon-LTE-short.up", 126, "mahimahi", "down"),
    (
        "AT&T LTE, driving",
        Kind.BURSTS,
        "ATT-LTE-driving-2016.down",
        "ATT-LTE-driving-2016.up",
        114,
        "mahimahi",
        "down",
    ),
    ("T-Mobile LTE", Kind.BURSTS, "TMobile-LTE-short.down", "", 418, "mahimahi", "down"),
    ("LTE, Times Square", Kind.BURSTS, "trace-3201711-timessquare", "", 99, "mahimahi", "down"),
    ("Verizon EV-DO, driving", Kind.SLOW, "Verizon-EVDO-driving.down", "", 20, "mahimahi", "down"),
    (
        "Telenor 3G, bus",
        Kind.SMOOTH,
        "norway-bus.ljansbakken-oslo-report.2010-09-28_1407CEST.log",
        "",
        70,
        "seconds-mbps",
        "down",
    ),
    ("FCC fixed line", Kind.SMOOTH, "fcc-trace_866_http---www.amazon.com", "", 66, "seconds-mbps", "down"),
    ("Oboe", Kind.SMOOTH, "oboe-trace_26.txt", "", 118, "milliseconds-kbps", "down"),
    ("NYU LTE, bus", Kind.SMOOTH, "nyu-mets-bus62.csv", "", 66, "value-unit-csv", "down"),
    # Its upload column is the acknowledgments of the recorded download, no capacity.
    (
        "Irish 5G, driving",
        Kind.SMOOTH,
        "irish5g-driving-B_2019.12.16_07.22.43.csv",
        "",
        618,
        "gnettrack-csv",
        "down",
    ),
    ("Starlink, Lagos", Kind.SMOOTH, "starlink-lagos-first30min.csv", "", 2086, "starlink-csv", "up"),
)
"""Label, kind, file, file of the opposite direction, window, format, direction read of the latter."""

LINKS: Final = judged_links(os.environ.get(VARIABLE))
"""The links of this session."""

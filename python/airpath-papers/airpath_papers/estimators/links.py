"""The links on which estimators are evaluated: shipped ones, and traces that are present.

The environment variable `AIRPATH_TRACES` names the folder of the traces. They are public data sets that are
not shipped; absent ones are left out.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

VARIABLE: Final = "AIRPATH_TRACES"


class Kind(StrEnum):
    """The kinds of links that matter for an estimator."""

    BURSTS = "bursts"
    """A scheduler that delivers many packets in a millisecond (LTE)."""
    SLOW = "few packets"
    """A scheduler that delivers a few packets at a time, at rates of some 100 kbit/s (3G)."""
    SMOOTH = "evenly"
    """A log of rates; packets leave evenly spaced at each rate."""


@dataclass(frozen=True)
class JudgedLink:
    """A link and its opposite direction."""

    label: str
    """Its name in tables."""
    kind: Kind
    """How it delivers packets."""
    rate: Mapping[str, Any]
    """Its rate, as written in a scenario."""
    reverse: Mapping[str, Any]
    """The rate of its opposite direction; its own if none is known."""
    window_packets: int
    """The sender's packets in flight: 300 ms at the mean rate, at least 20 packets."""

    def changes(self) -> Mapping[str, Any]:
        """Return the settings of the scenario that differ."""
        return {"topology.bottleneck.rate": self.rate, "topology.reverse.rate": self.reverse}


def judged_links(folder: str | None) -> tuple[JudgedLink, ...]:
    """Return the shipped links and the traces that are present in a folder."""
    down, up = ({"kind": "link", "name": f"lte.{direction}"} for direction in ("down", "up"))
    shipped = (
        JudgedLink("lte.down (synthetic)", Kind.BURSTS, down, up, 225),
        JudgedLink("lte.up (synthetic)", Kind.BURSTS, up, down, 100),
    )
    if not folder:
        return shipped
    there = [one for one in _RECORDINGS if (Path(folder) / one.file).is_file()]
    return (*shipped, *(one.in_folder(Path(folder)) for one in there))


@dataclass(frozen=True)
class _Recording:
    """A trace by the name of its file."""

    label: str
    kind: Kind
    file: str
    window_packets: int
    format: str = "mahimahi"
    reverse: str | None = None
    """The file of the opposite direction, if there is one."""
    holds_both: bool = False
    """Whether the file also contains the opposite direction."""

    def in_folder(self, folder: Path) -> JudgedLink:
        rate = {"kind": "trace", "file": str(folder / self.file), "format": self.format}
        reverse = dict(rate)
        if self.reverse is not None and (folder / self.reverse).is_file():
            reverse["file"] = str(folder / self.reverse)
        if self.holds_both:
            reverse["direction"] = "up"
        return JudgedLink(self.label, self.kind, rate, reverse, self.window_packets)


# The Irish log also has an upload, but it consists of the acknowledgments of the recorded download.
_RECORDINGS: Final = (
    _Recording("Verizon LTE", Kind.BURSTS, "Verizon-LTE-short.down", 126, reverse="Verizon-LTE-short.up"),
    _Recording(
        "AT&T LTE, driving",
        Kind.BURSTS,
        "ATT-LTE-driving-2016.down",
        114,
        reverse="ATT-LTE-driving-2016.up",
    ),
    _Recording("Verizon LTE, up", Kind.BURSTS, "Verizon-LTE-short.up", 149, reverse="Verizon-LTE-short.down"),
    _Recording(
        "AT&T LTE, driving, up",
        Kind.BURSTS,
        "ATT-LTE-driving-2016.up",
        48,
        reverse="ATT-LTE-driving-2016.down",
    ),
    _Recording("T-Mobile LTE", Kind.BURSTS, "TMobile-LTE-short.down", 418),
    _Recording("LTE, Times Square", Kind.BURSTS, "trace-3201711-timessquare", 99),
    _Recording("Verizon EV-DO, driving", Kind.SLOW, "Verizon-EVDO-driving.down", 20),
    _Recording(
        "Telenor 3G, bus",
        Kind.SMOOTH,
        "norway-bus.ljansbakken-oslo-report.2010-09-28_1407CEST.log",
        70,
        "seconds-mbps",
    ),
    _Recording("FCC fixed line", Kind.SMOOTH, "fcc-trace_866_http---www.amazon.com", 66, "seconds-mbps"),
    _Recording("Oboe", Kind.SMOOTH, "oboe-trace_26.txt", 118, "milliseconds-kbps"),
    _Recording("NYU LTE, bus", Kind.SMOOTH, "nyu-mets-bus62.csv", 66, "value-unit-csv"),
    _Recording("Lumos 5G, walking", Kind.SMOOTH, "lumos5g-5g_trace_100_walking", 12464, "seconds-mbps"),
    _Recording(
        "Irish 5G, driving",
        Kind.SMOOTH,
        "irish5g-driving-B_2019.12.16_07.22.43.csv",
        618,
        "gnettrack-csv",
    ),
    _Recording(
        "Starlink, Lagos", Kind.SMOOTH, "starlink-lagos-first30min.csv", 2086, "starlink-csv", holds_both=True
    ),
)

LINKS: Final = judged_links(os.environ.get(VARIABLE))
"""The links that are available in this session."""

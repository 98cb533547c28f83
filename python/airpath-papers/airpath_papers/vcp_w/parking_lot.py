"""VCP-W's parking lot: its experiments, and the shares of local and long flows on a link."""

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

from airpath_papers.claim import Runs
from airpath_papers.experiment import Experiment
from airpath_papers.measures import Span, of_each
from airpath_papers.run_data import Numbers, RunData
from airpath_papers.sample import Sample, sample
from airpath_papers.settings import with_options
from airpath_papers.vcp_w.paper import RULES, scheme_of

PARKING_LOT: Final = "vcpw-parking-lot"
ONE_HOP: Final = "vcpw-one-hop"

LINKS: Final = ("AB", "BC", "CD", "DE")
LOCAL: Final = {"AB": "R1", "BC": "R2", "CD": "R3", "DE": "R4"}
"""The group of flows that use one link only, by link; all other traffic on it belongs to the long flows."""
R3_STARTS_S: Final = 1000.0
BEFORE: Final[Span] = (500.0, 1000.0)
"""The span before R3 starts: 500 s, because long flows get few packets."""
AFTER: Final[Span] = (1250.0, 1500.0)
"""The span after it started."""

SETTING: Final = (
    "Our choices, not defined in the paper: one wired link for each group of sources, buffers of one"
    " bandwidth-delay product of the local flows, starts within 10 s of each other, all data in one"
    " direction. The long flows' share of a link is its departures minus those of its local flows. Shares"
    " before R3 are means from 500 to 1000 s, after it from 1250 s on. The links fade, with 2x2 antennas at"
    " 30 dB, a code rate of 0.9 and random errors per bit."
)
RULES_NOTE: Final = (
    "With unconditional AI for an RTT after the freeze, the equilibrium window of a flow under permanent"
    " overload is 8 alpha_s packets: 20 with linear AI and alpha 1, so the 60 local flows of a link need"
    " 1200 packets while its BDP and its buffer hold 250 each. The queue then stays full and drops packets."
)


def on(scenario: str, label: str, repetitions: int, changes: Mapping[str, Any] | None = None) -> Experiment:
    """Return a scheme, `xcp` with options or a rule of VCP, in one of the two scenarios."""
    return Experiment(scenario, scheme_of(label), changes or {}, repetitions)


def capped(rule: str, cap: bool) -> str:
    """Return a rule of VCP with scaling that stops at 500 ms, or does not."""
    return with_options(RULES[rule], rtt_cap=cap)


def local_mbps(run: RunData, link: str) -> Numbers:
    """Return the rate of a link's local flows over time, in Mbit/s."""
    interval = float(run.group_time_s[0])
    rate: Numbers = run.group_departed_bytes[run.groups.index(LOCAL[link])] * 8e-6 / interval
    return rate


def long_mbps(run: RunData, link: str) -> Numbers:
    """Return the rate of all long flows at a link over time, in Mbit/s: the rest of its throughput."""
    series = run.links[link].series
    rate: Numbers = series["departed_bytes"] * 8e-6 / float(series["time_s"][0]) - local_mbps(run, link)
    return rate


def local_to_long(run: RunData, link: str, span: Span) -> float:
    """Return the bytes of local flows on a link relative to those of long flows."""
    rows = (run.group_time_s > span[0]) & (run.group_time_s <= span[1])
    far = float(long_mbps(run, link)[rows].mean())
    return float(local_mbps(run, link)[rows].mean()) / far if far > 0 else math.inf


def ratio(label: str, link: str, span: Span) -> Callable[[Runs], Sample]:
    """Return the measure `local_to_long` of a scheme."""
    return lambda of: sample(of_each(of(label), lambda run: local_to_long(run, link, span)))


def moved(label: str, link: str) -> Callable[[Runs], Sample]:
    """Return the factor by which the start of R3 changes the ratio on a link."""

    def factor(run: RunData) -> float:
        return local_to_long(run, link, AFTER) / local_to_long(run, link, BEFORE)

    return lambda of: sample(of_each(of(label), factor))

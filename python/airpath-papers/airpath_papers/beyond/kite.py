"""Kite compared with BBR v3, Copa and CUBIC."""

import re
import statistics
from collections.abc import Callable, Sequence
from typing import Any, Final

from airpath_papers.beyond.links import SCENARIO, WHICH_LINKS, by_link, on_link, over_links, present
from airpath_papers.beyond.overview import DELAY, Measure, metric, plot_of, table_of
from airpath_papers.claim import Claim, Runs
from airpath_papers.experiment import Experiment
from airpath_papers.figure import Figure
from airpath_papers.measures import group_goodput_mbps, of_each
from airpath_papers.rules import AtLeast, AtMost, Between
from airpath_papers.run_data import RunData
from airpath_papers.sample import Sample, sample

PAPER: Final = "Beyond the papers: the sender Kite"
SCHEMES: Final = {"Kite": "kite", "BBR v3": "bbr", "Copa": "copa", "CUBIC": "cubic"}
"""Schemes by label."""

UTILISATION: Final = Measure("utilisation", metric("utilisation"))
SELF_INFLICTED: Final = Measure(
    "self-inflicted delay (ms)", metric("self_inflicted_delay_ms"), logarithmic=True
)
JAIN: Final = Measure("Jain index", metric("jain_index"))

ONE_FLOW: Final = {"flows.0.start": {"uniform": ["0s", "1s"]}}
FOUR_FLOWS: Final = {"flows.0.count": 4}


def _link(rate: Any, rtt_ms: int, **bottleneck: Any) -> dict[str, Any]:
    return {
        "topology.bottleneck.rate": rate,
        "topology.bottleneck.delay": f"{rtt_ms / 2:g}ms",
    } | {f"topology.bottleneck.{key}": value for key, value in bottleneck.items()}


def _jumps(low: str, high: str) -> dict[str, Any]:
    return _link({"kind": "sequence", "rates": [low, high] * 6, "hold": "5s"}, 40)


def _jitter(most: str) -> dict[str, Any]:
    return _link("50mbps", 40, jitter={"uniform": ["0ms", most]}, queue={"kind": "scheme", "limit": "4bdp"})


FIXED: Final = {
    "10 Mbit/s, 40 ms": _link("10mbps", 40),
    "10 Mbit/s, 100 ms": _link("10mbps", 100),
    "100 Mbit/s, 40 ms": _link("100mbps", 40),
    "100 Mbit/s, 100 ms": _link("100mbps", 100),
}
MOVING: Final = {
    "4 to 20 Mbit/s": _jumps("4mbps", "20mbps"),
    "2 to 20 Mbit/s": _jumps("2mbps", "20mbps"),
    "4 to 40 Mbit/s": _jumps("4mbps", "40mbps"),
    "2 ms of jitter": _jitter("2ms"),
    "5 ms of jitter": _jitter("5ms"),
    "10 ms of jitter": _jitter("10ms"),
}
"""Jumps every 5 s, and jitter without reordering at 50 Mbit/s, all with an RTT of 40 ms."""


def _slug(link: str) -> str:
    """Return the name of a link in names of claims: `10mbps-40ms`."""
    return re.sub(r"[, ]+", "-", link.replace(" Mbit/s", "mbps").replace(" ms", "ms"))


def _over(links: dict[str, dict[str, Any]], flows: dict[str, Any]) -> dict[str, dict[str, Experiment]]:
    return {
        link: {label: Experiment(SCENARIO, scheme, {**flows, **changes}) for label, scheme in SCHEMES.items()}
        for link, changes in links.items()
    }


_ALONE: Final = (UTILISATION, DELAY)
ALONE: Final = Figure(
    id="beyond/kite",
    ours=True,
    paper=PAPER,
    title="One flow of Kite over fixed links, jumps and jitter",
    experiments=_over(FIXED | MOVING, ONE_FLOW),
    draw=plot_of(_ALONE),
    tables=table_of("One flow", _ALONE),
    claims=tuple(
        Claim(
            f"use-{_slug(link)}",
            f"{link}: one flow uses the link",
            AtLeast(0.95),
            "utilisation",
            lambda of: sample(of_each(of("Kite"), UTILISATION.of)),
            choices=(link,),
        )
        for link in FIXED | MOVING
    ),
)

_SHARED: Final = (UTILISATION, DELAY, JAIN)
SHARED: Final = Figure(
    id="beyond/kite-four",
    ours=True,
    paper=PAPER,
    title="Four flows of Kite over fixed links and jitter",
    experiments=_over({**FIXED, "5 ms of jitter": MOVING["5 ms of jitter"]}, FOUR_FLOWS),
    draw=plot_of(_SHARED),
    tables=table_of("Four flows, which start within 10 s", _SHARED),
    claims=tuple(
        Claim(
            f"fair-{_slug(link)}",
            f"{link}: four flows share the link equally",
            AtLeast(0.95),
            "Jain index",
            lambda of: sample(of_each(of("Kite"), JAIN.of)),
            choices=(link,),
        )
        for link in FIXED
    ),
)

# Next to one CUBIC flow.

_FULL: Final = "Kite, full target"


def _beside(rate: str, rtt_ms: int, buffer: str) -> dict[str, Experiment]:
    def flow(name: str, scheme: str) -> dict[str, Any]:
        return {"name": name, "scheme": scheme, "start": {"uniform": ["0s", "10s"]}}

    def experiment(scheme: str) -> Experiment:
        changes = _link(rate, rtt_ms, queue={"kind": "scheme", "limit": buffer})
        flows = [flow("tested", scheme), flow("rival", "cubic")]
        return Experiment(SCENARIO, scheme, {**changes, "duration": "120s", "flows": flows})

    schemes = {"Kite": "kite", _FULL: "kite:adaptive=false", "BBR v3": "bbr", "Copa": "copa"}
    return {label: experiment(scheme) for label, scheme in schemes.items()}


def _share(run: RunData) -> float:
    tested, rival = (group_goodput_mbps(run, group) for group in ("tested", "rival"))
    return tested / (tested + rival)


_BESIDE: Final = (Measure("share of the tested flow", _share), UTILISATION, DELAY)
_PLACES: Final = {
    f"{rate}, {rtt_ms} ms, {buffers} BDP": _beside(f"{rate.split()[0]}mbps", rtt_ms, f"{buffers}bdp")
    for buffers in (1, 4)
    for rate, rtt_ms in (("20 Mbit/s", 40), ("10 Mbit/s", 100), ("100 Mbit/s", 40))
}
BESIDE_CUBIC: Final = Figure(
    id="beyond/kite-cubic",
    ours=True,
    paper=PAPER,
    title="Kite next to one CUBIC flow",
    experiments=_PLACES,
    draw=plot_of(_BESIDE),
    tables=table_of("One flow next to one CUBIC flow", _BESIDE),
    claims=tuple(
        Claim(
            f"share-{_slug(place)}",
            f"{place}: the two share the link",
            Between(0.3, 0.7),
            "Kite's share of the goodput",
            lambda of: sample(of_each(of("Kite"), _share)),
            choices=(place,),
            reason="Kite keeps a short queue and yields to a flow that fills the buffer",
        )
        for place in _PLACES
        if place.endswith("1 BDP")
    ),
)

# Recorded links.

_ONE: Final = "one flow"
_FOUR: Final = "four flows"
HELD_OUT: Final = present(
    "Verizon LTE",
    "Verizon LTE, up",
    "T-Mobile LTE",
    "LTE, Times Square",
    "FCC fixed line",
    "Irish 5G, driving",
    "Starlink, Lagos",
)
"""The links on which no parameter was chosen, as far as they are present."""


def _of_links(
    measure: Callable[[RunData], float], summary: Callable[[Sequence[float]], float], scheme: str = "Kite"
) -> Callable[[Runs], Sample]:
    """Return a claim's measure: the median, or another summary, of the links held out."""

    def measured(of: Runs) -> Sample:
        return Sample(
            (summary([on_link(of, link, scheme, measure) for link in HELD_OUT]),), runs=len(HELD_OUT)
        )

    return measured


def _relative_delay(of: Runs) -> Sample:
    kite, bbr = (
        _of_links(SELF_INFLICTED.of, statistics.median, scheme)(of).mean for scheme in ("Kite", "BBR v3")
    )
    return Sample((kite / bbr,), runs=len(HELD_OUT))


_LINK_MEASURES: Final = (UTILISATION, DELAY, JAIN)
_PACKETS: Final = {"record.packets": True, "record.interval": "10ms"}
"""Self-inflicted delay needs packets, and intervals as short as the changes of the capacity."""
_CLAIMS: Final = (
    Claim(
        "uses-links",
        "one flow uses moving links",
        AtLeast(0.95),
        "utilisation, the median of the links on which no parameter was chosen",
        _of_links(UTILISATION.of, statistics.median),
        choices=(_ONE,),
    ),
    Claim(
        "delay",
        "one flow delays its packets little",
        AtMost(150.0),
        "self-inflicted delay, the median of these links",
        _of_links(SELF_INFLICTED.of, statistics.median),
        choices=(_ONE,),
        unit="ms",
    ),
    Claim(
        "delay-of-bbr",
        "its own delay is at most half of that of BBR v3",
        AtMost(0.5),
        "the median self-inflicted delay divided by that of BBR v3",
        _relative_delay,
        choices=(_ONE,),
    ),
    Claim(
        "fair",
        "four flows share moving links equally",
        AtLeast(0.95),
        "Jain index, the smallest of these links",
        _of_links(JAIN.of, min),
        choices=(_FOUR,),
    ),
)
OVER_LINKS: Final = Figure(
    id="beyond/kite-links",
    ours=True,
    paper=PAPER,
    title="Kite over cellular and satellite links",
    experiments={
        _ONE: over_links(SCHEMES, {"record.warm_up": "5s", **ONE_FLOW, **_PACKETS}, repetitions=1),
        _FOUR: over_links(SCHEMES, {"record.warm_up": "10s", **FOUR_FLOWS}, repetitions=1),
    },
    draw=plot_of(_LINK_MEASURES, by_link),
    tables=table_of(
        "One flow, and four flows that start within 10 s", (*_LINK_MEASURES, SELF_INFLICTED), by_link
    ),
    claims=_CLAIMS if HELD_OUT else (),
    notes=(
        f"{WHICH_LINKS} Without a recorded link that took no part in the choice, there are no claims.",
        "Parameters were chosen on other recorded links and on fixed links. The claims are about links that"
        " took no part: two of Verizon LTE, T-Mobile LTE, Times Square, FCC, Irish 5G and Starlink.",
    ),
)

FIGURES: Final = (ALONE, SHARED, BESIDE_CUBIC, OVER_LINKS)
"""The figures of this module."""

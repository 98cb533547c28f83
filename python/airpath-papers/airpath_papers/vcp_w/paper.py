"""Common parts of VCP-W: schemes, the rules of VCP that the paper leaves open, its readings, notes.

Two things that the paper leaves open are readings, the same in every figure that was run under several:

- VCP's sender after a freeze. “author”, the rule of VCP's authors, is the headline: the paper has VCP's
  parameters from them, and explains its figure 5 by AI that follows each MD. “obey” is nearer to the queues
  of figure 6.
- The step of the channel. One per bit, as printed, is the headline; one per symbol is nearer to figure 13.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from airpath.views.styles import SchemeStyle, style_for
from airpath_papers.experiment import Experiment
from airpath_papers.settings import with_options

PAPER: Final = "VCP-W"

XCP: Final = "xcp"
VCP: Final = "vcp"
REM: Final = "rem"
SCHEMES: Final = (XCP, VCP, REM)

AUTHOR: Final = "VCP “author”"
GUARDED: Final = "VCP “guarded”"
OBEYING: Final = "VCP “obey”, AI not scaled"
OBEYING_BURSTS: Final = "VCP “obey”, AI not scaled, not paced"
QUARTER: Final = "VCP “author”, alpha 0.25, not paced"
SQUARE: Final = "VCP “author”, square AI"
CODE: Final = "VCP as its authors' code"

RULES: Final[Mapping[str, str]] = {
    AUTHOR: "vcp:additive_scaling=linear",
    GUARDED: "vcp:additive_scaling=linear,after_freeze=guarded",
    OBEYING: "vcp:additive_scaling=none,after_freeze=obey",
    OBEYING_BURSTS: "vcp:additive_scaling=none,after_freeze=obey,pace_small_windows=false",
    QUARTER: "vcp:additive_scaling=linear,alpha=0.25,pace_small_windows=false",
    SQUARE: "vcp:additive_scaling=square",
    CODE: "vcp:additive_scaling=square,bounds=author,freeze=decreases-only,rtt_scaling=smoothed",
}
"""Rules of VCP's sender, by name; figures that name none use the first."""

AFTER_FREEZE: Final = ("author", "guarded", "obey")
"""Readings of VCP's sender after a freeze, headline first."""
CHANNEL_STEPS: Final = ("per bit", "per symbol")
"""Readings of the channel's step, headline first."""

RENO: Final = "newreno:counting=acknowledgments,slow_start=per-acknowledgment"
_REM_QUEUE: Final[Mapping[str, Any]] = {"kind": "rem", "limit": "1bdp", "unmarkable": "pass"}

LOOKS: Final[Mapping[str, SchemeStyle]] = {
    XCP: style_for([XCP])[XCP],
    VCP: style_for([VCP])[VCP],
    REM: SchemeStyle("TCP/REM+ECN", "#d55e00", "s"),
}
"""Styles of the three schemes."""

DRAFTS_X: Final = "X of the draft"
"""Suffix of choices in which XCP's header contains the draft's time between packets, not ns-2's."""

WHICH_VCP: Final = (
    "VCP follows “author”: after the freeze AI for one RTT regardless of codes (the authors' code), AI in"
    " proportion to the RTT up to 500 ms (ours), MI with exponent min(rtt, 500 ms)/200 ms, alpha 1."
)
NS2_TIMEOUTS: Final = "timeouts of ns-2"
"""Suffix of choices in which a timeout is little more than the smoothed RTT, as in ns-2."""
SHORT_TIMEOUTS: Final[Mapping[str, Any]] = {"transport.min_rto": "30ms"}
"""Smallest variance term there: 4 times 3/4 of a tick of 10 ms, at which its integers stay."""

PROFILE: Final = (
    "As in ns-2: Reno recovery, an acknowledgment for each packet, packets of 1040 and 40 bytes, windows"
    " not paced. Timeouts are srtt plus at least 200 ms: with a minimum of 200 ms for the whole timeout,"
    " oscillating queues cause timeouts without losses."
)
REM_NOTE: Final = (
    "REM as in ns-2: target b* of 20 packets, price every 2 ms, gamma 0.001, phi 1.001, packets of any size"
    " count as one, including acknowledgments, which are never marked or dropped."
)
ANY_DURATION: Final = (
    "Flows start within the first 10 s and last to the end; buffers are one bandwidth-delay product. The"
    " paper has random starts and durations, and does not state buffers."
)


def readings(choices: Iterable[str], names: Sequence[str]) -> dict[str, list[str]]:
    """Return the choices of each reading, by the name that they contain; the others are of the headline."""
    of = {choice: next((name for name in names[1:] if name in choice), names[0]) for choice in choices}
    return {name: [choice for choice in of if of[choice] == name] for name in names if name in of.values()}


def scheme_of(label: str) -> str:
    """Return the scheme for `xcp`, `vcp`, `rem` or the name of a rule."""
    if label == REM:
        return RENO
    return RULES[AUTHOR] if label == VCP else RULES.get(label, label)


def one_bottleneck(
    scenario: str, label: str, repetitions: int, changes: Mapping[str, Any] | None = None
) -> Experiment:
    """Return `xcp`, `vcp`, `rem` or a rule of VCP on the dumbbell; a changed buffer applies to all."""
    settings = dict(changes or {})
    if label == REM:
        limit = settings.pop("topology.bottleneck.queue.limit", "1bdp")
        settings |= {"topology.bottleneck.queue": {**_REM_QUEUE, "limit": limit}, "transport.ecn": True}
    return Experiment(scenario, scheme_of(label), settings, repetitions)


def xcp(limit: str, drafts_x: bool = False) -> str:
    """Return XCP with this longest control interval, and with X as in ns-2 or as in the draft."""
    return with_options(XCP, max_interval=limit, **({"inter_packet": "window"} if drafts_x else {}))

"""VCP-W's testbed (section V, figure 9): VCP's rules, experiments, the readings of the channel, notes."""

from collections.abc import Mapping
from typing import Any, Final

from airpath.views.styles import SchemeStyle, style_for
from airpath_papers.experiment import Experiment
from airpath_papers.measures import Span
from airpath_papers.settings import with_options

Changes = Mapping[str, Any]

REPETITIONS: Final = 10
"""The paper's number of runs."""
FEW: Final = 5
"""Runs of experiments that need fewer."""
SWEEP: Final = 3
"""Runs of each point of a sweep."""

BUSY: Final[Span] = (20.0, 50.0)
"""The span after the starts, before the first transfers end."""
SHOWN_S: Final = 130.0
"""The plotted part of a run of transfers."""

GROUPS: Final = ("near", "middle", "far")
"""Groups of forward transfers: RTTs of 400, 500 and 550 ms."""
TRANSFERS: Final = 15
"""Forward transfers."""
SENDING: Final = tuple(range(6))
"""Entries of the scenario whose transfers are measured or go in the opposite direction."""

AUTHOR: Final = "author"
GUARDED: Final = "guarded"
OBEY: Final = "obey"
SQUARE: Final = "square"
UNSCALED: Final = "obey, unscaled AI"
QUARTER: Final = "alpha 0.25"
THAWED: Final = "alpha 0.25, increases in the freeze"

DECREASES_ONLY: Final[Mapping[str, Any]] = {"freeze": "decreases-only"}
"""Increases continue during a freeze, as in the authors' code."""
RULES: Final[Mapping[str, Mapping[str, Any]]] = {
    AUTHOR: {"additive_scaling": "linear"},
    GUARDED: {"additive_scaling": "linear", "after_freeze": "guarded"},
    OBEY: {"after_freeze": "obey"},
    SQUARE: {},
    UNSCALED: {"additive_scaling": "none", "after_freeze": "obey"},
    QUARTER: {"additive_scaling": "linear", "alpha": 0.25},
    THAWED: {"additive_scaling": "linear", "alpha": 0.25, **DECREASES_ONLY},
}
"""VCP's rules by name; all scale increases by the smoothed RTT, as the authors' code does."""
RULES_SHOWN: Final = (AUTHOR, GUARDED, OBEY, SQUARE)
"""The rules of figure 10 and Table I."""
PACED_SENDERS: Final = "author, paced"
"""The first rule with all windows spread over the round trip."""
EACH_WAY: Final = f"{AUTHOR}, delays each way"
"""The first rule with the RTTs of `DELAYS_EACH_WAY`."""
IN_FREEZE: Final = ", delays each way, increases in the freeze"
"""Suffix of choices with `DELAYS_EACH_WAY` in which a freeze suppresses decreases only."""
SMALLEST: Final = ", smallest RTT"
"""Suffix of choices in which increases follow the smallest observed RTT instead."""


def of_rule(rule: str, scheme: str = "vcp-ld", **further: Any) -> str:
    """Return a scheme similar to VCP under a rule."""
    return with_options(scheme, **{"rtt_scaling": "smoothed", **RULES[rule], **further})


VCP: Final = "VCP"
XCP: Final = "XCP"
RED: Final = "TCP/RED"
RED_NEWRENO: Final = "TCP/RED, NewReno"
RED_RENO: Final = "TCP/RED, Reno"
DROP_TAIL: Final = "TCP/DT"
VCP_EBE: Final = "VCP-EBE"
BARE_VCP: Final = "VCP without heuristic"
BARE_XCP: Final = "XCP without heuristic"

LOOKS: Final[Mapping[str, SchemeStyle]] = {
    **{
        name: style_for([scheme])[scheme]
        for name, scheme in ((VCP, "vcp"), (XCP, "xcp"), (VCP_EBE, "vcp-ebe"))
    },
    **{
        name: SchemeStyle(name, colour, marker)
        for name, colour, marker in (
            (RED, "#0072b2", "o"),
            (RED_NEWRENO, "#56b4e9", "o"),
            (DROP_TAIL, "#d55e00", "s"),
            (BARE_VCP, "#b08aa8", "v"),
            (BARE_XCP, "#7fa89f", "^"),
        )
    },
}
"""Styles of the protocols."""

_BUFFER: Final = "1500kB"
_RED_QUEUE: Final[Changes] = {
    "topology.bottleneck.queue": {
        "kind": "red",
        "limit": _BUFFER,
        "unit": "bytes",
        "minimum": "500kB",
        "maximum": "1000kB",
        "max_probability": 0.1,
        "ecn": False,
    }
}
_BACKGROUND: Final[Changes] = {"flows.6.scheme": "bic"}
NEWRENO: Final[Changes] = {"transport.recovery": "newreno"}
_RENO: Final[Changes] = {"transport.recovery": "reno"}
ENDLESS: Final[Changes] = {f"flows.{number}.traffic": "bulk" for number in SENDING}
EQUAL_RTTS: Final[Changes] = {f"flows.{number}.extra_rtt": {"even": ["0ms", "10ms"]} for number in SENDING}
PACED: Final[Changes] = {"transport.pacing": True}
_EXTRA: Final = (("0ms", "10ms"), ("195ms", "205ms"), ("295ms", "305ms"))
DELAYS_EACH_WAY: Final[Changes] = {
    f"flows.{number}.extra_rtt": {"even": [*_EXTRA[number % len(GROUPS)]]} for number in SENDING
}
"""The side links' 100 and 150 ms are added in each direction: RTTs of 400, 600 and 700 ms."""


def in_small_packets(protocol: str) -> dict[str, Any]:
    """Return the changes to the 1040 bytes of the paper's simulations, and to 1000 such packets of buffer."""
    queue = "topology.bottleneck.queue"
    thresholds = {f"{queue}.minimum": "346.7kB", f"{queue}.maximum": "693.3kB"}
    return {
        "transport.mss": "1000B",
        f"{queue}.limit": "1040kB",
        "flows.7.traffic.packet": "1040B",
        **(thresholds if protocol in (RED, RED_NEWRENO) else {}),
    }


def on_testbed(
    protocol: str,
    changes: Changes | None = None,
    repetitions: int = REPETITIONS,
    rule: str = AUTHOR,
    **further: Any,
) -> Experiment:
    """Return a protocol on the testbed; `rule` is VCP's, with additional options."""
    scheme, own = {
        VCP: (of_rule(rule, **further), {}),
        XCP: ("xcp-ld", {}),
        RED: ("bic", _RED_QUEUE),
        RED_NEWRENO: ("bic", {**_RED_QUEUE, **NEWRENO}),
        RED_RENO: ("bic", {**_RED_QUEUE, **_RENO}),
        DROP_TAIL: ("bic", {}),
        VCP_EBE: (of_rule(rule, "vcp-ebe-ld", capacity="10mbps"), {}),
        BARE_VCP: (of_rule(rule, "vcp"), {}),
        BARE_XCP: ("xcp", {}),
    }[protocol]
    return Experiment("vcpw-testbed", scheme, {**_BACKGROUND, **own, **(changes or {})}, repetitions)


IN_SMALL_PACKETS: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = {
    f"{rule}, 1040 bytes{tail}": (rule, further)
    for tail, further in (("", {}), (SMALLEST, {"rtt_scaling": "minimum"}))
    for rule in (AUTHOR, GUARDED, OBEY)
}
"""Choices with the packets of the paper's simulations: VCP's rule and additional options."""


def all_four(
    rule: str,
    tcp: Changes = NEWRENO,
    changes: Changes | None = None,
    small_packets: bool = False,
    **further: Any,
) -> dict[str, Experiment]:
    """Return TCP over drop-tail and RED, XCP and VCP.

    Parameters
    ----------
    rule
        VCP's rule.
    tcp
        Changes to TCP.
    changes
        Changes to all.
    small_packets
        Whether packets are those of the paper's simulations.
    **further
        Additional options of the rule.
    """

    def one(protocol: str, own: Changes) -> Experiment:
        packets = in_small_packets(protocol) if small_packets else {}
        return on_testbed(protocol, {**own, **(changes or {}), **packets}, rule=rule, **further)

    return {DROP_TAIL: one(DROP_TAIL, tcp), RED: one(RED, tcp), XCP: one(XCP, {}), VCP: one(VCP, {})}


BIT: Final = "random errors per bit (printed)"
SYMBOL: Final = "random errors per symbol"
CLOCKS: Final[Mapping[str, str]] = {BIT: "bit", SYMBOL: "symbol"}
"""The two readings of the channel by name."""

ANTENNAS: Final = ("1x1", "2x1", "1x2", "2x2")
"""From the worst to the best."""


def over_air(
    clock: str, snr: float, antennas: str, code_rate: float | None = None, **changes: Any
) -> dict[str, Any]:
    """Return the changes for a wireless bottleneck; with coded data, acknowledgments are coded at 0.5."""
    loss: dict[str, Any] = {"kind": "fading", "clock": CLOCKS[clock], "snr": snr, "antennas": antennas}
    if code_rate is not None:
        loss |= {"code_rate": code_rate, "ack_code_rate": 0.5, "ack_limit": "60B"}
    return {"topology.bottleneck.loss": loss, **changes}


RULE_NOTE: Final = (
    "VCP's rules: “author” has linear scaling of AI and AI for a round trip after the freeze, as the"
    " authors' code; “guarded” is the same unless a decrease would take more than AI gives; “obey” has"
    " square scaling and decreases again; all scale by the smoothed RTT up to 500 ms. Only the rule after"
    " the freeze is known to be theirs."
)
TRAFFIC_NOTE: Final = (
    "Our choices, not defined in the paper: packets of 1500 bytes, 1000 packets of buffer, RTTs within a"
    " group spread over 10 ms, a light background each way of 0.2 Mbit/s of UDP and one TCP with a window of"
    " 16 kB. The packet size, the smoothed RTT and the light background were selected by means of Table I."
)
HEURISTIC_NOTE: Final = (
    "VCP and XCP run with the loss-differentiation heuristic (N = 32, T = 16), as in the paper's testbed."
)
CHANNEL_NOTE: Final = (
    "Two readings of the channel: the paper has random errors per transmitted bit; random errors per"
    " Reed-Solomon symbol cause fewer losses, and only this reading carries data at the paper's 10 dB. Loss"
    " rates are those of packets of 1500 bytes; both directions are corrupted independently; codewords of at"
    " most 255 symbols."
)

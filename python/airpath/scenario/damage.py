"""Impairments of links in words: losses, the clock of a chain, and link-layer retransmissions.

The clock of a chain matters as much as its probabilities, so all results state it.
"""

from collections.abc import Mapping
from typing import Any

from airpath.units import format_duration


def damage(link: Mapping[str, Any]) -> str:
    """Return corruption and repair by a link of a plan, in words; empty without corruption."""
    chain = bursts(link.get("bursts"))
    if not chain and not link.get("loss"):
        return ""
    losses = chain or f"{link['loss'] * 100:g} % of packets damaged, independently"
    return f"{losses}{repair(link.get('arq'))}"


def bursts(plan: Mapping[str, Any] | None) -> str:
    """Return the chain that corrupts packets and its clock, in words; empty for independent losses."""
    if plan is None:
        return ""
    if "chain" in plan:
        plan = _of_format_1(plan["chain"], plan["clock"])
    clock = plan.get("clock", "packet")
    step = f" of {format_duration(plan['step'])}" if clock == "time" else ""
    kind = f"{plan['kind']}{_channel(plan) if plan['kind'] == 'fading' else ''}"
    return f"losses in bursts ({kind}), chain clocked by {clock}{step}{_codes(plan)}"


def _of_format_1(chain: Mapping[str, Any], clock: Mapping[str, Any]) -> dict[str, Any]:
    """Return burst losses of a plan of format 1 under the names of the current format."""
    kinds = {"probabilities": "gilbert-elliott", "means": "gilbert", "netem": "netem-gemodel"}
    names = {"snr_db": "snr", "bad_snr_drop_db": "bad_snr_drop"}
    coding = clock.get("coding") or {}
    rates = {"code_rate": coding.get("data"), "ack_code_rate": coding.get("acks")}
    return {
        **{names.get(name, name): value for name, value in chain.items()},
        "kind": kinds.get(chain["kind"], chain["kind"]),
        "clock": clock["kind"],
        "step": clock.get("step_ns"),
        "parity_takes_time": coding.get("parity_takes_time"),
        **{name: rate and rate[0] / rate[1] for name, rate in rates.items()},
    }


def _channel(chain: Mapping[str, Any]) -> str:
    """Return modulation, signal-to-noise ratio in both states, and antennas of a fading channel, in words."""
    good, drop = chain["snr"], chain["bad_snr_drop"]
    rician = f", Rician factor {chain['rician_k']:g}" if chain["rician_k"] else ""
    return (
        f", {chain['modulation'].upper()}, SNR {good:g} dB, {good - drop:g} dB in the bad state,"
        f" antennas {chain['antennas']}{rician}"
    )


def _codes(chain: Mapping[str, Any]) -> str:
    """Return the code rates of data and acknowledgments, and whether parity takes time, in words."""
    rates = (("data", chain.get("code_rate")), ("acknowledgments", chain.get("ack_code_rate")))
    said = [f"code rate {rate:g} of {what}" for what, rate in rates if rate is not None]
    parity = ["parity takes time"] if chain.get("parity_takes_time") else []
    return "".join(f", {part}" for part in (*said, *parity))


def repair(arq: Mapping[str, Any] | None) -> str:
    """Return how a link retransmits corrupted packets, in words; empty if it does not."""
    if arq is None or arq["retries"] == 0:
        return ""
    order = "in order" if arq["in_order"] else "out of order"
    times = "once" if arq["retries"] == 1 else f"{arq['retries']} times"
    delay = format_duration(arq["delay"] if "delay" in arq else arq["delay_ns"])
    return f", retransmitted at most {times} after {delay}, delivered {order}"


def damage_of_plan(plan: Mapping[str, Any]) -> dict[str, str]:
    """Return corruption and repair by the links of a plan, by name, without links that do not corrupt."""
    return {str(link["name"]): text for link in plan["links"] if (text := damage(link))}

"""What links do to packets, in words: losses, the clock of a chain, and what a link sends again.

The clock of a chain decides as much as its probabilities, so it is said wherever results are.
"""

from collections.abc import Mapping
from typing import Any

from airpath.units import format_duration


def damage(link: Mapping[str, Any]) -> str:
    """Return what a link of a plan damages and repairs; nothing for one that damages nothing."""
    chain = bursts(link.get("bursts"))
    if not chain and not link.get("loss"):
        return ""
    losses = chain or f"{link['loss'] * 100:g} % of packets damaged, independently"
    return f"{losses}{repair(link.get('arq'))}"


def bursts(plan: Mapping[str, Any] | None) -> str:
    """Return the chain that damages packets and what clocks it; nothing for independent losses."""
    if plan is None:
        return ""
    chain, clock = plan["chain"], plan["clock"]
    step = f" of {format_duration(clock['step_ns'])}" if clock["kind"] == "time" else ""
    kind = f"{chain['kind']}{_channel(chain) if chain['kind'] == 'fading' else ''}"
    return f"losses in bursts ({kind}), chain clocked by {clock['kind']}{step}{_codes(clock.get('coding'))}"


def _channel(chain: Mapping[str, Any]) -> str:
    """Return modulation, signal-to-noise ratio in both states, and antennas of a fading channel."""
    good, drop = chain["snr_db"], chain["bad_snr_drop_db"]
    rician = f", Rician factor {chain['rician_k']:g}" if chain["rician_k"] else ""
    return (
        f", {chain['modulation'].upper()}, SNR {good:g} dB, {good - drop:g} dB in the bad state,"
        f" antennas {chain['antennas']}{rician}"
    )


def _codes(coding: Mapping[str, Any] | None) -> str:
    """Return the code rates of data and acknowledgments, and whether parity takes time."""
    if coding is None:
        return ""
    rates = (("data", coding["data"]), ("acknowledgments", coding["acks"]))
    said = [f"code rate {rate[0] / rate[1]:g} of {what}" for what, rate in rates if rate is not None]
    parity = ["parity takes time"] if coding.get("parity_takes_time") else []
    return "".join(f", {part}" for part in (*said, *parity))


def repair(arq: Mapping[str, Any] | None) -> str:
    """Return how a link sends damaged packets again; nothing if it does not."""
    if arq is None or arq["retries"] == 0:
        return ""
    order = "in order" if arq["in_order"] else "out of order"
    times = "once" if arq["retries"] == 1 else f"{arq['retries']} times"
    return f", sent again at most {times} after {format_duration(arq['delay_ns'])}, delivered {order}"


def damage_of_plan(plan: Mapping[str, Any]) -> dict[str, str]:
    """Return what the links of a plan damage and repair, by name, without those that damage nothing."""
    return {str(link["name"]): text for link in plan["links"] if (text := damage(link))}

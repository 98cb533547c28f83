"""One link and its flows described in one line."""

from airpath._declared.quantities import Uniform
from airpath.links.options import DEFAULT_NETWORK, OneLink
from airpath.scenario.link_values import RTT_SPREAD, Rtt
from airpath.scenario.resolve import BufferSize
from airpath.scenario.scenario import Scenario
from airpath.scenario.topology import Dumbbell
from airpath.units import format_duration, format_rate, format_size


def link_line(scenario: Scenario, link: OneLink) -> str:
    """Return the link of a scenario of `compare` in one line.

    Parameters
    ----------
    scenario
        One of the scenarios.
    link
        The link from which it was made.
    """
    rate = scenario.resolved.mean_rate_bps["bottleneck"]
    mean = "unlimited rate" if rate is None else format_rate(rate, 3)
    is_constant = scenario.plan()["links"][0]["rate"]["kind"] == "constant"
    given = {name: getattr(link, name) for name in ("queue", "up", "loss", "jitter", "reorder")}
    parts = [
        mean if rate is None or is_constant else f"{mean} on average",
        _rtt(scenario, link.rtt),
        _buffer(scenario.buffers["bottleneck"]),
        *(f"{name} {value}" for name, value in given.items() if value),
        _count(len(scenario.plan()["flows"]), "flow"),
    ]
    return f"{_network(link)}{', '.join(parts)}"


def _network(link: OneLink) -> str:
    if link.network is not None:
        return f"network {link.network}{'' if link.link is None else f' with link {link.link}'}: "
    return "" if link.link is not None else f"network {DEFAULT_NETWORK} (no --link or --network was given): "


def _rtt(scenario: Scenario, given: str | None) -> str:
    topology = scenario.document.topology
    assert isinstance(topology, Dumbbell)
    rtt = format_duration(scenario.resolved.base_rtt_ns["bottleneck"], 4)
    if given is not None and (spread := Rtt.parse(given)).is_range:
        rtt = f"{rtt} to {format_duration(spread.high, 4)}"
    drawn = isinstance(topology.bottleneck.delay, Uniform)
    return f"RTT {rtt}{f' (drawn within ± {float(100 * RTT_SPREAD):g} % for each seed)' if drawn else ''}"


def _buffer(buffer: BufferSize) -> str:
    if buffer.bytes is None:
        return "unlimited buffer"
    # For a range of RTTs, these are bandwidth-delay products at the shortest.
    bdp = "" if buffer.bdp is None else f" ({buffer.bdp:.3g} BDP)"
    return f"buffer {format_size(buffer.bytes, 3)}{bdp}"


def _count(count: int, of: str) -> str:
    return f"{count} {of}{'' if count == 1 else 's'}"

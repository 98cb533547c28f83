"""The answer for a capture, in words: bandwidth, limits, and causes of losses."""

import math
from collections.abc import Iterator

import numpy as np
from rich.table import Table
from rich.text import Text

from airpath.captures import Answer, CaptureAnalysis, Diagnosis, FlowAnalysis, HostSum, Share
from airpath.captures.answer_view import NAMES
from airpath.cli.output import show
from airpath.results.formatting import percent
from airpath.units import format_duration, format_rate, format_size

MOST_FLOWS = 3
"""Maximum number of printed answers of a capture, those of the largest flows, unless all are requested."""
MOST_COLUMNS = 40
"""Width of a sparkline, in columns."""
LEAST_SHARE = 0.01
"""Limits that applied for a smaller share of the time are not printed."""
PAYLOAD, PACKETS = "payload", "packets with QUIC's headers"
"""What the bytes of a rate include."""
_BARS = "▁▂▃▄▅▆▇█"
_NOT_KNOWN = "not known: no acknowledgment of the data was captured"


def print_answers(capture: CaptureAnalysis, every: bool) -> None:
    """Print the sums of hosts, then the largest flows, or all."""
    sums = capture.sums if every else capture.sums[:MOST_FLOWS]
    for one in sums:
        _print_lines(_title_of_sum(one, len(capture.flows)), _bandwidth(one.answer, PAYLOAD))
    shown = capture.flows if every else capture.flows[:MOST_FLOWS]
    for flow in shown:
        title = f"flow {flow.number} of {len(capture.flows)}   {_title(flow)}"
        _print_lines(title, [*_flow_bandwidth(flow), *_limits(flow), ("losses", _losses(flow))])
    if len(capture.flows) > len(shown):
        show(f"and {len(capture.flows) - len(shown)} more flows: --all\n")


def _print_lines(title: str, lines: list[tuple[str, str]]) -> None:
    table = Table.grid(padding=(0, 2, 0, 0))
    for name, text in lines:
        table.add_row(Text(name), Text(text))
    show(Text(title))
    show(table)
    show("")


def _title_of_sum(one: HostSum, flows: int) -> str:
    which = f"all {flows} flows" if len(one.flows) == flows else f"{len(one.flows)} flows"
    return f"{which}   {'received' if one.down else 'sent'} by {one.host}"


def _title(flow: FlowAnalysis) -> str:
    facts = flow.facts
    where = {"sender": "at the sender", "receiver": "at the receiver", "middle": "between the two"}
    place = f", captured {where[facts['vantage']]}" if facts["vantage"] in where else ""
    size, time = format_size(facts["bytes"], 3), format_duration(facts["duration_ns"], 3)
    return f"{flow.name}{place}, {size} in {time}"


def _flow_bandwidth(flow: FlowAnalysis) -> list[tuple[str, str]]:
    if flow.diagnosis.answer.headline is not None:
        counted = PACKETS if "is_sender" in flow.facts else PAYLOAD
        return [*_bandwidth(flow.diagnosis.answer, counted), *_link_rate(flow.diagnosis, counted)]
    rate = flow.facts["delivered_bps"]
    if not rate:
        return [("bandwidth", _NOT_KNOWN)]
    return [("bandwidth", f"at least {format_rate(rate, 3)}, the mean of what arrived")]


def _bandwidth(answer: Answer, counted: str) -> list[tuple[str, str]]:
    headline = answer.headline
    if headline is None:
        return [("bandwidth", _NOT_KNOWN)]
    if headline.full:
        low, high = _megabits(headline.low_bps), _megabits(headline.high_bps)
        least, most = _megabits(headline.least_bps), _megabits(headline.most_bps)
        text = (
            f"{format_rate(headline.rate_bps, 3)} while the link was full, {percent(headline.full_share)} of"
            f" the time (95 % interval {low} to {high}; seconds from {least} to {most}; {counted})"
        )
    else:
        full = "full for less than three seconds" if headline.full_share > 0 else "never seen to be full"
        reason = f"the largest second; the link was {full}"
        text = f"at least {format_rate(headline.rate_bps, 3)} ({reason}; {counted})"
    return [("bandwidth", text), ("", _sparkline(answer))]


def _link_rate(diagnosis: Diagnosis, counted: str) -> Iterator[tuple[str, str]]:
    if diagnosis.link_rate_bps is not None:
        rate = format_rate(diagnosis.link_rate_bps, 3)
        yield "", f"the link could carry about {rate} (the rate of packets sent back to back; {counted})"


def _sparkline(answer: Answer) -> str:
    """Return the rate over time in block characters, each the mean of its share of the time."""
    begin, end = float(answer.from_s[0]), float(answer.to_s[-1])
    columns = min(MOST_COLUMNS, len(answer.rate_bps))
    edges = np.linspace(begin, end, columns + 1)
    sent = np.concatenate([[0.0], np.cumsum(answer.rate_bps * (answer.to_s - answer.from_s))])
    at = np.interp(edges, np.concatenate([[begin], answer.to_s]), sent)
    rates = np.diff(at)
    levels = np.ceil(rates / max(float(rates.max()), 1e-9) * len(_BARS)).astype(int) - 1
    bars = "".join(_BARS[max(level, 0)] for level in levels)
    return f"{bars}   {begin:.3g} to {end:.3g} s, up to {format_rate(float(answer.rate_bps.max()), 3)}"


def _limits(flow: FlowAnalysis) -> Iterator[tuple[str, str]]:
    name = "limited by"
    if not flow.diagnosis.shares:
        yield name, _NOT_KNOWN
    for share in flow.diagnosis.shares:
        if share.time >= LEAST_SHARE:
            yield (
                name,
                f"{NAMES[share.label]} {percent(share.time)} ({share.certainty}): {_reason(share, flow)}",
            )
            name = ""


def _reason(share: Share, flow: FlowAnalysis) -> str:
    facts = flow.facts
    queue = "" if math.isnan(share.queue_s) else format_duration(round(share.queue_s * 1e9), 2)
    match share.label:
        case "bottleneck":
            marked = f", {share.marks} acknowledgments report marks" if share.marks else ""
            base = format_duration(facts["rtt_min_ns"], 3) if facts["rtt_min_ns"] else "the round trip"
            return f"{queue or 'no'} queue (median) over {base} of round trip{marked}"
        case "policer":
            found = flow.diagnosis.policers[0]
            rate, burst = format_rate(found["rate_bps"], 3), format_size(round(found["burst_bytes"]), 2)
            return f"a token bucket of {rate} (with headers) and about {burst} drops what exceeds it"
        case "receiver-window":
            most = facts["window_max"]
            return f"no room in the receiver's window (at most {format_size(most, 3)})"
        case "reverse-path":
            return f"acknowledgments waited {queue or 'in a queue'} (median)"
        case "stall":
            return f"no acknowledgment came for {share.seconds:.3g} s in total, though data was outstanding"
        case "start-up":
            return f"the congestion window still grew, for {share.seconds:.3g} s"
        case label:
            return _PLAIN_REASONS[label]


_PLAIN_REASONS = {
    "overflow": "the window recovered from drops of a short buffer or of queue management",
    "random-loss": "the window recovered from losses that met no queue, as radio links have them",
    "application": "the sender sent less than it was allowed to",
    "sender-window": "a constant amount in flight, as of a send buffer or a clamped window",
}


def _losses(flow: FlowAnalysis) -> str:
    """Return the number of lost segments and the causes of the losses, in words."""
    losses = flow.diagnosis.losses
    packets = "packets" if "is_sender" in flow.facts else "segments"
    needless = losses["needless"]
    more = f"; {_count(needless, packets)} retransmitted needlessly" if needless else ""
    if not losses["segments"]:
        return f"none{more}"
    counted = f"{_count(losses['segments'], packets)} in {_count(losses['episodes'], 'episodes')}"
    variation = losses["flight_variation"]
    if losses["by_queue"] is None:
        return f"{counted}: the cause is not known{more}"
    if any(share.label == "policer" for share in flow.diagnosis.shares):
        return f"{counted}: dropped by the policer{more}"
    share = f"{percent(losses['at_queue'])} met a long queue"
    steady = f", bytes in flight ± {percent(variation)}" if variation is not None else ""
    cause = "a queue overflowed" if losses["by_queue"] else "no queue explains them"
    return f"{counted}, {share}{steady}: {cause}{more}"


def _count(number: int, things: str) -> str:
    return f"{number} {things.removesuffix('s') if number == 1 else things}"


def _megabits(rate_bps: float) -> str:
    return f"{rate_bps * 1e-6:.3g}"

"""The answer for a capture, for machines."""

from dataclasses import asdict
from typing import Any

from airpath.captures import Answer, CaptureAnalysis, FlowAnalysis, Share


def answer_of_capture(capture: CaptureAnalysis) -> dict[str, Any] | None:
    """Return the bandwidth of the host with most payload, or of the only flow; ``None`` without flows."""
    sums = [
        {
            "host": one.host,
            "direction": "received" if one.down else "sent",
            "flows": list(one.flows),
            **_bandwidth(one.answer),
        }
        for one in capture.sums
    ]
    if sums:
        return {**sums[0], "others": sums[1:]}
    if not capture.flows:
        return None
    first = capture.flows[0]
    return {"flows": [first.number], **_bandwidth(first.diagnosis.answer), **_limits(first)}


def answer_of_flow(flow: FlowAnalysis) -> dict[str, Any]:
    """Return the bandwidth of a flow, its limits, the causes of its losses, and the policers found."""
    diagnosis = flow.diagnosis
    return {
        "answer": {
            **_bandwidth(diagnosis.answer),
            "link_rate_bps": diagnosis.link_rate_bps,
            **_limits(flow),
        },
        "losses": diagnosis.losses,
        "policers": [
            {
                "from_s": one["from_ns"] * 1e-9,
                "to_s": one["to_ns"] * 1e-9,
                "rate_bps": one["rate_bps"],
                "burst_bytes": one["burst_bytes"],
                "score": one["score"],
            }
            for one in diagnosis.policers
        ],
    }


def _bandwidth(answer: Answer) -> dict[str, Any]:
    headline = answer.headline
    if headline is None:
        return {"kind": None, "rate_bps": None}
    values = asdict(headline)
    values.pop("full")
    return {"kind": headline.kind, **values}


def _limits(flow: FlowAnalysis) -> dict[str, Any]:
    return {"limited_by": [_limit(share) for share in flow.diagnosis.shares]}


def _limit(share: Share) -> dict[str, Any]:
    return {
        "label": share.label,
        "time_share": share.time,
        "data_share": share.data,
        "confidence": share.confidence,
        "certainty": share.certainty,
    }

"""The transport of a flow: layers of settings, each of which fills in those that the earlier ones lack."""

from collections.abc import Sequence
from typing import Any, Final

from airpath._declared.messages import FieldError
from airpath.scenario.flows import Transport
from airpath.units import window_bytes

IP_AND_TCP_BYTES: Final = 40
"""Headers of IPv4 and TCP without options."""
TIMESTAMPS_BYTES: Final = 12
"""The timestamps option with its padding (RFC 7323, appendix A)."""
LARGEST_PACKET_BYTES: Final = 1500
"""The packet size of Ethernet, which most measurements of the field use."""

DEFAULTS: Final = Transport.model_validate(
    {
        "initial_window": "10 packets",
        "receive_window": "1GiB",
        "recovery": "prr",
        "lost_retransmission_detection": True,
        "loss_detection": "threshold",
        "timestamps": True,
        "delayed_ack_segments": 2,
        "delayed_ack_timeout": "40ms",
        "min_rto": "200ms",
        "rto_floor": "variance",
        "max_rto": "120s",
        "initial_rto": "1s",
        "ecn": False,
        "pacing": False,
        "stack": "rfc",
        "gso": True,
    }
)
"""Default settings; the docstrings of the fields name the sources."""


def transport_plan(layers: Sequence[Transport], path: str, header_bytes: int = 0) -> dict[str, Any]:
    """Return the transport of a plan from layers in descending precedence; the defaults come last.

    Parameters
    ----------
    layers
        The settings; each layer fills in those that the earlier ones lack.
    path
        The path of the first layer in the scenario, for messages.
    header_bytes
        Size of the scheme's own header, which is added to the default of `headers`.
    """
    settings: dict[str, Any] = {}
    for layer in (*layers, DEFAULTS):
        for key in Transport.model_fields:
            if settings.get(key) is None:
                settings[key] = getattr(layer, key)
    options = TIMESTAMPS_BYTES if settings["timestamps"] else 0
    headers = settings["headers"] or IP_AND_TCP_BYTES + options + header_bytes
    mss = settings["mss"] or LARGEST_PACKET_BYTES - headers
    if mss <= 0:
        raise FieldError(
            f"{path}.headers", f"found {headers} B, which leaves no room in a packet of 1500 B; give mss too"
        )
    if settings["min_rto"] > settings["max_rto"]:
        raise FieldError(f"{path}.min_rto", "must not be above max_rto")
    if settings["loss_detection"] == "rack" and settings["recovery"] in ("newreno", "reno"):
        raise FieldError(
            f"{path}.loss_detection",
            'found "rack", which reads selective acknowledgments; accepted with recovery'
            f' "{settings["recovery"]}": "threshold"',
        )
    if settings["spurious_timeout_undo"] is None:
        settings["spurious_timeout_undo"] = settings["timestamps"]
    if settings["spurious_timeout_undo"] and not settings["timestamps"]:
        raise FieldError(f"{path}.spurious_timeout_undo", "needs timestamps, which are off")
    return {
        "mss_bytes": mss,
        "header_bytes": headers,
        "ack_bytes": settings["ack"] or headers,
        "initial_window_bytes": window_bytes(settings["initial_window"], mss),
        "receive_window_bytes": window_bytes(settings["receive_window"], mss),
        "recovery": settings["recovery"],
        "lost_retransmission_detection": settings["lost_retransmission_detection"],
        "loss_detection": settings["loss_detection"],
        "spurious_timeout_undo": settings["spurious_timeout_undo"],
        "timestamps": settings["timestamps"],
        "delayed_ack_segments": settings["delayed_ack_segments"],
        "delayed_ack_timeout_ns": settings["delayed_ack_timeout"],
        "min_rto_ns": settings["min_rto"],
        "rto_floor": settings["rto_floor"],
        "max_rto_ns": settings["max_rto"],
        "initial_rto_ns": settings["initial_rto"],
        "ecn": settings["ecn"] is not False,
        "accurate_ecn": settings["ecn"] == "accurate",
        "pacing": settings["pacing"],
        "stack": settings["stack"],
        "gso": settings["gso"],
    }


def packet_bytes(plan: dict[str, Any]) -> int:
    """Return the size of a full data packet on the wire."""
    return int(plan["mss_bytes"] + plan["header_bytes"])

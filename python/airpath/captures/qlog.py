"""The differences of QUIC logs (qlog) from captures."""

import gzip
from pathlib import Path
from typing import Any

import numpy as np

from airpath import _core

_FIRST_BYTES = 256
"""A log states its format within this many bytes (main schema of qlog)."""

_OF_TCP = (
    "sender_answer_ns",
    "receiver_answer_ns",
    "handshake",
    "window_scale",
    "window_max",
    "sack",
    "clock_hz",
    "needless",
    "reordered",
    "timeouts",
    "uncaptured_bytes",
    "ect0",
    "ect1",
    "ce",
    "ecn_echoes",
    "reported_marks",
    "backward_times",
    "duplicates",
)
"""Facts that QUIC logs do not contain."""


def is_log(path: Path) -> bool:
    """Return whether a file is a QUIC log, plain or compressed by gzip.

    Raises
    ------
    OSError
        If it cannot be read.
    """
    with path.open("rb") as file:
        first = file.read(_FIRST_BYTES)
    if first.startswith(b"\x1f\x8b"):
        try:
            with gzip.open(path) as packed:
                first = packed.read(_FIRST_BYTES)
        except (OSError, EOFError):
            return False  # the reader of captures reports the error
    return _core.is_qlog(first)


def report_of_log(said: dict[str, Any]) -> dict[str, Any]:
    """Return the report on a log in the terms of captures."""
    skipped = {}
    if said["broken"]:
        line, why = said["first_broken_line"], said["first_broken_because"]
        skipped[f"texts that are no event, the first in line {line} ({why})"] = said["broken"]
    if said["incomplete"]:
        skipped["events without a time, a name or a packet number"] = said["incomplete"]
    if said["not_followed"]:
        skipped["events of connections beyond the first 1024"] = said["not_followed"]
    because, line = said["stopped_because"], said["stopped_at_line"]
    return {
        "qlog_version": said["version"],
        "events": said["events"],
        "events_used": said["given"],
        "skipped": skipped,
        "stopped_at": None,
        "stopped_because": f"line {line}: {because}" if because and line else because,
    }


def facts_of_connection(said: dict[str, Any]) -> dict[str, Any]:
    """Return the facts of a connection by the names of captures; ``None`` for those that only TCP has."""
    ends = {"client": ("client", "server"), "server": ("server", "client")}
    here, there = ends.get(said["vantage_point"], ("logging end", "other end"))
    label = " ".join(part for part in (said["title"], said["group"]) if part)
    here = f"{here} ({label})" if label else here
    source, destination = (here, there) if said["is_sender"] else (there, here)
    return {
        **said,
        **dict.fromkeys(_OF_TCP),
        "source": source,
        "destination": destination,
        "vantage": "sender" if said["is_sender"] else "receiver",
        "timestamps": False,
        "retransmitted": said["lost_packets"],
        "ecn": "unknown",
    }


def logged_series(said: dict[str, bytes]) -> dict[str, np.ndarray]:
    """Return the values that the log itself records over time; NaN if it records none."""
    return {f"logged_{name}": np.frombuffer(column, dtype="<f8") for name, column in said.items()}

"""Logs of flows (qlog): the header of each, and their files. The engine writes the events."""

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

from airpath.results.records import RunRecord

if TYPE_CHECKING:
    from airpath.results.results import Results

VERSION = "0.3"
"""The version of qlog in the files."""

OWN_SCHEMA = "urn:airpath:qlog:events:airpath-1"
"""Identifies airpath's own events, whose names begin with ``airpath:``."""


def whole_logs(record: RunRecord, logs: Iterable[tuple[int, bytes]]) -> dict[int, bytes]:
    """Prepend the header to the events of each flow of a run."""
    return {flow: _header(record, flow) + events for flow, events in logs}


def qlog_name(run: int, flow: int) -> str:
    """Return the name of the file of a flow of a run, made of both numbers."""
    return f"run-{run:04}-flow-{flow:04}.sqlog"


def qlog_files(results: "Results") -> dict[str, bytes]:
    """Return the logs of all runs by the names of their files."""
    return {
        qlog_name(number, flow): log
        for number, run in enumerate(results.runs)
        for flow, log in sorted(run.record.qlogs.items())
    }


def _header(record: RunRecord, flow: int) -> bytes:
    """Return the header of a log, the first text of a sequence (RFC 7464)."""
    from airpath import __version__

    source = int(record.tables["flows"]["source"][flow])
    instance = int(record.tables["flows"]["instance"][flow])
    name, scheme = record.source_names[source], record.source_schemes[source]
    header = {
        # Readers detect the format by the first 256 bytes.
        "qlog_version": VERSION,
        "qlog_format": "JSON-SEQ",
        "title": f"{record.scenario_name}: {name}, {scheme}",
        "description": f"flow {flow} of a run of airpath, as its sender sees it",
        "trace": {
            "title": f"{name}, {scheme}",
            "vantage_point": {"name": "airpath sender", "type": "server"},
            "common_fields": {
                "protocol_type": ["QUIC"],
                "time_format": "relative",
                "reference_time": 0,
            },
            "configuration": {
                "airpath": {
                    "version": __version__,
                    "event_schema": OWN_SCHEMA,
                    "scenario": record.scenario_name,
                    "world": record.world,
                    "scheme": scheme,
                    "seed": record.seed,
                    "repetition": record.repetition,
                    "source": name,
                    "flow": flow,
                    "instance": instance,
                    "group": record.source_groups[source],
                }
            },
        },
    }
    return b"\x1e" + json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"

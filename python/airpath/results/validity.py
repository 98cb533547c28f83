"""Validity of runs in real time: for machines, and as a table."""

from collections.abc import Mapping
from typing import Any

from airpath._backends import REAL_TIME
from airpath.results.formatting import NO_VALUE, number
from airpath.results.results import Results

LINKS_HEAD = (
    "run",
    "link",
    "rate (Mbit/s)",
    "carried",
    "delay (ms)",
    "achieved",
    "loss (%)",
    "achieved",
)
"""Headings; each pair consists of the configured and the achieved value."""


def validity_json(results: Results) -> dict[str, Any]:
    """Return the backend, the validity and the links of each run in real time; empty without such runs."""
    records = [run.record for run in results.runs if run.record.world in REAL_TIME]
    if not records:
        return {}
    return {
        "validity": [
            {
                "scheme": record.scheme,
                "repetition": record.repetition,
                "world": record.world,
                "valid": record.valid,
                "problems": list(record.validity["problems"]) if record.validity else [],
                "links": list(record.validity.get("links", ())) if record.validity else [],
            }
            for record in records
        ]
    }


def links_rows(results: Results) -> list[tuple[str, ...]]:
    """Return configured and achieved properties of the links of runs in real time, under `LINKS_HEAD`."""
    return [
        (f"{run.record.scheme}, repetition {run.record.repetition}", *_link_row(link))
        for run in results.runs
        for link in (run.record.validity or {}).get("links", ())
    ]


def _link_row(link: Mapping[str, Any]) -> tuple[str, ...]:
    def cell(name: str, scale: float) -> str:
        value = link.get(name)
        return NO_VALUE if value is None else number(value * scale)

    return (
        link["name"],
        "unlimited" if link["configured_bps"] is None else cell("configured_bps", 1e-6),
        cell("carried_bps", 1e-6),
        cell("configured_delay_s", 1e3),
        cell("achieved_delay_s", 1e3),
        cell("configured_loss", 100.0),
        cell("achieved_loss", 100.0),
    )

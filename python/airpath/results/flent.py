"""Runs as data files of Flent (``.flent.gz``), for its viewer.

The format is version 3 of Flent's ``ResultSet``: JSON with ``version``, ``metadata``, ``x_values``,
``results`` and ``raw_values``. Flent selects plots by the name of a test: these are files of ``tcp_ndown``,
several downloads with a ping.
"""

import gzip
import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from airpath.errors import UsageError
from airpath.metrics.formulas import jain_index
from airpath.metrics.run import columns, flows_under_test, long_lived, sources_under_test
from airpath.metrics.time_bins import Plan

if TYPE_CHECKING:
    from airpath.results.results import Results, RunResult

VERSION = 3
"""The version of the format. Version 4 (Flent 2) differs only in units of series that are not used here."""

TEST = "tcp_ndown"
"""The Flent test whose plots are used."""

BEGINNING = "1970-01-01T00:00:00.000000Z"
"""Simulated time has no date; a fixed one makes equal runs give equal files."""

MOST_FLOWS = 1000
"""Largest number of series in a file: each is a line of a plot."""

NOTE = (
    "A run of airpath. Downloads are goodput of the long-lived flows under test. Ping is the mean of their "
    "senders' smoothed round trips: a run sends no pings."
)

_Numbers = npt.NDArray[np.float64]


def flent_files(results: "Results") -> dict[str, bytes]:
    """Return a file for each run, by name.

    Raises
    ------
    UsageError
        If a run has no long-lived flow under test, or more than `MOST_FLOWS`.
    """
    return {
        f"run-{number:04}.flent.gz": flent_file(run, f"run-{number:04}.flent.gz")
        for number, run in enumerate(results.runs)
    }


def flent_file(run: "RunResult", name: str) -> bytes:
    """Return one run as a file of Flent; the same bytes for the same run.

    Parameters
    ----------
    run
        The run.
    name
        The name of the file, which it contains.

    Raises
    ------
    UsageError
        As `flent_files`.
    """
    plan = run.record.plan
    flows = columns(run.flows)
    rows = np.flatnonzero(flows_under_test(plan, flows) & long_lived(plan, flows))
    _refuse_other_than_a_few(len(rows), run.label)
    series = columns(run.flow_series)
    ends_s = np.unique(columns(run.link_series)["time_s"])
    place = {flow: row for row, flow in enumerate(flows["flow"][rows].tolist())}
    goodput_mbps = np.full((len(rows), len(ends_s)), math.nan)
    round_trip_ms = goodput_mbps.copy()
    mine = np.isin(series["flow"], flows["flow"][rows])
    row = np.array([place[flow] for flow in series["flow"][mine].tolist()], dtype=np.int64)
    column = np.searchsorted(ends_s, series["time_s"][mine])
    lengths_s = np.diff(ends_s, prepend=0.0)
    goodput_mbps[row, column] = series["goodput_bytes"][mine] * 8e-6 / lengths_s[column]
    round_trip_ms[row, column] = series["srtt_s"][mine] * 1e3
    series_of_flent = _results(goodput_mbps, round_trip_ms)
    content = {
        "version": VERSION,
        "metadata": _metadata(run, name, flows, rows),
        "x_values": ends_s.tolist(),
        "results": series_of_flent,
        # Flent plots these; times are relative to the start of the run.
        "raw_values": {
            name: [
                {"t": time_s, "val": value}
                for time_s, value in zip(ends_s.tolist(), values, strict=True)
                if value is not None
            ]
            for name, values in series_of_flent.items()
        },
    }
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, sort_keys=True)
    return gzip.compress(text.encode(), mtime=0)


def refuse_unfit_for_flent(plan: Plan, label: str) -> None:
    """Refuse a plan whose runs cannot be written as Flent files, before it is run.

    Raises
    ------
    UsageError
        As `flent_files`.
    """
    bulk = np.array([flow["traffic"]["kind"] == "bulk" for flow in plan["flows"]], dtype=bool)
    _refuse_other_than_a_few(int((bulk & sources_under_test(plan)).sum()), label)


def _refuse_other_than_a_few(flows: int, label: str) -> None:
    if not 0 < flows <= MOST_FLOWS:
        raise UsageError(
            f"{label}: found {flows} long-lived flows under test; accepted for Flent: 1 to {MOST_FLOWS}"
        )


def _results(goodput_mbps: _Numbers, round_trip_ms: _Numbers) -> dict[str, list[float | None]]:
    """Return Flent's series; ``None`` for missing values."""
    streams = {f"TCP download::{number}": values for number, values in enumerate(goodput_mbps, start=1)}
    there = np.isfinite(goodput_mbps).any(axis=0)
    count = np.isfinite(goodput_mbps).sum(axis=0)
    total = np.where(there, np.nansum(goodput_mbps, axis=0), math.nan)
    known = np.isfinite(round_trip_ms)
    ping = np.full(len(total), math.nan)
    np.divide(np.nansum(round_trip_ms, axis=0), known.sum(axis=0), out=ping, where=known.any(axis=0))
    average = np.divide(total, count, out=np.full(len(total), math.nan), where=count > 0)
    fairness = [jain_index(of[np.isfinite(of)]) for of in goodput_mbps.T]
    return {
        **{name: _known(values) for name, values in streams.items()},
        "TCP download sum": _known(total),
        "TCP download avg": _known(average),
        "TCP download fairness": _known(fairness),
        "Ping (ms) ICMP": _known(ping),
    }


def _known(values: Sequence[float] | _Numbers) -> list[float | None]:
    return [float(value) if math.isfinite(value) else None for value in values]


def _metadata(
    run: "RunResult", name: str, flows: Mapping[str, npt.NDArray[Any]], rows: npt.NDArray[np.int64]
) -> dict[str, Any]:
    from airpath import __version__

    record, plan = run.record, run.record.plan
    duration_s = plan["duration_ns"] / 1e9
    named = zip(flows["source_name"][rows].tolist(), flows["flow_scheme"][rows].tolist(), strict=True)
    return {
        "NAME": TEST,
        "TITLE": f"{record.scenario_name}, {record.scheme}, repetition {record.repetition}",
        "NOTE": NOTE,
        "TIME": BEGINNING,
        "T0": BEGINNING,
        "HOST": "receiver",
        "HOSTS": ["receiver"],
        "LOCAL_HOST": "sender",
        "LENGTH": duration_s,
        "TOTAL_LENGTH": duration_s,
        "STEP_SIZE": plan["record"]["interval_ns"] / 1e9,
        "IP_VERSION": 4,
        "TEST_PARAMETERS": {"download_streams": str(len(rows))},
        "DATA_FILENAME": name,
        "FLENT_VERSION": f"airpath {__version__}",
        "AIRPATH": {
            "version": __version__,
            "scenario": record.scenario_name,
            "scheme": record.scheme,
            "repetition": record.repetition,
            "seed": str(record.seed),
            "flows": [{"name": source, "scheme": scheme} for source, scheme in named],
        },
    }

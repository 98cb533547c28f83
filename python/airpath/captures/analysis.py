"""The engine's analysis of a capture, as arrays and plain values."""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from airpath import _core
from airpath._os.input_file import InputFile, input_file
from airpath.captures.diagnosis import Diagnosis, HostSum, diagnosis_of, sum_of
from airpath.captures.qlog import facts_of_connection, is_log, logged_series, report_of_log
from airpath.errors import CaptureError
from airpath.plugins.failures import plugin_error
from airpath.plugins.specs import allow, engine_plugins, is_code
from airpath.schemes import ESTIMATORS, estimator_plan

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class FlowAnalysis:
    """One TCP flow of a capture or one connection of a QUIC log, named by the direction with more payload.

    Attributes
    ----------
    number
        1, 2, … within the capture, by payload.
    facts
        Counters and measurements, with the engine's names and units (``_ns``, ``_bps``, bytes).
    estimates
        For each estimator ``name``, ``mean_bps``, ``last_bps``, and ``missing``, the reason if there is none.
    time_s
        End of each bin of the series, seconds since the first packet of the capture.
    width_s
        Width of the bins, seconds.
    series
        Columns of the series, one value for each bin; NaN if there is none.
    estimates_bps
        For each estimator the last estimate in each bin, bit/s; NaN if no acknowledgment arrived.
    diagnosis
        The limits of the flow, and its bandwidth.
    """

    number: int
    facts: dict[str, Any]
    estimates: list[dict[str, Any]]
    time_s: Numbers
    width_s: float
    series: dict[str, Numbers]
    estimates_bps: dict[str, Numbers]
    diagnosis: Diagnosis

    @property
    def name(self) -> str:
        """The two endpoints: the sender of the data and its receiver."""
        return f"{self.facts['source']} > {self.facts['destination']}"


@dataclass(frozen=True, slots=True)
class CaptureAnalysis:
    """One capture or QUIC log.

    Attributes
    ----------
    path
        The file; `stdin` for standard input.
    sha256
        The hash of its bytes, in hexadecimal digits.
    report
        Counts of the packets read and of those left out with the reasons, and where reading ended early.
    start_ns
        The first TCP packet, nanoseconds since 1970; 0 for a log.
    flows
        The flows that carried data, the one with most payload first.
    sums
        The sums of the flows of each host that has several; none for a log, or if flows were chosen.
    evicted, dropped, silent
        Flows ended early to bound memory, flows whose results were replaced by larger ones, flows without
        data.
    """

    path: Path
    sha256: str
    report: dict[str, Any]
    start_ns: int
    flows: tuple[FlowAnalysis, ...]
    sums: tuple[HostSum, ...]
    evicted: int
    dropped: int
    silent: int

    @property
    def is_log(self) -> bool:
        """Whether it is a QUIC log (qlog)."""
        return "qlog_version" in self.report

    @property
    def ended_early(self) -> str:
        """Where and why reading stopped early; empty if the file was read to its end."""
        if not self.report["stopped_because"]:
            return ""
        if self.report["stopped_at"] is None:
            return f"reading ended: {self.report['stopped_because']}"
        return f"reading ended after {self.report['stopped_at']} bytes: {self.report['stopped_because']}"


def analyse(
    path: str | Path | InputFile,
    estimators: Sequence[str] = (),
    on_progress: Callable[[float], None] | None = None,
) -> CaptureAnalysis:
    """Read a capture or log, find its TCP flows or QUIC connections, and replay them through estimators.

    Parameters
    ----------
    path
        A pcap or pcapng file or a QUIC log (qlog), plain or compressed by gzip; a pipe, which is read to its
        end first; or `-` for standard input.
    estimators
        Estimators by name, also with options, as in `sarbe:resolution=10ms`, or classes in files
        (`my.py:Mine`); all of the registry by default.
    on_progress
        Called from time to time with the fraction of the file that has been read, 0 to 1.

    Raises
    ------
    CaptureError
        If there is no such file, or it is neither a capture nor a log.
    UsageError
        If there is no such estimator, or an option of it is unknown or out of range.
    PluginError
        If an estimator in a file fails.
    """
    names = dict.fromkeys(estimators) or [estimator.id for estimator in ESTIMATORS]
    allow(names)
    plans = {name: estimator_plan(name) for name in names}
    plugins = engine_plugins({plan["kind"] for plan in plans.values() if is_code(plan["kind"])})
    chosen = [(name, json.dumps(plan)) for name, plan in plans.items()]
    with input_file(path, CaptureError) as capture:
        size = capture.path.stat().st_size
        on_bytes = None if on_progress is None else lambda read: on_progress(read / size)
        try:
            log = is_log(capture.path)
            read = _core.analyse_qlog if log else _core.analyse_capture
            found = read(str(capture.path), chosen, on_bytes, plugins)
            with capture.path.open("rb") as file:
                sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise CaptureError(f"{capture}: cannot be read: {error}") from None
        except _core.CaptureFormatError as error:
            raise CaptureError(f"{capture}: {error}") from None
        except _core.PluginFailed as failed:
            raise plugin_error(failed, str(capture)) from failed.__cause__
    if not log:
        _refuse_unreadable(str(capture), found["report"])
    flows = tuple(_flow(number, flow, log) for number, flow in enumerate(found.pop("flows"), start=1))
    sums = tuple(sum_of(entry) for entry in found.pop("sums", ()))
    if log:
        found = {"start_ns": 0, "evicted": 0, "dropped": 0, **found, "report": report_of_log(found["report"])}
    return CaptureAnalysis(path=Path(capture.name), sha256=sha256, flows=flows, sums=sums, **found)


_READABLE: Final = ("not IP", "not TCP", "IP fragments")
"""Reasons for leaving out packets whose headers were read."""


def _refuse_unreadable(name: str, report: dict[str, Any]) -> None:
    """Reject a capture in which the headers of no packet could be read.

    Raises
    ------
    CaptureError
        With the reasons, if there are packets and none is readable.
    """
    unreadable = {reason: count for reason, count in report["skipped"].items() if reason not in _READABLE}
    if report["packets"] and sum(unreadable.values()) == report["packets"]:
        reasons = ", ".join(f"{count} {reason}" for reason, count in unreadable.items())
        raise CaptureError(
            f"{name}: no packet can be read: {reasons}; accepted: Ethernet, IEEE 802.11, Linux cooked, PPP,"
            " raw IP"
        )


def _flow(number: int, values: dict[str, Any], log: bool) -> FlowAnalysis:
    raw, estimates = values.pop("series"), values.pop("estimates")
    diagnosis = diagnosis_of(values.pop("diagnosis"))
    width_s = raw["width_ns"] * 1e-9
    samples = _whole(raw["rtt_samples"])
    least = _whole(raw["rtt_min_ns"]) * 1e-9
    with np.errstate(invalid="ignore", divide="ignore"):
        series = {
            "delivered_bps": _whole(raw["acked"]) * 8 / width_s,
            "lost_bytes": _whole(raw["lost"]),
            "retransmitted_packets": _whole(raw["retransmitted"]),
            "marks": _whole(raw["marks"]),
            "rtt_min_s": np.where(samples > 0, least, np.nan),
            "rtt_mean_s": np.where(samples > 0, _whole(raw["rtt_sum_ns"]) / samples * 1e-9, np.nan),
        }
    if log:
        series |= logged_series(raw["logged"])
        values = facts_of_connection(values)
    bins = np.arange(1, len(samples) + 1)
    return FlowAnalysis(
        number=number,
        facts=values,
        estimates=estimates,
        time_s=raw["start_ns"] * 1e-9 + bins * width_s,
        width_s=width_s,
        series=series,
        estimates_bps={
            entry["name"]: np.frombuffer(column, dtype="<f8")
            for entry, column in zip(estimates, raw["estimates"], strict=True)
        },
        diagnosis=diagnosis,
    )


def _whole(column: bytes) -> Numbers:
    return np.frombuffer(column, dtype="<u8").astype(np.float64)

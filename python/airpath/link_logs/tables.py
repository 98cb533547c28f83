"""Tables of link logs, with units and meanings of their columns."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from airpath.link_logs.bins import LogBins
from airpath.link_logs.log import Events, LinkLog
from airpath.link_logs.measures import MEASURES, flow_measures, log_measures
from airpath.results.labelled import Labelled, labelled, table_of

_TEXT, _WHOLE, _REAL = pa.string(), pa.int64(), pa.float64()
_NAMES = pa.dictionary(pa.int32(), pa.string())


def logs_table(logs: Sequence[LinkLog]) -> pa.Table:
    """Return one row for each log."""
    spans = [log.span_ns for log in logs]
    rows = [log_measures(log) for log in logs]
    return table_of(
        [
            labelled([log.path.name for log in logs], _TEXT, "log", "name of the file"),
            labelled([log.kind for log in logs], _TEXT, "kind", "mm-link or tunnel: whose definitions hold"),
            labelled([len(log.flows) for log in logs], _WHOLE, "flows", "flows with packets"),
            labelled(
                [(last - first) / 1e9 for first, last in spans],
                _REAL,
                "duration_s",
                "from the first event to the last",
                "s",
            ),
            *_measured(rows),
        ]
    )


def flows_table(logs: Sequence[LinkLog]) -> pa.Table:
    """Return one row for each flow of each log."""
    pairs = [(log, flow) for log in logs for flow in log.flows]
    return table_of(
        [
            labelled([log.path.name for log, _ in pairs], _TEXT, "log", "name of the file"),
            labelled([flow for _, flow in pairs], _WHOLE, "flow", _FLOW),
            *_measured([flow_measures(log, flow) for log, flow in pairs]),
        ]
    )


def log_series_table(logs: Sequence[LinkLog], bins: Sequence[LogBins]) -> pa.Table:
    """Return one row for each log and bin of time."""
    columns: dict[str, tuple[str, Callable[[LinkLog], Events]]] = {
        "offered_bytes": ("what the link could deliver in the bin", lambda log: log.opportunities),
        "arrived_bytes": ("what arrived in the bin", lambda log: log.arrivals),
        "departed_bytes": ("what left in the bin", lambda log: log.departures),
        "dropped_bytes": ("what was dropped in the bin", lambda log: log.drops),
    }
    counts = [len(of) for of in bins]
    return table_of(
        [
            _names(logs, counts),
            *_times(bins),
            *(
                labelled(
                    _joined([of.sum(events(log)) for log, of in zip(logs, bins, strict=True)]),
                    _WHOLE,
                    name,
                    text,
                    "B",
                )
                for name, (text, events) in columns.items()
            ),
        ]
    )


def flow_series_table(logs: Sequence[LinkLog], bins: Sequence[LogBins]) -> pa.Table:
    """Return one row for each flow and bin of time in which one of its packets arrived or left."""
    names: list[int] = []
    parts: dict[str, list[Any]] = {
        name: [] for name in ("flow", "time_s", "bin_s", "arrived_bytes", "departed_bytes")
    }
    for log, of in zip(logs, bins, strict=True):
        names.append(0)
        for flow, (arrivals, departures) in log.of_flow.items():
            arrived, departed = of.sum(arrivals), of.sum(departures)
            some = (arrived > 0) | (departed > 0)
            names[-1] += int(some.sum())
            parts["flow"].append(np.full(some.sum(), flow))
            parts["time_s"].append(of.edges_s[1:][some])
            parts["bin_s"].append(np.full(some.sum(), of.width_s))
            parts["arrived_bytes"].append(arrived[some])
            parts["departed_bytes"].append(departed[some])
    return table_of(
        [
            _names(logs, names),
            labelled(_joined(parts["flow"]), _WHOLE, "flow", _FLOW),
            labelled(_joined(parts["time_s"]), _REAL, "time_s", _END, "s"),
            labelled(_joined(parts["bin_s"]), _REAL, "bin_s", "width of the bin", "s"),
            labelled(
                _joined(parts["arrived_bytes"]), _WHOLE, "arrived_bytes", "what arrived in the bin", "B"
            ),
            labelled(_joined(parts["departed_bytes"]), _WHOLE, "departed_bytes", "what left in the bin", "B"),
        ]
    )


def packets_table(logs: Sequence[LinkLog]) -> pa.Table:
    """Return one row for each packet that left, in the order of the log."""
    departures = [log.departures for log in logs]
    received = _joined([events["time_ns"] for events in departures])
    delay = _joined([events["delay_ns"] for events in departures])
    return table_of(
        [
            _names(logs, [len(events["time_ns"]) for events in departures]),
            labelled(_joined([events["flow"] for events in departures]), _WHOLE, "flow", _FLOW),
            labelled(
                (received - delay) / 1e9, _REAL, "sent_s", "when it arrived at the queue or tunnel", "s"
            ),
            labelled(received / 1e9, _REAL, "received_s", "when it left it", "s"),
            labelled(_joined([events["bytes"] for events in departures]), _WHOLE, "bytes", "its size", "B"),
        ]
    )


_FLOW = "number of the flow; 0 where the log names none"
_END = "end of the bin, since the base timestamp (mm-link) or the first event (tunnel)"


def _measured(rows: Sequence[dict[str, float]]) -> list[Labelled]:
    columns = []
    for measure in (measure for name, measure in MEASURES.items() if rows and name in rows[0]):
        kind = _WHOLE if measure.unit in ("packets", "B") else _REAL
        values = pa.array([row[measure.name] for row in rows], _REAL, from_pandas=True).cast(kind)
        columns.append(labelled(values, kind, measure.name, measure.definition, measure.unit))
    return columns


def _names(logs: Sequence[LinkLog], counts: Sequence[int]) -> Labelled:
    """Repeat each log's name this many times, dictionary-encoded: there may be a row for each packet."""
    numbers = pa.array(np.repeat(np.arange(len(logs), dtype=np.int32), counts))
    names = pa.array([log.path.name for log in logs], pa.string())
    return labelled(pa.DictionaryArray.from_arrays(numbers, names), _NAMES, "log", "name of the file")


def _times(bins: Sequence[LogBins]) -> list[Labelled]:
    ends = _joined([of.edges_s[1:] for of in bins])
    widths = _joined([np.full(len(of), of.width_s) for of in bins])
    return [
        labelled(ends, _REAL, "time_s", _END, "s"),
        labelled(widths, _REAL, "bin_s", "width of the bin", "s"),
    ]


def _joined(parts: Sequence[Any]) -> Any:
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)

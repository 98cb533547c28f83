"""The tables of answers and of limits: the single source of their columns, units and descriptions."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from airpath.captures.analysis import CaptureAnalysis
from airpath.captures.diagnosis import Answer, Numbers, certainty_of, kind_of
from airpath.results.labelled import labelled, table_of

_ANSWERS: tuple[tuple[str, str, str, Callable[[Answer], Numbers]], ...] = (
    ("time_s", "end of the bin, since the capture began", "s", lambda answer: answer.to_s),
    ("width_s", "width of the bin", "s", lambda answer: answer.to_s - answer.from_s),
    ("rate_bps", "payload delivered over the width of the bin", "bit/s", lambda answer: answer.rate_bps),
    ("low_bps", "lower end of the 95 % interval of the rate", "bit/s", lambda answer: answer.low_bps),
    ("high_bps", "upper end of the 95 % interval of the rate", "bit/s", lambda answer: answer.high_bps),
)

LIMITS: tuple[tuple[str, str, str, pa.DataType], ...] = (
    ("from_s", "begin of the window, since the capture began", "s", pa.float64()),
    ("to_s", "end of the window", "s", pa.float64()),
    ("label", "what limited the flow", "", pa.string()),
    ("confidence", "probability that the label is right", "", pa.float64()),
    ("bytes", "payload delivered", "B", pa.int64()),
    ("margin", "by how much the score of the label exceeds the next one", "", pa.float64()),
    ("queued", "share of round trips with a long queue", "", pa.float64()),
    ("full", "share of time in which the receive window was full", "", pa.float64()),
    ("clocked", "share of data packets that answer acknowledgments, beyond chance", "", pa.float64()),
    ("queue_s", "median queueing delay", "s", pa.float64()),
    ("there_s", "queueing delay of the forward path, where the receiver's clock shows it", "s", pa.float64()),
    ("back_s", "queueing delay of the reverse path, where the receiver's clock shows it", "s", pa.float64()),
    ("episodes", "loss episodes around the window", "", pa.int64()),
    ("at_queue", "share of these that met a long queue", "", pa.float64()),
    ("spread", "coefficient of variation of the bytes in flight when they began", "", pa.float64()),
    ("losses", "segments lost", "packets", pa.int64()),
    ("marks", "acknowledgments that report congestion marks", "", pa.int64()),
)
"""Columns of the table of limits: name, meaning, unit, type."""


def answers_table(captures: Sequence[CaptureAnalysis]) -> pa.Table:
    """Return one row for each bin of each sum of a host's flows, and of each flow."""
    found = list(_answers(captures))

    def repeated(place: int) -> list[Any]:
        return [row[place] for row in found for _ in row[4].rate_bps]

    columns = [
        labelled(repeated(0), pa.string(), "capture", "name of the file"),
        labelled(repeated(1), pa.int64(), "flow", "number within the capture; null for the sum of a host"),
        labelled(repeated(2), pa.string(), "host", "address of the host; null for a flow"),
        labelled(repeated(3), pa.string(), "direction", "received or sent by the host; null for a flow"),
    ]
    for name, text, unit, of in _ANSWERS:
        values = np.concatenate([of(row[4]) for row in found]) if found else np.empty(0)
        columns.append(labelled(values, pa.float64(), name, text, unit))
    kinds = [kind_of(full) for row in found for full in row[4].full]
    text = "full: the bandwidth that the path gave; at least: a lower bound of it"
    return table_of([*columns, labelled(kinds, pa.string(), "kind", text)])


def limits_table(captures: Sequence[CaptureAnalysis]) -> pa.Table:
    """Return one row for each window of each flow: the limit, its confidence, and the evidence."""
    rows = [(capture.path.name, flow) for capture in captures for flow in capture.flows]

    def joined(name: str) -> list[Any]:
        return [value for _, flow in rows for value in flow.diagnosis.limits[name]]

    names = [name for name, flow in rows for _ in flow.diagnosis.limits["label"]]
    numbers = [flow.number for _, flow in rows for _ in flow.diagnosis.limits["label"]]
    columns = [
        labelled(names, pa.string(), "capture", "name of the file"),
        labelled(numbers, pa.int64(), "flow", "number within the capture"),
    ]
    for name, text, unit, kind in LIMITS:
        columns.append(labelled(joined(name), kind, name, text, unit))
    certainties = [certainty_of(confidence) for confidence in joined("confidence")]
    text = "sure (probability of at least 0.9), likely (0.7) or unclear"
    return table_of([*columns, labelled(certainties, pa.string(), "certainty", text)])


def _answers(
    captures: Sequence[CaptureAnalysis],
) -> Iterator[tuple[str, int | None, str | None, str | None, Answer]]:
    for capture in captures:
        for one in capture.sums:
            yield capture.path.name, None, one.host, "received" if one.down else "sent", one.answer
        for flow in capture.flows:
            yield capture.path.name, flow.number, None, None, flow.diagnosis.answer

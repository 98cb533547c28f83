"""The stored data of ACK-rate estimators: their samples and estimates in each recorded interval."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from airpath.metrics.run import columns
from airpath.results import RunResult

Numbers = npt.NDArray[np.float64]

IN_ORDER_SEGMENTS: Final = 2.5
"""Largest sample, in segments, of an acknowledgment of data in order: a delayed one covers at most two."""
_RECOVERY: Final = "loss"
"""The event that begins a fast recovery."""
_RECOVERED: Final = ("recovery left", "timeout")
"""The events that end it. Samples after a timeout are filtered by `IN_ORDER_SEGMENTS` only, because no event
reports its end.
"""


@dataclass(frozen=True)
class EstimateData:
    """The data of one estimator: flows by intervals, payload in bit/s, NaN for missing values."""

    last_bps: Numbers = field(repr=False)
    """The estimate at the end of the interval."""
    largest_bps: Numbers = field(repr=False)
    """The largest estimate of the interval; only in runs that record every sample."""
    largest_sample_bps: Numbers = field(repr=False)
    """The largest sample of the interval, before any filter."""
    in_order_sample_bps: Numbers = field(repr=False)
    """The largest sample of single acknowledgments outside recovery that cover at most two segments; only of
    estimators that take a sample from each acknowledgment, in runs that record every sample.
    """


PARTS: Final = tuple(part.name for part in fields(EstimateData))


def estimates(run: RunResult, kept: npt.NDArray[np.int64], time_s: Numbers) -> dict[str, EstimateData]:
    """Return the data of the estimators of some flows, by their names in the run's tables.

    Parameters
    ----------
    run
        The run.
    kept
        Indices of the flows, ascending.
    time_s
        Ends of the recorded intervals.
    """
    rows = _kept_rows(run, "flow_estimates", ("estimate_bps", "largest_sample_bps"), kept)
    samples = _kept_rows(run, "estimate_samples", ("estimate_bps", "sample_bps"), kept)
    shape = (len(kept), len(time_s))
    found = {}
    for name in dict.fromkeys(rows["estimator"].tolist()):
        mine, each = _rows(rows, rows["estimator"] == name), _rows(samples, samples["estimator"] == name)
        at = np.searchsorted(kept, mine["flow"]), np.searchsorted(time_s, mine["time_s"])
        last, largest_sample = np.full(shape, np.nan), np.full(shape, np.nan)
        last[at], largest_sample[at] = mine["estimate_bps"], mine["largest_sample_bps"]
        in_order = np.full(shape, np.nan)
        for number, flow in enumerate(kept.tolist()):
            if _takes_each_acknowledgment(run.record.plan, name, _source(run, flow)):
                ours = _rows(each, each["flow"] == flow)
                good = _in_order(run, flow, ours)
                np.fmax.at(
                    in_order[number], _interval(time_s, ours["time_s"][good]), ours["sample_bps"][good]
                )
        largest = np.full(shape, np.nan)
        np.fmax.at(
            largest,
            (np.searchsorted(kept, each["flow"]), _interval(time_s, each["time_s"])),
            each["estimate_bps"],
        )
        found[str(name)] = EstimateData(last, largest, largest_sample, in_order)
    return found


def in_order_samples(
    time_s: Numbers,
    sample_bps: Numbers,
    segment_bits: float,
    changes_s: Numbers,
    begins: npt.NDArray[np.bool_],
) -> npt.NDArray[np.bool_]:
    """Return a mask of the samples that belong to an acknowledgment of data in order, outside recovery.

    An estimator knows that an arrival time is complete only at the next one, so a sample is recorded when the
    next acknowledgment arrives: sample k belongs to the time of record k - 1, and spans the time from record
    k - 2 to it.

    Parameters
    ----------
    time_s
        Time at which each sample was recorded.
    sample_bps
        The samples.
    segment_bits
        Payload of a full segment.
    changes_s
        Times at which a recovery began or ended, ascending.
    begins
        Mask of the times that are beginnings.
    """
    good = np.zeros(len(time_s), dtype=bool)
    if len(time_s) < 3:
        return good
    at, span = time_s[1:-1], np.diff(time_s)[:-1]
    covered = sample_bps[2:] * span / segment_bits
    # The acknowledgment that ends a recovery still belongs to it.
    last_change = np.searchsorted(changes_s, at, side="left") - 1
    inside = np.append(begins, False)[last_change]  # index -1, before the first change: the appended value
    good[2:] = (covered <= IN_ORDER_SEGMENTS) & ~inside
    return good


def _in_order(run: RunResult, flow: int, samples: Mapping[str, npt.NDArray[Any]]) -> npt.NDArray[np.bool_]:
    events = columns(run.flow_events)
    mine = (events["flow"] == flow) & np.isin(events["event"], (_RECOVERY, *_RECOVERED))
    transport = run.record.plan["flows"][_source(run, flow)]["transport"]
    return in_order_samples(
        samples["time_s"],
        samples["sample_bps"],
        8.0 * transport["mss_bytes"],
        events["time_s"][mine],
        events["event"][mine] == _RECOVERY,
    )


def _takes_each_acknowledgment(plan: Mapping[str, Any], name: str, source: int) -> bool:
    beside = {str(one["name"]): one["estimator"] for one in plan.get("estimators", ())}
    estimator = beside.get(name) or (plan["flows"][source].get("controller") or {}).get("estimator") or {}
    return bool(estimator.get("sampler", {}).get("kind") == "per-ack")


def _source(run: RunResult, flow: int) -> int:
    return int(run.flows["source"][flow].as_py())


def _kept_rows(
    run: RunResult, name: str, values: tuple[str, ...], kept: npt.NDArray[np.int64]
) -> dict[str, npt.NDArray[Any]]:
    table = columns(run.table(name))
    which = np.isin(table["flow"], kept)
    return {column: table[column][which] for column in ("estimator", "flow", "time_s", *values)}


def _rows(table: Mapping[str, npt.NDArray[Any]], which: npt.NDArray[np.bool_]) -> dict[str, npt.NDArray[Any]]:
    return {name: values[which] for name, values in table.items()}


def _interval(time_s: Numbers, at: Numbers) -> npt.NDArray[np.int64]:
    """Return the index of the interval that contains each time; the last includes its end."""
    return np.minimum(np.searchsorted(time_s, at), len(time_s) - 1)

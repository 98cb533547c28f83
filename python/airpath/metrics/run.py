"""Metrics of one run, from its plan and tables; `airpath.metrics.definitions` defines them."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from airpath.metrics.ack_rate import own_estimator_metrics
from airpath.metrics.end_to_end import end_to_end_metrics
from airpath.metrics.estimator import estimator_metrics
from airpath.metrics.formulas import jain_index, nearest_rank, power
from airpath.metrics.settling import arrivals_settling_s
from airpath.metrics.time_bins import FAIRNESS_BIN_S, RATE_BIN_S, Plan, TimeBins

Tables = Mapping[str, pa.Table]


def run_metrics(plan: Plan, tables: Tables) -> dict[str, float]:
    """Compute every metric of `airpath.metrics.METRICS` for one run; NaN for missing values.

    Parameters
    ----------
    plan
        The resolved scenario of the run.
    tables
        Its tables, by name.
    """
    link = link_under_test(plan)
    flows = columns(tables["flows"])
    tested = flows_under_test(plan, flows)
    metrics = _throughput(plan, flows, tested)
    metrics |= _link_metrics(plan, tables, link)
    metrics |= _delays(plan, flows, tables["delay_histogram"], tested)
    metrics |= _end_to_end(plan, tables, flows["flow"][tested], link)
    metrics |= _fairness(plan, flows, columns(tables["flow_series"]), tested)
    metrics |= _completion_times(plan, columns(tables["completions"]), flows["flow"][tested])
    metrics["cwnd_mean_bytes"] = _mean_window(plan, columns(tables["flow_series"]), flows["flow"][tested])
    metrics["retransmitted_packets"] = float(flows["retransmitted_packets"][tested].sum())
    metrics["timeouts"] = float(flows["timeouts"][tested].sum())
    metrics |= _estimator(plan, tables, link)
    metrics |= own_estimator_metrics(plan, tables, flows["flow"][tested])
    metrics["power_mbps_per_ms"] = power(metrics["throughput_mbps"], metrics["delay_mean_ms"])
    return metrics


def flow_metrics(tables: Tables) -> pa.Table:
    """Return metrics of each flow of one run, one row for each: names, rates, loss, delays, events.

    Rates are over the flow's own time, from its first to its last departure in the measured interval.
    `loss_rate` is lost / (lost + received) data packets over the whole path. The other columns are defined as
    the metrics of the run of the same name, for the one flow.
    """
    table = tables["flows"]
    flows = columns(table)
    duration_s = flows["last_departure_s"] - flows["first_departure_s"]
    names = table.select(["scheme", "repetition", "flow", "source_name", "group", "flow_scheme"])
    computed = {
        "throughput_mbps": _ratio(flows["departed_bytes"] * 8e-6, duration_s),
        "goodput_mbps": _ratio(flows["goodput_bytes"] * 8e-6, duration_s),
        "loss_rate": _ratio(flows["lost_packets"], flows["lost_packets"] + flows["delivered_packets"]),
        "delay_mean_ms": flows["delay_mean_s"] * 1e3,
        "queueing_mean_ms": flows["queueing_mean_s"] * 1e3,
        "retransmitted_packets": flows["retransmitted_packets"],
        "timeouts": flows["timeouts"],
    }
    return pa.table({**{name: names[name] for name in names.column_names}, **computed})


def link_under_test(plan: Plan) -> int:
    """Return the link at which most controlled sources are measured; the lowest index of several.

    Without controlled sources, all sources count.
    """
    controlled = [flow for flow in plan["flows"] if flow.get("controller") is not None] or plan["flows"]
    if not controlled:
        return 0
    return int(np.bincount([flow["measured_at"] for flow in controlled]).argmax())


def flows_under_test(plan: Plan, flows: Mapping[str, npt.NDArray[Any]]) -> npt.NDArray[np.bool_]:
    """Return a mask of the controlled flows at the link under test (rows of `flows`), else of all there."""
    tested: npt.NDArray[np.bool_] = sources_under_test(plan)[flows["source"]]
    return tested


def sources_under_test(plan: Plan) -> npt.NDArray[np.bool_]:
    """Return a mask of the controlled sources measured at the link under test, else of all sources there."""
    link = link_under_test(plan)
    measured = np.array([flow["measured_at"] == link for flow in plan["flows"]], dtype=bool)
    controlled = np.array([flow.get("controller") is not None for flow in plan["flows"]], dtype=bool)
    return measured & controlled if (measured & controlled).any() else measured


def windowed_jain(
    flow_series: Mapping[str, npt.NDArray[Any]],
    flows: npt.NDArray[np.int64],
    starts_s: npt.NDArray[np.float64],
    bins: TimeBins,
) -> npt.NDArray[np.float64]:
    """Return the Jain index of each bin, over those of `flows` that are active throughout it.

    NaN with fewer than two such flows, and if they received nothing: an outage is no proof of fairness.
    `starts_s` is the start time of each flow, in seconds. The intervals in which a flow starts and stops have
    rows as well; later ones have none.
    """
    of_row = flow_series["flow"]
    row_of = np.full(1 + max(of_row.max(initial=-1), flows.max(initial=-1)), -1)
    row_of[flows] = np.arange(len(flows))
    row, index = row_of[of_row], bins.index(flow_series["time_s"])
    inside = (row >= 0) & (index >= 0)
    shape = (len(flows), len(bins))
    cell = row[inside] * len(bins) + index[inside]
    departed = flow_series["departed_bytes"][inside]
    sizes = np.bincount(cell, departed, len(flows) * len(bins)).reshape(shape)
    active = np.bincount(cell, minlength=len(flows) * len(bins)).reshape(shape)
    throughout = (active == bins.intervals) & (starts_s[:, None] <= bins.start_s + bins.rounding_s)
    # The last interval of a flow is the one in which it stops, unless it lasts to the end of the run.
    last_s = np.zeros(len(flows))
    np.maximum.at(last_s, row[inside], flow_series["time_s"][inside])
    throughout &= (last_s[:, None] > bins.end_s + bins.rounding_s) | (bins.end_s >= bins.end_s[-1:])
    among = throughout.sum(axis=0)
    shares = np.where(throughout, sizes, 0.0)
    largest = shares.max(axis=0, initial=0.0)
    shares /= np.where(largest > 0, largest, 1.0)  # as in `jain_index`
    return _ratio(
        np.where(among >= 2, np.square(shares.sum(axis=0)), math.nan), among * np.square(shares).sum(axis=0)
    )


def long_lived(plan: Plan, flows: Mapping[str, npt.NDArray[Any]]) -> npt.NDArray[np.bool_]:
    """Return a mask of the rows of table `flows` whose flows always have more data to send."""
    bulk = np.array([flow["traffic"]["kind"] == "bulk" for flow in plan["flows"]], dtype=bool)
    long: npt.NDArray[np.bool_] = bulk[flows["source"]]
    return long


def columns(table: pa.Table) -> Mapping[str, npt.NDArray[Any]]:
    """Return a table's columns as NumPy arrays; names as arrays of strings (``None`` for null)."""
    return _Columns(table)


def rows_with(table: pa.Table, column: str, name: str) -> npt.NDArray[np.bool_]:
    """Return a mask of the rows in which a column of names contains `name`, using the dictionary codes."""
    encoded = table[column]
    if encoded.num_chunks > 1:
        encoded = encoded.unify_dictionaries()
    names = encoded.chunk(0).dictionary.to_pylist() if encoded.num_chunks else []
    if name not in names:
        return np.zeros(len(table), dtype=bool)
    # Nulls become NaN.
    numbers = [chunk.indices.to_numpy(zero_copy_only=False) for chunk in encoded.chunks]
    found: npt.NDArray[np.bool_] = np.concatenate(numbers) == names.index(name)
    return found


def measured_span_s(plan: Plan) -> tuple[float, float]:
    """Return the start and end of the measured interval, in seconds."""
    return plan["record"]["measure_from_ns"] / 1e9, plan["duration_ns"] / 1e9


class _Columns(Mapping[str, npt.NDArray[Any]]):
    """A mapping that converts a column when it is first accessed: names are expensive, and rarely used."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table
        self._made: dict[str, npt.NDArray[Any]] = {}

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        if name not in self._made:
            column = self._table[name]
            names = pa.types.is_dictionary(column.type)
            self._made[name] = _names(column) if names else column.to_numpy()
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._table.column_names)

    def __len__(self) -> int:
        return len(self._table.column_names)


def _names(column: pa.ChunkedArray) -> npt.NDArray[Any]:
    """Look up the names here: Arrow's own conversion loses the nulls."""
    if len(column) == 0:
        return np.empty(0, dtype=object)
    encoded = column.unify_dictionaries().combine_chunks()
    names = np.array([*encoded.dictionary.to_pylist(), None], dtype=object)
    looked_up: npt.NDArray[Any] = names[encoded.indices.fill_null(len(names) - 1).to_numpy()]
    return looked_up


def _throughput(
    plan: Plan, flows: Mapping[str, npt.NDArray[Any]], tested: npt.NDArray[np.bool_]
) -> dict[str, float]:
    if not tested.any():
        names = ("throughput_mbps", "pantheon_throughput_mbps", "goodput_mbps")
        return dict.fromkeys(names, math.nan)
    start_s, end_s = measured_span_s(plan)
    departed = float(flows["departed_bytes"][tested].sum()) * 8e-6
    first, last = flows["first_departure_s"][tested], flows["last_departure_s"][tested]
    seen = ~np.isnan(first)
    busy_s = float(last[seen].max() - first[seen].min()) if seen.any() else math.nan
    return {
        "throughput_mbps": departed / (end_s - start_s),
        "pantheon_throughput_mbps": _divide(departed, busy_s),
        "goodput_mbps": float(flows["goodput_bytes"][tested].sum()) * 8e-6 / (end_s - start_s),
    }


def _link_metrics(plan: Plan, tables: Tables, link: int) -> dict[str, float]:
    links = columns(tables["links"])
    row = np.flatnonzero(links["link"] == link)
    all_links = columns(tables["link_series"])
    start_s, end_s = measured_span_s(plan)
    names = (
        "capacity_mbps",
        "link_throughput_mbps",
        "utilisation",
        "utilisation_binned",
        "arrival_rate_settling_s",
        "loss_rate",
        "congestion_loss_rate",
        "channel_loss_rate",
        "queue_mean_bytes",
        "queue_p95_bytes",
    )
    if row.size == 0:
        return dict.fromkeys(names, math.nan)
    of = {name: links[name][row[0]] for name in _OF_LINK}
    congestion = float(of["dropped_bytes_overflow"] + of["dropped_bytes_early"])
    channel = float(of["dropped_bytes_corruption"])
    # Departed bytes include packets corrupted by the channel, so this sum contains lost and delivered bytes.
    decided = congestion + float(of["departed_bytes"])

    mine = all_links["link"] == link
    series = {name: all_links[name][mine] for name in _OF_LINK_SERIES}
    bins = TimeBins(plan, RATE_BIN_S, start_s)
    offered = bins.sum(series["time_s"], series["offered_bytes"])
    with_capacity = offered > 0
    per_bin = bins.sum(series["time_s"], series["departed_bytes"])[with_capacity] / offered[with_capacity]
    queue = series["queue_mean_bytes"][TimeBins(plan, 0.0, start_s).index(series["time_s"]) >= 0]
    return {
        "capacity_mbps": float(of["offered_bytes"]) * 8e-6 / (end_s - start_s),
        "link_throughput_mbps": float(of["departed_bytes"]) * 8e-6 / (end_s - start_s),
        "utilisation": _divide(float(of["departed_bytes"]), float(of["offered_bytes"])),
        "utilisation_binned": float(per_bin.mean()) if per_bin.size else math.nan,
        "arrival_rate_settling_s": arrivals_settling_s(plan, all_links, link, start_s),
        "loss_rate": _divide(congestion + channel, decided),
        "congestion_loss_rate": _divide(congestion, decided),
        "channel_loss_rate": _divide(channel, decided),
        "queue_mean_bytes": float(of["queue_mean_bytes"]),
        "queue_p95_bytes": nearest_rank(queue, 95),
    }


_OF_LINK = (
    "offered_bytes",
    "departed_bytes",
    "dropped_bytes_overflow",
    "dropped_bytes_early",
    "dropped_bytes_corruption",
    "queue_mean_bytes",
)
_OF_LINK_SERIES = ("time_s", "offered_bytes", "departed_bytes", "queue_mean_bytes")


def _estimator(plan: Plan, tables: Tables, link: int) -> dict[str, float]:
    # The table is absent without routers; then there is nothing to compare.
    rows = tables.get("link_observations", _NO_OBSERVATIONS)
    start_s, _ = measured_span_s(plan)
    return estimator_metrics(plan, columns(rows), columns(tables["link_series"]), link, start_s)


_NO_OBSERVATIONS = pa.table(
    {name: pa.array([], pa.float64()) for name in ("link", "quantity", "time_s", "value")}
)


def _delays(
    plan: Plan,
    flows: Mapping[str, npt.NDArray[Any]],
    delay_histogram: pa.Table,
    tested: npt.NDArray[np.bool_],
) -> dict[str, float]:
    packets = flows["delivered_packets"][tested]
    histogram = columns(delay_histogram)
    mine = sources_under_test(plan)[histogram["source"]]
    metrics = {}
    for kind, name, column in (
        ("one-way", "delay", "delay_mean_s"),
        ("queueing", "queueing", "queueing_mean_s"),
    ):
        means = flows[column][tested]
        received = packets > 0  # the others have no delay
        total = float(packets[received].sum())
        rows = mine & rows_with(delay_histogram, "kind", kind)
        metrics[f"{name}_mean_ms"] = _divide(float((means * packets)[received].sum()) * 1e3, total)
        metrics[f"{name}_p95_ms"] = (
            nearest_rank(histogram["delay_s"][rows], 95, histogram["packets"][rows]) * 1e3
        )
    return metrics


def _end_to_end(plan: Plan, tables: Tables, flows: npt.NDArray[np.int64], link: int) -> dict[str, float]:
    packets = None
    if "packets" in tables:  # only if the scenario records packets
        table = columns(tables["packets"])
        mine = np.isin(table["flow"], flows)
        packets = {name: table[name][mine] for name in ("sent_s", "received_s", "bytes")}
    start_s, _ = measured_span_s(plan)
    series = columns(tables["link_series"])
    return end_to_end_metrics(plan, packets, series, sources_under_test(plan), link, start_s)


def _fairness(
    plan: Plan,
    flows: Mapping[str, npt.NDArray[Any]],
    flow_series: Mapping[str, npt.NDArray[Any]],
    tested: npt.NDArray[np.bool_],
) -> dict[str, float]:
    start_s, _ = measured_span_s(plan)
    # A flow that stopped before the span, or starts after it, shared nothing there. A flow that was active
    # and received nothing was starved.
    inside = TimeBins(plan, 0.0, start_s).index(flow_series["time_s"]) >= 0
    there = np.isin(flows["flow"], flow_series["flow"][inside])
    long = tested & long_lived(plan, flows) & there
    if long.sum() < 2:
        return {"jain_index": math.nan, "jain_index_windowed": math.nan}
    megabits = flows["departed_bytes"][long] * 8e-6
    rates = _ratio(megabits, (flows["last_departure_s"] - flows["first_departure_s"])[long])
    # A single departure has no span of its own: it is all that the flow received during its lifetime.
    rows_of = np.bincount(flow_series["flow"][inside], minlength=1 + max(flows["flow"].max(initial=-1), 0))
    there_s = rows_of[flows["flow"][long]] * plan["record"]["interval_ns"] / 1e9
    rates = np.where(np.isnan(rates), _ratio(megabits, there_s), rates)
    bins = TimeBins(plan, FAIRNESS_BIN_S, start_s)
    windows = windowed_jain(flow_series, flows["flow"][long], flows["start_s"][long], bins)
    windows = windows[~np.isnan(windows)]
    return {
        "jain_index": jain_index(np.nan_to_num(rates)),  # a flow without departures received nothing
        "jain_index_windowed": float(windows.mean()) if windows.size else math.nan,
    }


def _completion_times(
    plan: Plan, completions: Mapping[str, npt.NDArray[Any]], flows: npt.NDArray[np.int64]
) -> dict[str, float]:
    start_s, _ = measured_span_s(plan)
    rows = np.isin(completions["flow"], flows) & (completions["start_s"] >= start_s)
    times = (completions["end_s"] - completions["start_s"])[rows]
    return {
        "completion_mean_s": float(times.mean()) if times.size else math.nan,
        "completion_p50_s": nearest_rank(times, 50),
        "completion_p95_s": nearest_rank(times, 95),
        "completion_p99_s": nearest_rank(times, 99),
        "completions": float(times.size),
    }


def _mean_window(
    plan: Plan, flow_series: Mapping[str, npt.NDArray[Any]], flows: npt.NDArray[np.int64]
) -> float:
    start_s, _ = measured_span_s(plan)
    inside = TimeBins(plan, 0.0, start_s).index(flow_series["time_s"]) >= 0
    windows = flow_series["cwnd_bytes"][inside & np.isin(flow_series["flow"], flows)]
    # The kernel reports none of a flow with several connections.
    windows = windows[np.isfinite(windows)]
    return float(windows.mean()) if windows.size else math.nan


def _divide(numerator: float, denominator: float) -> float:
    return numerator / denominator if denominator > 0 else math.nan


def _ratio(numerator: npt.NDArray[Any], denominator: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    result = np.full(len(numerator), math.nan)
    np.divide(numerator, denominator, out=result, where=denominator > 0)
    return result

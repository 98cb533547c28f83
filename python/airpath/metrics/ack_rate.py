"""How well the ACK-rate estimators of flows follow the capacity of the link."""

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from airpath.metrics.formulas import nearest_rank
from airpath.metrics.time_bins import Plan, TimeBins

BIN_S: Final = 1.0
"""Width of the bins in which estimates are compared with the capacity, in seconds."""
LEAST_CAPACITY: Final = 0.05
"""Bins with less capacity are left out, as a share of the mean capacity: relative errors explode there."""
OWN_ESTIMATOR: Final = "controller"
"""The name, in tables, of the estimator that a flow's controller uses."""

_LABELS: Final = ("scheme", "repetition", "seed", "source_name", "group", "flow_scheme", "flow", "estimator")
ERRORS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "bias_percent": ("bias", "mean estimate relative to the mean capacity, minus one"),
        "error_mean_percent": (
            "mean error",
            "mean absolute difference, relative to the capacity of the same bin",
        ),
        "error_p95_percent": (
            "p95 error",
            "95th percentile, nearest rank, of the absolute difference, relative to the capacity of the same"
            " bin",
        ),
    }
)
"""The measures of an estimator, columns of the table `estimator_errors`: title and description."""
BINS: Final = f"bins of {BIN_S:g} s (a whole number of recorded intervals)"
"""The bins, in words."""
EXCLUDED: Final = (
    "bins without an estimate, without a known capacity, or with less than"
    f" {100 * LEAST_CAPACITY:g} % of the mean capacity are excluded"
)
"""The bins that are left out, in words."""

Numbers = npt.NDArray[np.float64]


def errors_schema(estimates: pa.Schema) -> pa.Schema:
    """Return the schema of the table `estimator_errors`, given that of `flow_estimates`."""
    bins = pa.field("bins", pa.int64(), metadata=_about("", f"number of compared {BINS}"))
    errors = [pa.field(name, pa.float64(), metadata=_about("%", text)) for name, (_, text) in ERRORS.items()]
    return pa.schema([*(estimates.field(name) for name in _LABELS), bins, *errors])


def estimator_errors(plan: Plan, tables: Mapping[str, pa.Table]) -> pa.Table | None:
    """Compare each ACK-rate estimator of each flow with the capacity of the flow's measuring link.

    Estimates are rates of payload, so the capacity is multiplied by the share of payload in a full packet.
    Both are averaged over bins of the measured interval (`BINS`), of which some are left out (`EXCLUDED`).

    Parameters
    ----------
    plan
        The resolved scenario of the run.
    tables
        Its tables, by name.

    Returns
    -------
    pyarrow.Table or None
        One row for each flow and estimator (`errors_schema`), with NaN if no bin can be compared; `None`
        without estimators.
    """
    table = tables.get("flow_estimates")
    if table is None or not len(table):
        return None
    table = table.unify_dictionaries().combine_chunks()
    encoded = table["estimator"].chunk(0)
    flow = table["flow"].to_numpy()
    pairs, first, pair = np.unique(
        flow * len(encoded.dictionary) + encoded.indices.to_numpy(), return_index=True, return_inverse=True
    )
    bins = TimeBins(plan, BIN_S, plan["record"]["measure_from_ns"] / 1e9)
    estimate = _means(bins, pair, len(pairs), table["time_s"].to_numpy(), table["estimate_bps"].to_numpy())
    source = tables["flows"]["source"].to_numpy()[flow[first]]
    capacity = _capacities(plan, tables["link_series"], bins, source)
    rows = [_errors(*one) for one in zip(estimate, capacity, strict=True)]
    columns = {name: _taken(table[name].chunk(0), first) for name in _LABELS}
    columns["bins"] = [count for count, *_ in rows]
    columns |= {name: [row[place] for row in rows] for place, name in enumerate(ERRORS, 1)}
    return pa.table(columns, schema=errors_schema(table.schema))


def own_estimator_metrics(
    plan: Plan, tables: Mapping[str, pa.Table], tested: npt.NDArray[np.int64]
) -> dict[str, float]:
    """Return the measures of the controllers' estimators, as means over the flows under test.

    Parameters
    ----------
    plan, tables
        As in `estimator_errors`.
    tested
        The flows under test.

    Returns
    -------
    dict of str to float
        The metrics whose names begin with ``bandwidth_estimate``; NaN without such estimators.
    """
    errors = estimator_errors(plan, tables)
    metrics = {f"bandwidth_estimate_{name}": math.nan for name in ERRORS}
    if errors is None:
        return metrics
    own = np.array([name == OWN_ESTIMATOR for name in errors["estimator"].to_pylist()])
    own &= np.isin(errors["flow"].to_numpy(), tested)
    for name in ERRORS:
        values = errors[name].to_numpy()[own]
        values = values[~np.isnan(values)]
        metrics[f"bandwidth_estimate_{name}"] = float(values.mean()) if values.size else math.nan
    return metrics


def _taken(column: pa.Array, rows: npt.NDArray[np.int64]) -> pa.Array:
    """Return some rows of a column: Arrow's own `take` imports a module that is slow to import."""
    if not pa.types.is_dictionary(column.type):
        return pa.array(column.to_numpy()[rows], column.type)
    # Nulls become NaN, and null again.
    codes = pa.array(column.indices.to_numpy(zero_copy_only=False)[rows], pa.int32(), from_pandas=True)
    return pa.DictionaryArray.from_arrays(codes, column.dictionary)


def _means(
    bins: TimeBins, row: npt.NDArray[np.int64], rows: int, time_s: Numbers, values: Numbers
) -> Numbers:
    """Return the mean of the known values of each row in each bin; NaN without any."""
    index = bins.index(time_s)
    known = (index >= 0) & np.isfinite(values)
    cell, size = row[known] * len(bins) + index[known], rows * len(bins)
    count = np.bincount(cell, minlength=size).astype(np.float64)
    means = np.full(size, math.nan)
    np.divide(np.bincount(cell, values[known], size), count, out=means, where=count > 0)
    return means.reshape(rows, len(bins))


def _capacities(
    plan: Plan, link_series: pa.Table, bins: TimeBins, source: npt.NDArray[np.int64]
) -> list[Numbers]:
    """Return the capacity for payload in bit/s of the measuring link of each source, in each bin."""
    links, time_s = link_series["link"].to_numpy(), link_series["time_s"].to_numpy()
    offered = link_series["offered_bytes"].to_numpy()
    found: dict[int, Numbers] = {}
    for number in np.unique(source).tolist():
        flow: Mapping[str, Any] = plan["flows"][number]
        mine = links == flow["measured_at"]
        payload, header = (flow["transport"][name] for name in ("mss_bytes", "header_bytes"))
        found[number] = 1e6 * bins.rate_mbps(time_s[mine], offered[mine]) * payload / (payload + header)
    return [found[number] for number in source.tolist()]


def _errors(estimate: Numbers, capacity: Numbers) -> tuple[int, float, float, float]:
    """Return the number of compared bins, bias, mean error and 95th percentile, in percent."""
    offered = capacity[np.isfinite(capacity)]
    least = LEAST_CAPACITY * offered.mean() if offered.size else math.nan
    known = np.isfinite(estimate) & (capacity > 0) & (capacity >= least)
    estimate, capacity = estimate[known], capacity[known]
    if not estimate.size:
        return 0, math.nan, math.nan, math.nan
    # Rounded, because rates are rounded.
    error = (100 * np.abs(estimate - capacity) / capacity).round(6)
    bias = round(100 * (float(estimate.mean() / capacity.mean()) - 1), 6)
    return estimate.size, bias, float(error.mean()), nearest_rank(error, 95)


def _about(unit: str, description: str) -> dict[str, str]:
    return {"unit": unit, "description": description}

"""What reproducing keeps of one run: series of its links, windows of its long flows, transfers, metrics.

A run's tables are tens of times larger; thousands of runs must fit on a disk and be read again in seconds.
"""

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from airpath.metrics.run import columns, flows_under_test, link_under_test, long_lived
from airpath.results import RunResult

Numbers = npt.NDArray[np.float64]

LINK_COLUMNS: Final = (
    "time_s",
    "offered_bytes",
    "arrived_bytes",
    "departed_bytes",
    "dropped_packets",
    "queue_mean_bytes",
    "queue_max_bytes",
    "queue_bytes",
)
"""The columns of `link_series` that are kept."""

QUANTITIES: Final = ("capacity_estimate_bps", "load_factor", "maintainer_on", "persistent_queue_bytes")
"""The quantities of `link_observations` that are kept."""


@dataclass(frozen=True)
class LinkData:
    """One recorded link."""

    buffer_bytes: float
    """Limit of its queue; NaN where it has none in bytes."""
    drops: float
    """Packets lost at it in the whole run."""
    series: Mapping[str, Numbers] = field(repr=False)
    """The columns `LINK_COLUMNS`, one row for each interval."""
    observations: Mapping[str, Numbers] = field(repr=False)
    """For each of `QUANTITIES` that its queue reported: rows of time in seconds and value."""


@dataclass(frozen=True)
class RunData:
    """What is kept of one run."""

    duration_s: float
    """Length of the run."""
    link_under_test: str
    """Name of the link under test (`airpath.metrics.SCOPE`)."""
    metrics: Mapping[str, float]
    """Every metric of the run; NaN where there is no value."""
    links: Mapping[str, LinkData]
    """The recorded links, by name."""
    estimates: Mapping[str, Numbers] = field(repr=False)
    """For each ACK-rate estimator, as `FLOW/ESTIMATOR`: rows of time in seconds and estimate in bit/s of payload,
    NaN before the first. The controller's own estimator is `FLOW/controller`.
    """
    window_time_s: Numbers = field(repr=False)
    """When the windows were read."""
    windows_packets: Numbers = field(repr=False)
    """Congestion windows of the long-lived flows under test: flows by times; NaN while a flow is away."""
    departed_bytes: Numbers = field(repr=False)
    """What of the same flows left the link where they are measured, in each interval: flows by times; NaN while a
    flow is away.
    """
    completion_group: tuple[str, ...] = field(repr=False)
    """Group of the flow of each finished transfer."""
    completion_start_s: Numbers = field(repr=False)
    """When each finished transfer sent its first packet."""
    completion_end_s: Numbers = field(repr=False)
    """When its last byte was acknowledged."""
    flow_group: tuple[str, ...] = field(repr=False)
    """Group of each flow."""
    flow_goodput_bytes: Numbers = field(repr=False)
    """New payload that each flow's application received in the measured span."""


def extract(run: RunResult) -> RunData:
    """Return what is kept of a run."""
    plan = run.record.plan
    time_s, windows, departed = _long_flows(run)
    completions, flows = columns(run.completions), columns(run.flows)
    return RunData(
        duration_s=plan["duration_ns"] / 1e9,
        link_under_test=str(plan["links"][link_under_test(plan)]["name"]),
        metrics=run.metrics,
        links=_links(run),
        estimates=_estimates(run),
        window_time_s=time_s,
        windows_packets=windows,
        departed_bytes=departed,
        completion_group=tuple(map(str, completions["group"])),
        completion_start_s=completions["start_s"].astype(np.float64),
        completion_end_s=completions["end_s"].astype(np.float64),
        flow_group=tuple(map(str, flows["group"])),
        flow_goodput_bytes=flows["goodput_bytes"].astype(np.float64),
    )


def to_bytes(data: RunData) -> bytes:
    """Write as a compressed NumPy archive; numbers survive exactly."""
    arrays: dict[str, npt.NDArray[Any]] = {
        "window_time_s": data.window_time_s,
        "windows_packets": data.windows_packets,
        "departed_bytes": data.departed_bytes,
        "completion_start_s": data.completion_start_s,
        "completion_end_s": data.completion_end_s,
        "flow_goodput_bytes": data.flow_goodput_bytes,
    }
    links = {}
    for number, (name, link) in enumerate(data.links.items()):
        links[name] = {"buffer_bytes": link.buffer_bytes, "drops": link.drops}
        arrays |= {f"link{number}.{column}": values for column, values in link.series.items()}
        arrays |= {f"observed{number}.{quantity}": rows for quantity, rows in link.observations.items()}
    arrays |= {f"estimates.{name}": rows for name, rows in data.estimates.items()}
    facts = {
        "duration_s": data.duration_s,
        "link_under_test": data.link_under_test,
        "metrics": dict(data.metrics),
        "links": links,
        "completion_group": data.completion_group,
        "flow_group": data.flow_group,
    }
    buffer = io.BytesIO()
    np.savez_compressed(buffer, facts=np.array(json.dumps(facts)), allow_pickle=False, **arrays)
    return buffer.getvalue()


def from_bytes(content: bytes) -> RunData:
    """Read what `to_bytes` wrote.

    Raises
    ------
    ValueError, KeyError, OSError
        If it is something else, or cut off.
    """
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    facts = json.loads(str(arrays.pop("facts")))
    links = {
        name: LinkData(
            buffer_bytes=link["buffer_bytes"],
            drops=link["drops"],
            series=_part(arrays, f"link{number}."),
            observations=_part(arrays, f"observed{number}."),
        )
        for number, (name, link) in enumerate(facts["links"].items())
    }
    return RunData(
        duration_s=facts["duration_s"],
        link_under_test=facts["link_under_test"],
        metrics=facts["metrics"],
        links=links,
        estimates=_part(arrays, "estimates."),
        window_time_s=arrays["window_time_s"],
        windows_packets=arrays["windows_packets"],
        departed_bytes=arrays["departed_bytes"],
        completion_group=tuple(facts["completion_group"]),
        completion_start_s=arrays["completion_start_s"],
        completion_end_s=arrays["completion_end_s"],
        flow_group=tuple(facts["flow_group"]),
        flow_goodput_bytes=arrays["flow_goodput_bytes"],
    )


def _part(arrays: Mapping[str, npt.NDArray[Any]], prefix: str) -> dict[str, Numbers]:
    return {name.removeprefix(prefix): values for name, values in arrays.items() if name.startswith(prefix)}


def _links(run: RunResult) -> dict[str, LinkData]:
    plan = run.record.plan
    series, totals = columns(run.link_series), columns(run.links)
    observed = columns(run.table("link_observations"))
    links = {}
    for index, drops in zip(totals["link"], totals["dropped_packets_total"], strict=True):
        rows = series["link"] == index
        mine = observed["link"] == index
        limit = plan["links"][index]["queue"].get("limit_bytes")
        links[str(plan["links"][index]["name"])] = LinkData(
            buffer_bytes=float("nan") if limit is None else float(limit),
            drops=float(drops),
            series={column: series[column][rows].astype(np.float64) for column in LINK_COLUMNS},
            observations={
                quantity: np.stack([observed["time_s"][here], observed["value"][here]])
                for quantity in QUANTITIES
                if (here := mine & (observed["quantity"] == quantity)).any()
            },
        )
    return links


def _estimates(run: RunResult) -> dict[str, Numbers]:
    sources = [str(source["name"]) for source in run.record.plan["flows"]]
    flows, table = columns(run.flows), columns(run.table("flow_estimates"))
    names = {
        flow: sources[source]
        for flow, source in zip(flows["flow"].tolist(), flows["source"].tolist(), strict=True)
    }
    estimates = {}
    for flow in np.unique(table["flow"]):
        for estimator in dict.fromkeys(table["estimator"][table["flow"] == flow].tolist()):
            rows = (table["flow"] == flow) & (table["estimator"] == estimator)
            estimates[f"{names[flow]}/{estimator}"] = np.stack(
                [table["time_s"][rows], table["estimate_bps"][rows]]
            )
    return estimates


def _long_flows(run: RunResult) -> tuple[Numbers, Numbers, Numbers]:
    """Return times, and windows and departed bytes of the long-lived flows under test, flows by times."""
    plan, flows, series = run.record.plan, columns(run.flows), columns(run.flow_series)
    kept = flows["flow"][flows_under_test(plan, flows) & long_lived(plan, flows)]
    rows = np.isin(series["flow"], kept)
    time_s, at = np.unique(series["time_s"][rows], return_inverse=True)
    _, flow = np.unique(series["flow"][rows], return_inverse=True)
    shape = (int(flow.max(initial=-1)) + 1, len(time_s))
    windows, departed = np.full(shape, np.nan), np.full(shape, np.nan)
    segment = [float((source.get("transport") or {}).get("mss_bytes", np.nan)) for source in plan["flows"]]
    source_of = dict(zip(flows["flow"].tolist(), flows["source"].tolist(), strict=True))
    sizes = np.array([segment[source_of[number]] for number in series["flow"][rows].tolist()])
    windows[flow, at] = series["cwnd_bytes"][rows] / sizes
    departed[flow, at] = series["departed_bytes"][rows]
    return time_s.astype(np.float64), windows, departed

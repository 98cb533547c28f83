"""The title of a report and the line of facts under it."""

import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from airpath.metrics.run import link_under_test, measured_span_s
from airpath.results import Results
from airpath.results.formatting import number

_NUMBERS = (
    "No",
    "One",
    "Two",
    "Three",
    "Four",
    "Five",
    "Six",
    "Seven",
    "Eight",
    "Nine",
    "Ten",
    "Eleven",
    "Twelve",
)
_FEW = 3
"""The maximum number of titles that are listed; more are counted."""


def title(results: Results, noun: str) -> str:
    """Return the title: that of the scenario, or the compared schemes and their common link.

    Scenarios of `compare` and `rivals` are titled "SCHEME over LINK". Their title becomes "Eleven schemes
    over LINK", where `noun` is "schemes".
    """
    titles = list(dict.fromkeys(_scenario_title(run.record) for run in results.runs))
    heads, links = (
        zip(*(one.rpartition(" over ")[::2] for one in titles), strict=True) if titles else ((), ())
    )
    if len(titles) > 1 and all(heads) and len(set(links)) == 1:
        return f"{_listed(heads, noun)} over {links[0]}"
    return ", ".join(titles) or "airpath results"


def facts_line(results: Results, provenance: Mapping[str, Any]) -> str:
    """Return the circumstances of the runs in one line."""
    parts = [f"{len(results.runs)} run{'' if len(results.runs) == 1 else 's'}"]
    if results.runs:
        plan = results.runs[0].record.plan
        seeds = {run.record.seed for run in results.runs}
        start_s, end_s = measured_span_s(plan)
        flows = len(plan["flows"])
        parts += [
            f"{len(seeds)} seed{'' if len(seeds) == 1 else 's'}",
            f"{flows} flow{'' if flows == 1 else 's'}",
            f"{number(end_s)} s, measured from {number(start_s)} s",
            *_capacity(results),
            *_base_rtt(plan),
            *_buffer(results),
        ]
    if version := provenance.get("versions", {}).get("airpath"):
        parts.append(f"airpath {version}")
    if created := provenance.get("created"):
        parts.append(str(created)[: len("2026-11-29T12:00")].replace("T", " "))
    return " · ".join(parts)


def _scenario_title(record: Any) -> str:
    """Return the title of the scenario of a run, or its name if it has none."""
    text = record.scenario.text if record.scenario else ""
    found = tomllib.loads(text).get("title") if text else None
    return found if isinstance(found, str) and found else str(record.scenario_name)


def _listed(heads: Sequence[str], noun: str) -> str:
    if len(heads) <= _FEW:
        return f"{', '.join(heads[:-1])} and {heads[-1]}"
    count = _NUMBERS[len(heads)] if len(heads) < len(_NUMBERS) else str(len(heads))
    return f"{count} {noun}"


def _capacity(results: Results) -> list[str]:
    """Return the mean capacity of the link under test, if it is the same in all runs."""
    values = {number(value) for value in results.summary["capacity_mbps"].to_pylist()}
    return [f"capacity {values.pop()} Mbit/s on average"] if len(values) == 1 else []


def _base_rtt(plan: Mapping[str, Any]) -> list[str]:
    """Return the base RTT of the flows over the link under test, if all flows have the same."""
    if not plan["links"]:
        return []
    measured = link_under_test(plan)
    rtts = {_rtt_ns(plan, flow) for flow in plan["flows"] if measured in flow["path"]}
    only = rtts.pop() if len(rtts) == 1 else None
    return [] if only is None else [f"base RTT {number(only / 1e6)} ms"]


def _rtt_ns(plan: Mapping[str, Any], flow: Mapping[str, Any]) -> float | None:
    """Return the sum of the delays on the path of a flow; None if one is not constant in a run."""
    delays = [plan["links"][link].get("delay_ns", {}) for link in (*flow["path"], *flow["reverse_path"])]
    known = [_delay_ns(one) for one in delays]
    return None if None in known else float(sum(one for one in known if one is not None))


def _delay_ns(delay: Mapping[str, Any]) -> float | None:
    """Return a delay, or the middle of the range from which it is sampled for each seed."""
    if delay.get("kind") == "constant":
        return float(delay["value"])
    return (delay["low"] + delay["high"]) / 2 if delay.get("kind") == "uniform" else None


def _buffer(results: Results) -> list[str]:
    """Return the limit of the queue of the link under test, if it is the same in all runs."""
    limits = set()
    for run in results.runs:
        plan = run.record.plan
        queue = plan["links"][link_under_test(plan)]["queue"] if plan["links"] else {}
        limits.add((queue.get("limit_bytes"), queue.get("limit_packets")))
    size, packets = limits.pop() if len(limits) == 1 else (None, None)
    if size is not None:
        return [f"buffer {number(size / 1e3)} kB"]
    return [] if packets is None else [f"buffer {packets} packets"]

"""The circumstances of runs: schemes, seeds, links under test, backends."""

from collections.abc import Callable, Mapping
from typing import Any

from airpath._backends import BACKENDS, REAL_TIME
from airpath.metrics.run import link_under_test, measured_span_s
from airpath.results import Results
from airpath.results.formatting import number
from airpath.scenario.damage import damage_of_plan
from airpath.views.styles import Style


def facts(results: Results, style: Style) -> list[tuple[str, str]]:
    """Return the circumstances as pairs of name and text."""
    if not results.runs:
        return [("runs", "none")]
    plan = results.runs[0].record.plan
    seeds = sorted({run.record.seed for run in results.runs})
    few = 12
    start_s, end_s = measured_span_s(plan)
    shown = ", ".join(map(str, seeds[:few])) + (f", … ({len(seeds)} seeds)" if len(seeds) > few else "")
    facts = [
        ("schemes", ", ".join(style[scheme].display_name for scheme in results.schemes)),
        ("runs", str(len(results.runs))),
        ("seeds", shown),
        (
            "duration",
            f"{number(end_s)} s, measured from {number(start_s)} s",
        ),
        ("sources of traffic", str(len(plan["flows"]))),
    ]
    facts += _world_facts(results)
    facts += _links_under_test(results, style)
    facts += [(f"damage on {name}", text) for name, text in damage_of_plan(plan).items()]
    return facts


def _links_under_test(results: Results, style: Style) -> list[tuple[str, str]]:
    """Return descriptions of the link under test, one for all schemes with the same queue."""
    schemes: dict[str, dict[str, None]] = {}
    for run in results.runs:
        plan = run.record.plan
        if plan["links"]:
            text = _link(plan["links"][link_under_test(plan)])
            schemes.setdefault(text, {})[style[run.record.scheme].display_name] = None
    if len(schemes) == 1:
        return [("link under test", text) for text in schemes]
    return [(f"link under test, {', '.join(names)}", text) for text, names in schemes.items()]


def _world_facts(results: Results) -> list[tuple[str, str]]:
    """Return backend and validity of the runs that were not simulated."""
    records = [run.record for run in results.runs if run.record.world != "sim"]
    if not records:
        return []
    worlds = ", ".join(dict.fromkeys(BACKENDS[record.world].description for record in records))
    problems = [
        (
            f"{record.scheme}, repetition {record.repetition}",
            BACKENDS[record.world].validity_text(record.validity),
        )
        for record in records
        if not record.valid
    ]
    facts = [("backend", worlds)]
    if any(record.world in REAL_TIME for record in records):
        facts.append(("valid runs", f"{len(records) - len(problems)} of {len(records)}"))
    departures = dict.fromkeys(
        text for record in records if record.validity for text in record.validity.get("departures", ())
    )
    return facts + problems + [("not as in the scenario", text) for text in departures]


def _link(link: Mapping[str, Any]) -> str:
    """Return one sentence about a link of the plan."""
    rate, limits = link["rate"], link["queue"]
    rates: dict[str, Callable[[], str]] = {
        "unlimited": lambda: "no rate limit",
        "constant": lambda: f"{number(rate['bps'] / 1e6)} Mbit/s",
        "steps": lambda: f"{len(rate['steps'])} rate steps",
        "sequence": lambda: f"{len(rate['rates'])} rate steps",
        "uniform": lambda: (
            f"{number(rate['low_bps'] / 1e6)} to {number(rate['high_bps'] / 1e6)} Mbit/s, "
            f"sampled every {number(rate['hold_ns'] / 1e9)} s"
        ),
        "opportunities": lambda: "packet-delivery trace",
        "rate-log": lambda: "rate log",
    }
    limit = "unlimited"
    if limits.get("limit_bytes") is not None:
        limit = f"{limits['limit_bytes']} bytes"
    elif limits.get("limit_packets") is not None:
        limit = f"{limits['limit_packets']} packets"
    text = rates[rate["kind"]]() if rate["kind"] in rates else str(rate["kind"])
    kind = limits["kind"]
    if kind == "router":
        kind = f"{kind} ({limits['protocol']['kind']}, capacity source {limits['source']['kind']})"
    if kind == "managed":
        kind = limits["management"]["kind"]
    return f"{link['name']}: {text}; queue {kind}, {limit}"

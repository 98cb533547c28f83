"""`airpath validate`."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from airpath.cli.output import AllowCodeOption, JsonOption, show, show_json, tell
from airpath.errors import AirpathError

if TYPE_CHECKING:
    from airpath.scenario import Scenario

HELP = """\
Examples:

    airpath validate my-link.toml

    airpath validate lte-download --resolved

    airpath validate my-link.toml --json | jq .links
"""


def validate(
    scenario: Annotated[
        str, typer.Argument(help="Scenario file, or name of a shipped scenario (`airpath list scenarios`).")
    ],
    resolved: Annotated[
        bool,
        typer.Option(
            "--resolved", help="Print the resolved values: rates, base RTTs, buffers in all units, traces."
        ),
    ] = False,
    _allow_code: AllowCodeOption = False,
    as_json: JsonOption = False,
) -> None:
    """Check a scenario."""
    from airpath.scenario import Scenario
    from airpath.scenario.simulation import simulation
    from airpath.scenario.traces import read_trace

    try:
        chosen = Scenario.load(scenario)
        chosen.refuse_if_too_large()
        simulation(chosen, chosen.seed)
    except AirpathError as error:
        if as_json:
            show_json({"scenario": scenario, "valid": False, "problems": str(error).splitlines()})
        raise
    for remark in chosen.remarks():
        tell(remark)
    if as_json:
        show_json({"scenario": scenario, "valid": True, **facts(chosen)})
    elif resolved:
        show(chosen.describe())
        for trace in chosen.traces:
            show(f"trace: {trace.path} ({read_trace(trace).format})")
    else:
        show(f"{scenario}: valid")


def facts(scenario: "Scenario") -> dict[str, Any]:
    """Return the resolved values of a scenario for machines; null for a value that does not exist."""
    from airpath._core import independent_packet_loss, packet_loss
    from airpath.scenario.traces import read_trace

    resolved = scenario.resolved
    size = resolved.packet_bytes
    return {
        "name": scenario.name,
        "duration_s": resolved.plan["duration_ns"] / 1e9,
        "packet_bytes": size,
        "seed": scenario.seed,
        "repetitions": scenario.repetitions,
        "links": {
            link["name"]: {
                "rate": link["rate"]["kind"],
                "mean_rate_bps": resolved.mean_rate_bps[link["name"]],
                "base_rtt_s": resolved.base_rtt_ns[link["name"]] / 1e9,
                "buffer_bytes": (buffer := resolved.buffers[link["name"]]).bytes,
                "buffer_packets": buffer.packets,
                "buffer_s": buffer.seconds,
                "buffer_bdp": buffer.bdp,
                "packet_loss": packet_loss(chain, size) if (chain := _chain(link)) else link["loss"],
                "independent_packet_loss": independent_packet_loss(chain, size) if chain else None,
            }
            for link in resolved.plan["links"]
        },
        "flows": {
            flow["name"]: {"scheme": scheme, "group": group}
            for flow, scheme, group in zip(
                resolved.plan["flows"], resolved.schemes, resolved.groups, strict=True
            )
        },
        "traces": [
            {"file": str(trace.path), "format": read_trace(trace).format, "direction": trace.direction}
            for trace in scenario.traces
        ],
    }


def _chain(link: Mapping[str, Any]) -> str | None:
    """Return the chain that corrupts packets on a link of a plan, as JSON; `None` without one."""
    return None if link["bursts"] is None else json.dumps(link["bursts"])

"""The provenance of results: everything that is needed to reproduce them."""

import hashlib
import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any

import pyarrow as pa

from airpath.precision.rule import PrecisionRule
from airpath.results.records import Plan
from airpath.results.results import Results
from airpath.scenario.damage import damage_of_plan

FORMAT = "airpath results 1"
"""Identifies the layout of a results directory; the number increases if readers must distinguish layouts."""

RANDOM_GENERATOR = "PCG XSL RR 128/64 (rand_pcg::Pcg64), one stream for each component"
"""The engine's random generator."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The provenance of results that only the caller knows.

    Attributes
    ----------
    created
        Date and time as ISO 8601 text; a parameter, not read from a clock, so that equal inputs write equal
        files.
    command_line
        The command and its arguments, if there was one.
    commit
        Commit of airpath's source, if known.
    rust_version
        Version of the compiler that built the engine, if known.
    inputs
        Content of each file that the runs read, by name: traces and code.
    code
        Those that are source code, of which the results contain copies. Shared libraries are not.
    outside
        The schemes that are code of the user, by name (`airpath.scenario.outside`).
    """

    created: str
    command_line: Sequence[str] = ()
    commit: str | None = None
    rust_version: str | None = None
    inputs: Mapping[str, bytes] = field(default_factory=dict)
    code: Mapping[str, bytes] = field(default_factory=dict)
    outside: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def provenance(results: Results, scenario_text: str, origin: Origin) -> dict[str, Any]:
    """Return the contents of ``provenance.json``.

    Parameters
    ----------
    results
        The results.
    scenario_text
        The scenario as written by its author.
    origin
        The provenance that only the caller knows.
    """
    return {
        "format": FORMAT,
        **environment(origin),
        "sha256": {
            "scenario": _sha256(scenario_text.encode()),
            "inputs": {name: _sha256(content) for name, content in sorted(origin.inputs.items())},
        },
        **({"outside": dict(origin.outside)} if origin.outside else {}),
        **({} if results.until is None else {"stopping": _stopping(results, results.until)}),
        "runs": [
            {
                "scheme": run.record.scheme,
                "scenario_name": run.record.scenario_name,
                "repetition": run.record.repetition,
                "seed": run.record.seed,
                "wall_s": None if run.record.wall_s != run.record.wall_s else run.record.wall_s,
                "damage": damage_of_plan(run.record.plan),
                "world": run.record.world,
                **({} if run.record.validity is None else {"validity": dict(run.record.validity)}),
                **({} if run.record.agent is None else {"agent": dict(run.record.agent)}),
                "plan_sha256": _sha256(plan_text(run.record.plan).encode()),
                **({} if (packets := run.record.capture) is None else {"capture_sha256": _sha256(packets)}),
                **(
                    {"qlog_sha256": {str(flow): _sha256(log) for flow, log in sorted(logs.items())}}
                    if (logs := run.record.qlogs)
                    else {}
                ),
            }
            for run in results.runs
        ],
    }


def _stopping(results: Results, rule: PrecisionRule) -> dict[str, Any]:
    """Return the rule by which repetitions were added, and the reason for stopping."""
    from airpath.precision.reached import judge  # imported here because statistics are slow to import

    reached = judge(results.summary, rule)
    return {
        "rule": rule.facts(),
        "looks": list(rule.looks),
        "level_of_each_look": rule.level,
        "repetitions": reached.repetitions,
        "end": reached.end,
    }


def made_by(origin: Origin) -> dict[str, Any]:
    """Return the date of the results, and the command and versions that produced them."""
    return {
        "created": origin.created,
        "command_line": list(origin.command_line),
        "versions": {
            "airpath": _airpath_version(),
            "commit": origin.commit,
            "rust": origin.rust_version,
            "python": platform.python_version(),
            "pyarrow": pa.__version__,
        },
    }


def environment(origin: Origin) -> dict[str, Any]:
    """Return the provenance that does not depend on runs: `made_by`, and the platform."""
    return {
        **made_by(origin),
        "platform": {
            "system": platform.system(),
            "release": platform.release(),
            "machine": platform.machine(),
        },
        "random_generator": RANDOM_GENERATOR,
    }


def plan_text(plan: Plan) -> str:
    """Return a plan as JSON with sorted keys and no spaces; equal plans give equal text."""
    return json.dumps(plan, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _airpath_version() -> str | None:
    try:
        return metadata.version("airpath")
    except metadata.PackageNotFoundError:
        return None


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()

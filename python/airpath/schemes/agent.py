"""The scheme `agent`: window and rate are set from outside, step by step, by an environment for learning."""

from typing import Any, Final

from airpath._declared.tables import Parameters, Values
from airpath.schemes.scheme import Scheme


def _agent(_parameters: Values, _mss_bytes: int) -> dict[str, Any]:
    return {"kind": "agent"}


AGENT: Final = Scheme(
    id="agent",
    title="agent",
    description="what an agent sets, in an environment for learning (`airpath.learning`) only",
    colour="#1a1a2e",
    marker="H",
    controller="agent",
    parameters=Parameters(),  # what it may do is in the settings of the environment
    build=_agent,
)
"""Runs in environments for learning only: elsewhere nobody would set anything."""

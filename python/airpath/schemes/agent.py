"""The scheme `agent`: window and rate are set from outside, step by step, by an environment for learning."""

from typing import Any, Final

from airpath.schemes.scheme import Scheme, SchemeParameters


class AgentParameters(SchemeParameters):
    """An agent has no parameters here: what it may do says the environment."""


def _agent(_parameters: AgentParameters, _mss_bytes: int) -> dict[str, Any]:
    return {"kind": "agent"}


AGENT: Final = Scheme(
    id="agent",
    title="agent",
    description="what an agent sets, in an environment for learning (`airpath.learning`) only",
    colour="#1a1a2e",
    marker="H",
    controller="agent",
    parameters=AgentParameters,
    build=_agent,
)
"""Runs in environments for learning only: elsewhere nobody would set anything."""

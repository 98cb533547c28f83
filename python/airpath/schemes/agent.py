"""The scheme `agent`: an environment for learning sets window and rate, step by step."""

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
    parameters=Parameters(),  # the permitted actions are a setting of the environment
    build=_agent,
)
"""For environments for learning only: in other runs nothing would set the window."""

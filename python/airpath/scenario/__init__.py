"""The scenario language: one file describes a complete experiment.

Loading a scenario validates it; resolving it produces the plan that the engine reads. Each module is imported
on first use: `airpath list` needs no scenario.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from airpath.scenario.compare import compare_scenario
    from airpath.scenario.load import parse_assignment, scenario_names
    from airpath.scenario.memory import MemoryEstimate
    from airpath.scenario.queues import QUEUES, QueueDiscipline
    from airpath.scenario.resolve import BufferSize, Plan, Resolved
    from airpath.scenario.scenario import Scenario
    from airpath.scenario.schema import scenario_schema
    from airpath.scenario.traces import TraceInput

__all__ = [
    "QUEUES",
    "BufferSize",
    "MemoryEstimate",
    "Plan",
    "QueueDiscipline",
    "Resolved",
    "Scenario",
    "TraceInput",
    "compare_scenario",
    "parse_assignment",
    "scenario_names",
    "scenario_schema",
]

_HOMES: Final = {
    "QUEUES": "queues",
    "BufferSize": "resolve",
    "MemoryEstimate": "memory",
    "Plan": "resolve",
    "QueueDiscipline": "queues",
    "Resolved": "resolve",
    "Scenario": "scenario",
    "TraceInput": "traces",
    "compare_scenario": "compare",
    "parse_assignment": "load",
    "scenario_names": "load",
    "scenario_schema": "schema",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'airpath.scenario' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"airpath.scenario.{_HOMES[name]}"), name)
    return value

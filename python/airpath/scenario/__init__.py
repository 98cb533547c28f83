"""The scenario language: one file says everything about an experiment.

Loading a scenario checks it; resolving it gives the plan that the engine reads.
"""

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

"""A scenario in the engine, checked and ready to run."""

import json

from airpath import _core
from airpath.scenario.scenario import Scenario
from airpath.scenario.traces import read_trace


def simulation(scenario: Scenario, seed: int) -> _core.Simulation:
    """Return a simulation that is ready to run: everything about the scenario has been checked.

    Raises
    ------
    ScenarioError
        If the scenario is wrong or the engine refuses it.
    TraceError
        If a trace cannot be read or breaks the rules of its format.
    """
    traces = [read_trace(trace) for trace in scenario.traces]
    try:
        return _core.Simulation(json.dumps(scenario.plan()), traces, seed)
    except _core.PlanError as error:
        raise scenario.refused(error) from None

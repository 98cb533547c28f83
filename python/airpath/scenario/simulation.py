"""A scenario in the engine, checked and ready to run."""

import json

from airpath import _core
from airpath.plugins.failures import plugin_error
from airpath.plugins.specs import engine_plugins, kinds_of_code
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
    traces, plan = [read_trace(trace) for trace in scenario.traces], scenario.plan()
    try:
        return _core.Simulation(json.dumps(plan), traces, seed, plugins=engine_plugins(kinds_of_code(plan)))
    except _core.PlanError as error:
        raise scenario.refused(error) from None
    except _core.PluginFailed as error:
        raise plugin_error(error, f"{scenario.name}, seed {seed}") from error.__cause__

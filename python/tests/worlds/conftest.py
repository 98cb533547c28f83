"""Runs by the real clock that can be trusted."""

from collections.abc import Callable
from typing import NoReturn

import pytest

import airpath
from airpath.results import RunResult
from airpath.worlds import World


@pytest.fixture(scope="session")
def valid_run(attempts: range, nothing_valid: Callable[[str], NoReturn]) -> Callable[..., RunResult]:
    """Return what runs a scenario in a world of real time until a run is valid."""

    def run(scenario: airpath.Scenario, world: World, seed: int = 1) -> RunResult:
        for _ in attempts:
            (found,) = airpath.run(scenario, world=world, seed=seed, progress=False).runs
            if found.record.valid:
                break
        else:
            nothing_valid("; ".join(found.record.validity["problems"]))
        return found

    return run

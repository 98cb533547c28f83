"""Valid runs in real time."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

import airpath
from airpath._backends import BackendName
from airpath.results import RunResult


@pytest.fixture(scope="session")
def valid_run(first_valid: Callable[..., Any]) -> Callable[..., RunResult]:
    """Return a function that runs a scenario in a real-time backend until a run is valid."""

    def run(scenario: airpath.Scenario, world: BackendName, seed: int = 1) -> RunResult:
        def once() -> tuple[RunResult, Sequence[str]]:
            (found,) = airpath.run(scenario, world=world, seed=seed, progress=False).runs
            return found, found.record.validity["problems"]

        return first_valid(once)

    return run

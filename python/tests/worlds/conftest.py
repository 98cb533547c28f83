"""Runs by the real clock that can be trusted, or a reason why there are none."""

from collections.abc import Callable
from typing import NoReturn

import pytest

import airpath
from airpath import _core
from airpath.results import RunResult
from airpath.worlds import World

ATTEMPTS = 3
BUSY = 0.0025
"""A quarter of the share of the time that makes a run not valid, as in the emulator's own tests."""


@pytest.fixture(scope="session")
def nothing_valid() -> Callable[[str], NoReturn]:
    """Return what ends a test of which no run was valid, and for what reason.

    It is skipped if the machine holds up even a thread that does nothing, and fails if not.
    """

    def end(reason: str) -> NoReturn:
        share = _core.held_up(2000)
        held_up = f"a thread that does nothing is held up for {share:.2%} of the time"
        said = f"no run was valid, and {held_up}; the last one: {reason}"
        if share > BUSY:
            pytest.skip(said)
        pytest.fail(said)

    return end


@pytest.fixture(scope="session")
def valid_run(nothing_valid: Callable[[str], NoReturn]) -> Callable[..., RunResult]:
    """Return what runs a scenario in a world of real time until a run is valid."""

    def run(scenario: airpath.Scenario, world: World, seed: int = 1) -> RunResult:
        for _ in range(ATTEMPTS):
            (found,) = airpath.run(scenario, world=world, seed=seed, progress=False).runs
            if found.record.valid:
                break
        else:
            nothing_valid("; ".join(found.record.validity["problems"]))
        return found

    return run

"""The rules for real-time checks, as a plugin of pytest: which tests they are, and how they end."""

import os
from collections.abc import Generator
from pathlib import Path
from typing import Final

import pytest
from quietness import Quietness

FIXTURES: Final = {"emulated_hosts", "datapath"}
"""A test that asks for one of these sends real packets."""
INCONCLUSIVE: Final = "inconclusive: "
"""Skips whose reason begins with this mean that the machine was not quiet enough."""

_quietness = pytest.StashKey[Quietness]()
_void = pytest.StashKey[list[tuple[BaseException, str]]]()


@pytest.hookimpl(tryfirst=True)  # before `-m` selects
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests that send real packets, and those that need the controllers of airpath in the kernel."""
    for item in items:
        used = FIXTURES.intersection(getattr(item, "fixturenames", ()))
        if used:
            item.add_marker(pytest.mark.realtime)
        if "datapath" in used:
            item.add_marker(pytest.mark.datapath)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Measure how quiet the machine is during a real-time check."""
    if item.get_closest_marker("realtime") is None:
        return (yield)
    quietness = item.stash[_quietness] = Quietness()
    try:
        return (yield)
    finally:
        quietness.end()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn a failed real-time check into an inconclusive one if a measured disturbance explains it.

    If AIRPATH_AGAIN names a file, other checks run at the same time. The name of an inconclusive check is
    then appended to the file, so that it can run again alone.
    """
    report = yield
    if _quietness not in item.stash or call.excinfo is None:
        return report
    if report.failed:
        # pytest raises the error of a shared fixture again in every test that asks for the fixture.
        void = item.config.stash.setdefault(_void, [])
        known = (reason for error, reason in void if error is call.excinfo.value)
        if reason := next(known, None) or item.stash[_quietness].end():
            void.append((call.excinfo.value, reason))
            path, line, _ = item.location
            said = f"Skipped: {INCONCLUSIVE}{reason}; {call.excinfo.exconly(tryshort=True)}"
            report.outcome, report.longrepr = "skipped", (path, line or 0, said)
    if report.skipped and isinstance(report.longrepr, tuple):
        first, *_ = report.longrepr[2].removeprefix("Skipped: ").splitlines()
        if first.startswith(INCONCLUSIVE):
            if file := os.environ.get("AIRPATH_AGAIN"):
                _append(file, item.nodeid)
            elif file := os.environ.get("AIRPATH_INCONCLUSIVE"):
                _append(file, f"{INCONCLUSIVE}{item.nodeid}: {first.removeprefix(INCONCLUSIVE)}")
    return report


def _append(file: str, line: str) -> None:
    with Path(file).open("a") as lines:
        lines.write(f"{line}\n")

"""Fixtures and rules for all tests.

Tests with the marker `realtime` depend on wall-clock time or real packets. They run with `make test-realtime`
only, and end passed, failed or inconclusive (`docs/development/tests.md`).
"""

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

# Before NumPy is imported: threads of linear algebra only wait for each other on matrices as small as those
# here, and cost three times the processor time.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import hypothesis
import pyarrow.parquet as pq
import pytest
from browser import chromium, look  # noqa: F401 - pytest calls them
from held_sweep import HANG_S
from real_time import (  # noqa: F401 - pytest calls them
    INCONCLUSIVE,
    pytest_collection_modifyitems,
    pytest_runtest_makereport,
    pytest_runtest_protocol,
)

from airpath import _core
from airpath._backends.daemon import datapath_missing

BUSY = 0.0025
"""A quarter of the share of the time that invalidates a run, as in the emulator's own tests."""

# By default a slow example fails its test, which depends on how busy the machine is. Examples are the same
# each time, as in the Rust tests; `--hypothesis-profile default` generates others.
hypothesis.settings.register_profile(
    "any machine", deadline=None, derandomize=True, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("any machine")

# Processes that a shell starts in the background ignore interrupts, and so do their children. The tests of
# interrupts need the disposition that a terminal gives.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def _patient_limits() -> Iterator[None]:
    """Lengthen the limits for code that does not return, so that load ends no test; some tests set others."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("airpath._run.stall.PATIENCE_S", HANG_S)
        patch.setattr("airpath.conform.processes.LIMIT_S", HANG_S)
        patch.setattr("airpath.plugins.watchdog.LIMIT_S", HANG_S)
        yield


@pytest.fixture(scope="session")
def emulated_hosts() -> None:
    """Skip tests that need emulated hosts if this system allows none.

    If it does, `crates/emu/tests/it/hosts.rs` fails if they cannot be made.
    """
    if not hasattr(_core, "try_emulated_hosts"):
        pytest.skip("emulations need Linux")
    try:
        _core.try_emulated_hosts()
    except _core.EmulationFailed as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def flip() -> Callable[[Path, str], None]:
    """Return a function that flips a bit in the last value of a column of a Parquet file."""

    def flip(file: Path, column: str) -> None:
        pages = pq.read_metadata(file).row_group(0).column(pq.read_schema(file).names.index(column))
        end = pages.total_compressed_size + (pages.dictionary_page_offset or pages.data_page_offset)
        content = bytearray(file.read_bytes())
        content[end - 1] ^= 1
        file.write_bytes(content)

    return flip


@pytest.fixture(scope="session")
def datapath() -> None:
    """Skip tests that need airpath's controllers in the kernel if the daemon cannot be started.

    `make test-rust` builds the daemon if the system has what that needs.
    """
    if missing := datapath_missing():
        pytest.skip(f"no datapath: {missing}")


@pytest.fixture(scope="session")
def first_valid() -> Callable[[Callable[[], tuple[Any, Sequence[str]]]], Any]:
    """Return a function that repeats a measurement in real time up to three times, until one is valid.

    A measurement returns its outcome and the reasons why it is not valid. If none is valid the test is
    inconclusive if the machine delays even an idle thread, and fails otherwise.
    """

    def first(measure: Callable[[], tuple[Any, Sequence[str]]]) -> Any:
        share, problems = 0.0, []
        for _ in range(3):
            found, problems = measure()
            if not problems:
                return found
            # At once: the disturbance may be over when the last run ends.
            if share <= BUSY:
                share = max(share, _core.held_up(2000))
        # A machine that stops seldom, but for long, may not do so in two seconds.
        for _ in range(4):
            if share > BUSY:
                break
            share = max(share, _core.held_up(2000))
        delayed = f"an idle thread is delayed for {share:.2%} of the time"
        said = f"no run was valid, and {delayed}; the last one: {'; '.join(problems)}"
        if share > BUSY:
            pytest.skip(f"{INCONCLUSIVE}{said}")
        pytest.fail(said)

    return first

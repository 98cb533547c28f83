"""What all tests need."""

import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import hypothesis
import pyarrow.parquet as pq
import pytest

from airpath import _core
from airpath.datapath import datapath_missing

BUSY = 0.0025
"""A quarter of the share of the time that makes a run not valid, as in the emulator's own tests."""

# How long an example takes, or making one up, says how busy the machine is. By default either fails a test.
# Examples are the same each time, as in the tests in Rust; `--hypothesis-profile default` draws others.
hypothesis.settings.register_profile(
    "any machine", deadline=None, derandomize=True, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("any machine")

# A shell that starts the tests in the background has them and their child processes ignore interrupts. The
# tests of interrupts need what a terminal gives.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def emulated_hosts() -> None:
    """Skip tests that need emulated hosts, where there can be none.

    Where the system allows them, `crates/emu/tests/hosts.rs` fails if they cannot be made.
    """
    if not hasattr(_core, "try_emulated_hosts"):
        pytest.skip("emulations need Linux")
    try:
        _core.try_emulated_hosts()
    except _core.EmulationFailed as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def flip() -> Callable[[Path, str], None]:
    """Return what flips a bit in the last value of a column of a Parquet file."""

    def flip(file: Path, column: str) -> None:
        pages = pq.read_metadata(file).row_group(0).column(pq.read_schema(file).names.index(column))
        end = pages.total_compressed_size + (pages.dictionary_page_offset or pages.data_page_offset)
        content = bytearray(file.read_bytes())
        content[end - 1] ^= 1
        file.write_bytes(content)

    return flip


@pytest.fixture(scope="session")
def datapath() -> None:
    """Skip tests that need our controllers in the kernel, where the daemon cannot be started.

    `make test` builds the daemon, as far as the system has what that takes, before the tests in Python.
    """
    if missing := datapath_missing():
        pytest.skip(f"no datapath: {missing}")


@pytest.fixture(scope="session")
def first_valid() -> Callable[[Callable[[], tuple[Any, Sequence[str]]]], Any]:
    """Return what gives the first valid one of three measurements in real time.

    A measurement gives what it found, and why that should not be trusted. If none is valid the test is
    skipped where the machine holds up even a thread that does nothing, and fails elsewhere.
    """

    def first(measure: Callable[[], tuple[Any, Sequence[str]]]) -> Any:
        share, problems = 0.0, []
        for _ in range(3):
            found, problems = measure()
            if not problems:
                return found
            # At once: what spoilt the run may be over when the last one ends.
            if share <= BUSY:
                share = max(share, _core.held_up(2000))
        # A machine that stops seldom, but for long, may not do so in two seconds.
        for _ in range(4):
            if share > BUSY:
                break
            share = max(share, _core.held_up(2000))
        held_up = f"a thread that does nothing is held up for {share:.2%} of the time"
        said = f"no run was valid, and {held_up}; the last one: {'; '.join(problems)}"
        if share > BUSY:
            pytest.skip(said)
        pytest.fail(said)

    return first

"""What all tests need."""

import signal

import pytest

from airpath import _core

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

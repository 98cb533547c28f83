"""What all tests need."""

import signal

import pytest

from airpath import _core
from airpath.datapath import datapath_missing

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
def datapath() -> None:
    """Skip tests that need our controllers in the kernel, where the daemon cannot be started.

    `make test` builds the daemon, as far as the system has what that takes, before the tests in Python.
    """
    if missing := datapath_missing():
        pytest.skip(f"no datapath: {missing}")

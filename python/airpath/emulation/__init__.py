"""Emulations: real programs, and the kernel's own TCP, over the simulator's links."""

from airpath._backends.validity import EmulatedLink, Validity
from airpath.emulation.command import CaptureUnfinishedError, CommandResult, emulate
from airpath.emulation.connections import ConnectionFlow, Connections, connection_rows
from airpath.emulation.scenario import emulated_scenario

__all__ = [
    "CaptureUnfinishedError",
    "CommandResult",
    "ConnectionFlow",
    "Connections",
    "EmulatedLink",
    "Validity",
    "connection_rows",
    "emulate",
    "emulated_scenario",
]

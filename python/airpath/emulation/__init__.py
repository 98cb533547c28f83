"""Emulations: real programs, and the kernel's own TCP, over the simulator's links."""

from airpath.emulation.command import CommandResult, emulate
from airpath.emulation.scenario import emulated_scenario
from airpath.emulation.validity import EmulatedLink, Validity

__all__ = ["CommandResult", "EmulatedLink", "Validity", "emulate", "emulated_scenario"]

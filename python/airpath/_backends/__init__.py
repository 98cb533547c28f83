"""Backends: the simulator, a QUIC stack, the kernel's TCP, and the Linux datapath.

Each backend takes the plan of a scenario: links, queues, routes and traffic. The simulator and quinn run
airpath's controllers in simulated time. The others run the kernel's controllers in real time; plain `cubic`
and `newreno` stand for `kernel:cubic` and `kernel:reno` there, and results name the kernel's.

Imports are light: a backend imports what it needs when it is used.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from airpath._backends.backend import Backend, BackendName, EngineRun, Placed, RawRun
from airpath._backends.bpf import BpfHosts, BpfRouters
from airpath._backends.kernel import Kernel
from airpath._backends.simulated import Quic, Simulator

__all__ = [
    "BACKENDS",
    "BPF_HOSTS",
    "KERNEL",
    "REAL_TIME",
    "Backend",
    "BackendName",
    "EngineRun",
    "Placed",
    "RawRun",
]

KERNEL: Final = Kernel()
BPF_HOSTS: Final = BpfHosts()

BACKENDS: Final[Mapping[str, Backend]] = MappingProxyType(
    {one.name: one for one in (Simulator(), Quic(), KERNEL, BPF_HOSTS, BpfRouters())}
)
"""The backends by name, as the option `--world` accepts them."""

REAL_TIME: Final = frozenset(name for name, one in BACKENDS.items() if one.real_time)
"""The names of the backends in real time."""

"""The names of the worlds in which a scenario can run (`airpath.worlds`)."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal

World = Literal["sim", "quic", "emulate", "datapath", "routers"]

WORLDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "sim": "simulated",
        "quic": "simulated: our controllers in quinn, a QUIC stack",
        "emulate": "emulated: the kernel's TCP in real time",
        "datapath": "emulated: our controllers in the kernel, in real time",
        "routers": "emulated: our controllers and routers in the kernel, in real time",
    }
)
"""The worlds, and what results say of them."""

IN_REAL_TIME: Final = ("emulate", "datapath", "routers")
"""The worlds that go by the real clock, over the kernel."""

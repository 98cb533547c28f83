"""The kernel's counterparts of the papers' schemes.

Our controllers in the kernel have the default parameters of their schemes. `airpath_vcp` has loss
differentiation, `airpath_xcp` has none.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from airpath.errors import UsageError
from airpath.schemes import Scheme, parse_scheme
from airpath.schemes.loss_differentiation import SUFFIX
from airpath_papers.settings import with_options

STANDS_FOR_BIC: Final = "cubic"
"""The kernel's replacement for BIC, if it has none."""

_SEGMENT_BYTES: Final = 1460


@dataclass(frozen=True)
class InKernel:
    """The kernel's counterpart of a scheme."""

    scheme: str
    """The simulated scheme that the kernel's controller implements; its parameters are those of routers."""
    departures: tuple[str, ...]
    """Features of the requested scheme that it lacks."""


def in_kernel(written: str, available: Sequence[str]) -> InKernel:
    """Return the counterpart of a scheme in a kernel with these congestion controls.

    Raises
    ------
    UsageError
        If it has no counterpart.
    """
    scheme, options = parse_scheme(written)
    name, departures = scheme.id, []
    if scheme.controller == "vcp" and not name.endswith(SUFFIX):
        raise UsageError("VCP in the kernel always has loss differentiation")
    if scheme.controller == "xcp" and name.endswith(SUFFIX):
        name = name.removesuffix(SUFFIX)
        departures.append("XCP in the kernel has no loss differentiation: each loss halves its window")
    if name == "bic" and name not in available:
        name = STANDS_FOR_BIC
        departures.append(
            "this kernel has no BIC (if it is a module, run `modprobe tcp_bic`): its"
            f" {STANDS_FOR_BIC.upper()} is used instead"
        )
    of_sender = {option: value for option, value in options.items() if _moves_sender(scheme, option, value)}
    for option, value in of_sender.items():
        own = scheme.parameters.keys[option]["default"]
        departures.append(f"{scheme.controller.upper()}'s sender in the kernel: {option} {own}, not {value}")
    kept = {option: value for option, value in options.items() if option not in of_sender}
    return InKernel(with_options(name, **kept), tuple(departures))


def _moves_sender(scheme: Scheme, option: str, value: Any) -> bool:
    """Return whether an option changes the sender."""
    chosen, default = (scheme.parameters.read(one) for one in ({option: value}, {}))
    return scheme.build(chosen, _SEGMENT_BYTES) != scheme.build(default, _SEGMENT_BYTES)

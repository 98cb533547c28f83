"""Congestion controls of the operating system's kernel: `kernel:NAME`, in the emulator only."""

import re
from typing import Final

from airpath.errors import UsageError
from airpath.schemes.elsewhere import scheme_elsewhere
from airpath.schemes.scheme import Scheme

PREFIX: Final = "kernel:"
"""Prefix of the name of every congestion control of the kernel."""


def kernel_scheme(name: str) -> Scheme:
    """Return the scheme for a congestion control of the kernel; only a run checks whether it exists.

    Raises
    ------
    UsageError
        If `name` cannot be the name of a congestion control.
    """
    if not re.fullmatch(r"[a-z0-9_-]{1,15}", name):
        raise UsageError(
            f'found "{PREFIX}{name}"; accepted: {PREFIX}NAME with a name of the kernel, as in'
            f" {', '.join(scheme.id for scheme in KERNEL_SCHEMES)}"
        )
    title, description = f"{name} (kernel)", f"the kernel's {name}"
    return _LISTED.get(name) or scheme_elsewhere("kernel", name, title, description, "#444444", "h")


_LISTED: Final = {
    name: scheme_elsewhere("kernel", name, *rest)
    for name, *rest in (
        # Light shades of the colours of their counterparts in the simulator.
        ("cubic", "CUBIC (kernel)", "the kernel's CUBIC, in the emulator", "#ff9a4d", "s"),
        ("reno", "Reno (kernel)", "the kernel's Reno, in the emulator", "#5ab4f0", "o"),
        ("bbr", "BBR (kernel)", "the kernel's BBR (version 1 in unpatched kernels)", "#7c5cff", "P"),
    )
}

KERNEL_SCHEMES: Final = tuple(_LISTED.values())
"""The schemes that are listed; any other congestion control of the kernel is a scheme too."""

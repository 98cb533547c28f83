"""Congestion controls of the operating system's kernel: `kernel:NAME`, which only the emulator has."""

import re
from typing import Final

from airpath.errors import UsageError
from airpath.schemes.elsewhere import scheme_elsewhere
from airpath.schemes.scheme import Scheme

PREFIX: Final = "kernel:"
"""Begins the name of every congestion control of the kernel."""


def kernel_scheme(name: str) -> Scheme:
    """Return the scheme that the kernel calls `name`; whether the kernel has it, a run finds out.

    Raises
    ------
    UsageError
        If that cannot be the name of a congestion control.
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
        # Light steps of the hues of those that the simulator has.
        ("cubic", "CUBIC (kernel)", "the kernel's CUBIC, in the emulator", "#ff9a4d", "s"),
        ("reno", "Reno (kernel)", "the kernel's Reno, in the emulator", "#5ab4f0", "o"),
        ("bbr", "BBR (kernel)", "the kernel's BBR (version 1 in unpatched kernels)", "#7c5cff", "P"),
    )
}

KERNEL_SCHEMES: Final = tuple(_LISTED.values())
"""Those that are listed; any other name of the kernel is a scheme too."""

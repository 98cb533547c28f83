"""The source files of a controller, with the headers that they include."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from airpath.errors import UsageError
from airpath.plugins.compiled.shims import LINUX, Shim
from airpath.plugins.specs import located

_REGISTERED: Final = re.compile(rb"tcp_register_congestion_control\s*\(\s*&\s*(\w+)")
_INCLUDE: Final = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*(?:<([^>\n]+)>|"([^"\n]+)")', re.MULTILINE)


@dataclass(frozen=True)
class Sources:
    """The files of a controller as they were read."""

    shim: Shim
    """What replaces their program."""
    files: tuple[Path, ...]
    """The files that the controller calls first, that of the controller last."""
    contents: Mapping[Path, bytes]
    """These files, and the headers of their folders that they include."""
    headers: frozenset[str]
    """The headers of the program or the system that they include, as in `linux/module.h`."""

    @property
    def registered_name(self) -> str | None:
        """The name under which the kernel knows a module; `None` if the source does not show it."""
        source = self.contents[self.files[-1]]
        for registered in _REGISTERED.findall(source):
            declared = (
                rb"struct\s+tcp_congestion_ops\s+%s\b[^;{]*=\s*\{[^}]*?\.name\s*=\s*\"([^\"]+)\"" % registered
            )
            if (name := re.search(declared, source)) is not None:
                return name[1].decode(errors="replace")
        return None


def read_sources(files: Sequence[Path], shim: Shim = LINUX) -> Sources:
    """Read the files of a controller and the headers that they include, except those that the shim replaces.

    Raises
    ------
    UsageError
        If a file cannot be read.
    """
    contents: dict[Path, bytes] = {}
    headers: set[str] = set()
    named = [located(file) for file in files]
    replaced = {header.name for header in (shim.folder / "include").glob("*.h")}
    named = [*(file for file in shim.also(named[-1]) if file not in named), *named]
    waiting = [*named]
    while waiting:
        file = waiting.pop()
        if file in contents:
            continue
        try:
            contents[file] = file.read_bytes()
        except OSError as error:
            raise UsageError(f"cannot read {file}: {error.strerror or error}") from error
        for system, local in _INCLUDE.findall(contents[file]):
            beside = file.parent / local.decode(errors="replace")
            if system:
                headers.add(system.decode(errors="replace"))
            elif beside.is_file() and beside.name not in replaced:
                waiting.append(beside.resolve())
    return Sources(shim, tuple(named), contents, frozenset(headers))

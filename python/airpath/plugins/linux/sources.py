"""The source files of a module, with the headers that they include."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from airpath.errors import UsageError
from airpath.plugins.specs import located

_REGISTERED: Final = re.compile(rb"tcp_register_congestion_control\s*\(\s*&\s*(\w+)")
_INCLUDE: Final = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*(?:<([^>\n]+)>|"([^"\n]+)")', re.MULTILINE)


@dataclass(frozen=True)
class Sources:
    """The files of a module as they were read."""

    files: tuple[Path, ...]
    """The files that the module calls first, the module last."""
    contents: Mapping[Path, bytes]
    """These files, and the headers of their folders that they include."""
    headers: frozenset[str]
    """The headers of the kernel that they include, as in `linux/module.h`."""

    @property
    def title(self) -> str:
        """The name of the module in figures."""
        name = re.sub(r"[^\w.+-]", "_", self.files[-1].stem.removeprefix("tcp_"))
        return f"{name} (linux)"

    @property
    def registered_name(self) -> str | None:
        """The name under which the kernel knows the module; `None` if the source does not show it."""
        source = self.contents[self.files[-1]]
        for registered in _REGISTERED.findall(source):
            declared = (
                rb"struct\s+tcp_congestion_ops\s+%s\b[^;{]*=\s*\{[^}]*?\.name\s*=\s*\"([^\"]+)\"" % registered
            )
            if (name := re.search(declared, source)) is not None:
                return name[1].decode(errors="replace")
        return None

    @property
    def reads_timestamps(self) -> bool:
        """Whether the module reads the timestamps of TCP."""
        return any(b"rcv_tsval" in content or b"rcv_tsecr" in content for content in self.contents.values())


def read_sources(files: Sequence[Path]) -> Sources:
    """Read the files of a module and the headers that they include.

    Raises
    ------
    UsageError
        If a file cannot be read.
    """
    contents: dict[Path, bytes] = {}
    headers: set[str] = set()
    waiting = [located(file) for file in files]
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
            elif beside.is_file():
                waiting.append(beside.resolve())
    return Sources(tuple(located(file) for file in files), contents, frozenset(headers))

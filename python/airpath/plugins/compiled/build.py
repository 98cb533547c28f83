"""Compiled controllers of other programs, kept for later runs."""

import functools
import hashlib
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from airpath._os.durable import write_whole
from airpath.errors import UsageError
from airpath.plugins.compiled.compiler import COMMON, INTERFACE, Compiler, may_be_another_form
from airpath.plugins.compiled.shims import LINUX, Shim
from airpath.plugins.compiled.sources import Sources, read_sources


@dataclass(frozen=True)
class Module:
    """A compiled controller."""

    library: Path
    """The shared library."""
    sources: Mapping[Path, bytes]
    """The files and their headers, as they were compiled."""
    transport: Mapping[str, Any]
    """The settings of the transport that it needs."""
    compiler: str
    """The first line that the compiler prints about its version."""
    flags: tuple[str, ...]
    """The flags with which the files were compiled."""


def build(files: Sequence[Path], compiler: Compiler | None = None, shim: Shim = LINUX) -> Module:
    """Compile a controller, unless it was compiled before.

    Parameters
    ----------
    files
        The source files: those that the controller calls first, that of the controller last.
    compiler
        The compiler; by default that of the system.
    shim
        What replaces the program of the files.

    Raises
    ------
    UsageError
        If there is no compiler, or it refuses the files.
    """
    sources = read_sources(files, shim)
    compiler = compiler or Compiler.find()
    for form in shim.forms():
        library = _place(sources, compiler, form)
        if library.is_file():
            break
    else:
        library, form = _compile(sources, compiler)
    flags = tuple(compiler.flags(shim, form))
    return Module(library, sources.contents, shim.transport(sources), compiler.version, flags)


def cache_folder() -> Path:
    """Return the folder of compiled modules."""
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "airpath" / "modules"


def _compile(sources: Sources, compiler: Compiler) -> tuple[Path, list[str]]:
    """Compile for the newest form of the program that the sources fit."""
    tries: list[list[str]] = []
    for form in sources.shim.forms():
        with tempfile.TemporaryDirectory(prefix="airpath-") as folder:
            errors = compiler.compile(sources, form, Path(folder))
            if not errors:
                library = _place(sources, compiler, form)
                write_whole(library, (Path(folder) / "module.so").read_bytes(), forced=False)
                return library, form
        tries.append(errors)
        if not may_be_another_form(errors):
            break
    lines = "\n".join(f"  {line}" for line in min(tries, key=len))
    raise UsageError(
        f"{sources.files[-1].name} does not compile for airpath, whose headers have {sources.shim.what}:\n"
        f"{lines}"
    )


def _place(sources: Sources, compiler: Compiler, form: Sequence[str]) -> Path:
    """Return the path of the library in the cache."""
    digest = hashlib.sha256()
    for part in _parts(sources, compiler, form):
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return cache_folder() / f"{digest.hexdigest()}.so"


def _parts(sources: Sources, compiler: Compiler, form: Sequence[str]) -> Iterator[bytes]:
    """Yield everything on which a library depends."""
    yield _shim(sources.shim.folder)
    yield compiler.version.encode()
    yield "\0".join([*compiler.command, *compiler.flags(sources.shim, form)]).encode()
    yield from (file.name.encode() for file in sources.files)
    for file, content in sorted(sources.contents.items()):
        yield file.name.encode()
        yield content


@functools.cache
def _shim(folder: Path) -> bytes:
    """Return a digest of the files that replace a program."""
    digest = hashlib.sha256()
    own = (*sorted(folder.rglob("*.[ch]")), *sorted(COMMON.glob("*.[ch]")))
    for file in (*own, INTERFACE / "airpath_controller.h"):
        digest.update(file.name.encode())
        digest.update(file.read_bytes())
    return digest.digest()

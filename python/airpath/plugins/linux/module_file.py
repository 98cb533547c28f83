"""Congestion control modules of Linux as files with a controller."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from airpath import _core
from airpath.errors import UsageError
from airpath.plugins.library_file import components_of
from airpath.plugins.linux.build import build
from airpath.plugins.loaded_file import LoadedFile


def load_module(files: Sequence[Path]) -> LoadedFile:
    """Compile a module, unless it was compiled before, and load it, which executes its code.

    Parameters
    ----------
    files
        The source files, as the user wrote them: those that the module calls first, the module last.

    Raises
    ------
    UsageError
        If it cannot be read or compiled, or is no module of congestion control.
    """
    module = build(files)
    try:
        library = _core.Library(module.library)
    except _core.LibraryError as error:
        raise UsageError(f"{files[-1]}: {error}") from None
    compiled = {
        "library_sha256": hashlib.sha256(module.library.read_bytes()).hexdigest(),
        "compiler": module.compiler,
        "flags": list(module.flags),
    }
    # Modules that need marks count them.
    needs_ecn = any(b"TCP_CONG_NEEDS_ECN" in content for content in module.sources.values())
    return LoadedFile(
        components_of(library),
        module.sources,
        lambda: _is_as(module.sources),
        compiled,
        {"ecn": "accurate"} if needs_ecn else {},
    )


def _is_as(sources: Mapping[Path, bytes]) -> bool:
    """Return whether all files have this content."""
    try:
        return all(file.read_bytes() == content for file, content in sources.items())
    except OSError:
        return False

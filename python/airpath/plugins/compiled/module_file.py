"""Controllers of other programs as files with a controller."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from airpath import _core
from airpath.errors import UsageError
from airpath.plugins.compiled.build import build
from airpath.plugins.compiled.shims import Shim
from airpath.plugins.library_file import components_of
from airpath.plugins.loaded_file import LoadedFile


def load_module(files: Sequence[Path], shim: Shim) -> LoadedFile:
    """Compile a controller, unless it was compiled before, and load it, which executes its code.

    Parameters
    ----------
    files
        The source files, as the user wrote them: those that the controller calls first, its own last.
    shim
        What replaces the program of the files.

    Raises
    ------
    UsageError
        If it cannot be read or compiled, or is no controller.
    """
    module = build(files, shim=shim)
    try:
        library = _core.Library(module.library)
    except _core.LibraryError as error:
        raise UsageError(f"{files[-1]}: {error}") from None
    compiled = {
        "library_sha256": hashlib.sha256(module.library.read_bytes()).hexdigest(),
        "compiler": module.compiler,
        "flags": list(module.flags),
    }
    return LoadedFile(
        components_of(library),
        module.sources,
        lambda: _is_as(module.sources),
        compiled,
        module.transport,
    )


def _is_as(sources: Mapping[Path, bytes]) -> bool:
    """Return whether all files have this content."""
    try:
        return all(file.read_bytes() == content for file, content in sources.items())
    except OSError:
        return False

"""Shared libraries with components (`airpath_controller.h`, `airpath_components.h`)."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from airpath import _core
from airpath.errors import UsageError
from airpath.plugins.loaded_file import Declared, LoadedFile
from airpath.plugins.specs import located

_opened: Final[set[Path]] = set()
"""The libraries that this process has loaded. They stay loaded until it ends."""


def load_library(file: Path, source: bytes) -> LoadedFile:
    """Load a shared library, which executes code of the library.

    Parameters
    ----------
    file
        The file, as the user wrote it.
    source
        Its content.

    Raises
    ------
    UsageError
        If it is not a library, or has no component for this version of the interface.
    """
    path = located(file)
    state = _state(path)
    try:
        library = _opened_again(path, source) if path in _opened else _core.Library(path)
    except _core.LibraryError as error:
        raise UsageError(f"{file}: {error}") from None
    _opened.add(path)
    return LoadedFile(components_of(library), {path: source}, lambda: _state(path) == state)


def components_of(library: _core.Library) -> dict[str, Declared]:
    """Return the components of a library by kind."""
    return {kind: Declared(kind, json.loads(schema), library) for kind, schema in library.schemas.items()}


def _opened_again(path: Path, source: bytes) -> _core.Library:
    """Load a library that has changed: for its old path the system returns the loaded library."""
    with TemporaryDirectory(prefix="airpath-") as folder:
        copy = Path(folder) / path.name
        copy.write_bytes(source)
        return _core.Library(copy)


def _state(path: Path) -> tuple[int, int, int] | None:
    """Return values that change with the content of a file, without reading it; `None` if it is missing."""
    try:
        state = path.stat()
    except OSError:
        return None
    return state.st_ino, state.st_mtime_ns, state.st_size

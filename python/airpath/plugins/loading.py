"""Loading of components from files that may be executed."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from operator import itemgetter
from pathlib import Path
from threading import RLock
from typing import Any, Final

from airpath._nearest import suggestion
from airpath.errors import UsageError
from airpath.plugins.loaded_file import LoadedFile, MadeBy
from airpath.plugins.python_file import Maker, innermost, load_python, place_in
from airpath.plugins.specs import Spec


@dataclass(frozen=True, eq=False)
class Plugin:
    """A component from a file."""

    kind: str
    """Its kind, as the engine names it: `controller`, `ack-rate`, `capacity-source`, `queue`."""
    id: str
    """Its name in plans: as it was written, without options."""
    schema: Mapping[str, Any]
    """The JSON schema of its parameters."""
    made_by: MadeBy
    """The maker of its instances, in the form that the engine takes."""
    sources: Mapping[Path, bytes]
    """The file and the files that it imports or includes from its folder, as they were loaded."""
    compiled: Mapping[str, Any]
    """How it was compiled, for provenance; empty if it was not."""
    transport: Mapping[str, Any]
    """Settings of the transport that it needs."""


_FRAME: Final = re.compile(r'^  File "(.+)", line (\d+) in ', re.MULTILINE)
_files: Final[dict[tuple[Path, ...], LoadedFile]] = {}
_plugins: Final[dict[tuple[str, str], Plugin]] = {}
"""The plugins loaded last by id and kind: a library may have components of several kinds."""
_plugins_of_files: Final[dict[tuple[tuple[Path, ...], str, str], Plugin]] = {}
"""The same by absolute path: threads may load files with the same relative path from different folders."""
_lock: Final = RLock()
"""Held while a file is loaded, which changes `sys.path` and `sys.modules`."""


def load(spec: Spec, *kinds: str) -> Plugin:
    """Return the component that a text names. A file that has changed is loaded again.

    Parameters
    ----------
    spec
        The text.
    kinds
        The expected kinds, in order of preference. The component of a library that has none of them is of
        another kind.

    Raises
    ------
    UsageError
        If the file may not run, cannot be read, fails, or has no such component.
    """
    plugins = load_all(spec)
    if spec.is_library or spec.program:
        return plugins[next((kind for kind in kinds if kind in plugins), next(iter(plugins)))]
    if not spec.name:
        accepted = ", ".join(plugin.id for plugin in plugins.values())
        raise UsageError(f"found {spec.file} without a class; accepted: {accepted}")
    if spec.name not in plugins:
        near = suggestion(spec.name, plugins)
        raise UsageError(f'{spec.file}: there is no class "{spec.name}" of a component; {near}')
    plugin = plugins[spec.name]
    if plugin.kind == "controller" and isinstance(plugin.made_by, Maker):
        plugin.made_by.refuse_incomplete(str(spec.file))
    return plugin


def load_all(spec: Spec) -> dict[str, Plugin]:
    """Return all components of the file that a text names, at least one, by class, or by kind in a library.

    Raises
    ------
    UsageError
        As `load`.
    """
    spec.refuse_if_not_allowed()
    with _lock:
        return _load_all(spec)


def _load_all(spec: Spec) -> dict[str, Plugin]:
    """Return the components of a file that may run."""
    loaded = _load_file(spec)
    plugins = {}
    for name, declared in loaded.components.items():
        id_ = replace(spec, name=name).component
        key = id_, declared.kind
        if key not in _plugins or _plugins[key].made_by is not declared.made_by:
            _plugins[key] = Plugin(
                declared.kind,
                id_,
                declared.schema,
                declared.made_by,
                loaded.sources,
                loaded.compiled,
                loaded.transport,
            )
        plugins[name] = _plugins_of_files[spec.paths, *key] = _plugins[key]
    return plugins


def loaded_plugins(ids: Iterable[str]) -> list[Plugin]:
    """Return the loaded components with these names in plans, sorted by name and kind.

    A relative path means the file below the current base of relative paths if that file was loaded, otherwise
    the file that was loaded last.
    """
    paths = {id_: spec.paths for id_ in ids if (spec := Spec.parse(id_)) is not None}
    return [
        _plugins_of_files.get((paths[id_], id_, kind), plugin)
        for (id_, kind), plugin in sorted(_plugins.copy().items(), key=itemgetter(0))
        if id_ in paths
    ]


def place(error: BaseException | None) -> str:
    """Return file and line in the user's code at which an error was raised; empty if there is none."""
    return place_in(error, _sources())


def place_in_stack(stack: str) -> str:
    """Return the same for a stack that `faulthandler` wrote, innermost call first."""
    # It escapes characters that are not ASCII.
    files = {str(path).encode("ascii", "backslashreplace").decode(): str(path) for path in _sources()}
    frames = [(files.get(name, name), int(line)) for name, line in _FRAME.findall(stack)]
    return innermost(reversed(frames), files.values())


def _sources() -> Iterator[Path]:
    """Yield the files of the user that were loaded."""
    return (path for loaded in _files.copy().values() for path in loaded.sources)


def _load_file(spec: Spec) -> LoadedFile:
    """Load a file, unless it was loaded before and has not changed."""
    paths = spec.paths
    if paths not in _files or not _files[paths].is_current():
        _files[paths] = _load_again(spec)
    return _files[paths]


def _load_again(spec: Spec) -> LoadedFile:
    """Load a file."""
    if spec.program:
        # Here, because few commands need them.
        from airpath.plugins.compiled.module_file import load_module
        from airpath.plugins.compiled.shims import SHIMS

        return load_module(spec.files, SHIMS[spec.program])
    try:
        source = spec.paths[-1].read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {spec.file}: {error.strerror or error}") from error
    if spec.is_library:
        from airpath.plugins.library_file import load_library  # here, because few commands need it

        return load_library(spec.file, source)
    return load_python(spec.file, source)

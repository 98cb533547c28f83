"""Loads controllers from files, with permission only."""

import importlib.util
import json
import sys
import traceback
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from airpath.errors import UsageError
from airpath.nearest import suggestion
from airpath.plugins.controller import Controller
from airpath.plugins.parameters import schema_of, values_of
from airpath.plugins.specs import Spec


@dataclass(frozen=True, eq=False)
class Plugin:
    """A controller from a file."""

    id: str
    """Its name in plans: the file, as it was written, and the class."""
    controller: type[Controller]
    """Its class."""
    schema: Mapping[str, Any]
    """The JSON schema of its parameters."""
    sources: Mapping[Path, bytes]
    """The file, and the modules that it imports from its folder, as they were loaded."""

    def make(self, values: str) -> Controller:
        """Return a controller with these values of a plan (JSON)."""
        made = self.controller.__new__(self.controller)
        for name, value in values_of(self.controller, json.loads(values)).items():
            setattr(made, name, value)
        made.__init__()  # type: ignore[misc] # the class may define one without arguments
        return made


@dataclass(frozen=True)
class _Loaded:
    """A file that was loaded."""

    module: ModuleType
    parts: Mapping[str, Path]
    """The module and those that it imports from its folder, by name."""
    sources: Mapping[Path, bytes]

    @property
    def is_current(self) -> bool:
        """Whether the files are still as they were."""
        return all(_read(path) == source for path, source in self.sources.items())


_files: Final[dict[Path, _Loaded]] = {}
_plugins: Final[dict[str, Plugin]] = {}


def load(spec: Spec) -> Plugin:
    """Return the controller that a scheme names. A file that has changed is loaded again.

    Raises
    ------
    UsageError
        If the file may not run, cannot be read, fails, or has no such class.
    """
    plugins = {plugin.controller.__name__: plugin for plugin in load_all(spec)}
    if not spec.name:
        accepted = ", ".join(f"{spec.file}:{name}" for name in plugins)
        raise UsageError(f"found {spec.file} without a class; accepted: {accepted}")
    if spec.name not in plugins:
        near = suggestion(spec.name, plugins, "controllers")
        raise UsageError(f'{spec.file}: there is no controller "{spec.name}"; {near}')
    return plugins[spec.name]


def load_all(spec: Spec) -> list[Plugin]:
    """Return all controllers of the file that a scheme names, at least one.

    Raises
    ------
    UsageError
        As `load`.
    """
    file = spec.file
    if not spec.is_allowed:
        raise UsageError(
            f'"{spec.without_options}" is code, which a file may name only with --allow-code (in Python:'
            " airpath.allow_code())"
        )
    loaded = _load_file(file)
    classes = [
        value
        for value in vars(loaded.module).values()
        if isinstance(value, type)
        and issubclass(value, Controller)
        and value.__module__ == loaded.module.__name__
    ]
    if not classes:
        raise UsageError(f"{file}: there is no subclass of airpath.Controller")
    return [_plugin(controller, file, loaded.sources) for controller in classes]


def _plugin(controller: type[Controller], file: Path, sources: Mapping[Path, bytes]) -> Plugin:
    """Return the controller, the same for the same class."""
    name = f"{file}:{controller.__name__}"
    if name not in _plugins or _plugins[name].controller is not controller:
        _plugins[name] = Plugin(name, controller, schema_of(controller, str(file)), sources)
    return _plugins[name]


def loaded_plugins(ids: Iterable[str]) -> list[Plugin]:
    """Return the loaded controllers with these names in plans."""
    return [_plugins[name] for name in sorted(ids) if name in _plugins]


def place(error: BaseException | None, file: Path | None = None) -> str:
    """Return file and line of code of the user where an error came from; nothing if it came from elsewhere.

    Parameters
    ----------
    error
        The error.
    file
        A file that is being loaded, beside those that were.
    """
    if isinstance(error, SyntaxError) and error.filename is not None:
        return f"{error.filename}:{error.lineno}"
    files = (
        {str(file)} if file is not None else {str(path) for one in _files.values() for path in one.sources}
    )
    frames = traceback.extract_tb(None if error is None else error.__traceback__)
    lines = [f"{frame.filename}:{frame.lineno}" for frame in frames if frame.filename in files]
    return lines[-1] if lines else ""


def _load_file(file: Path) -> _Loaded:
    """Run a file as a module."""
    path = file.resolve()
    loaded = _files.get(path)
    if loaded is not None:
        if loaded.is_current:
            return loaded
        for name in loaded.parts:
            sys.modules.pop(name, None)
    try:
        source = path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror or error}") from error
    name = f"airpath_plugin_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    before = set(sys.modules)
    sys.modules[name] = module
    with _imports_from(path.parent):
        try:
            spec.loader.exec_module(module)
        except Exception as error:
            del sys.modules[name]
            text = error.msg if isinstance(error, SyntaxError) else error
            raise UsageError(f"{place(error, path) or file}: {type(error).__name__}: {text}") from error
    parts = {name: path, **dict(_imported(set(sys.modules) - before - {name}, path.parent))}
    sources = {path: source, **{part: _read(part) for part in parts.values() if part != path}}
    _files[path] = _Loaded(module, parts, sources)
    return _files[path]


@contextmanager
def _imports_from(folder: Path) -> Iterator[None]:
    """Let a file import modules beside it, and write no bytecode there."""
    writes = sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        sys.dont_write_bytecode = writes


def _imported(names: Iterable[str], folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the modules that lie in a folder, with their files."""
    for name in sorted(names):
        file = getattr(sys.modules.get(name), "__file__", None)
        if file is not None and folder in (path := Path(file).resolve()).parents:
            yield name, path


def _read(path: Path) -> bytes:
    """Return the content of a file; nothing if it is gone."""
    try:
        return path.read_bytes()
    except OSError:
        return b""

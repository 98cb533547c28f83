"""Loads controllers from files that may run."""

import importlib.util
import json
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
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
        for name, value in values_of(self.schema, json.loads(values)).items():
            setattr(made, name, value)
        # Parameters come first, because an `__init__` of the class may read them.
        made.__init__()  # type: ignore[misc]
        return made


@dataclass(frozen=True)
class _Loaded:
    """A file that was loaded."""

    schemas: Mapping[type[Controller], Mapping[str, Any]]
    """The controllers of the file, with the schemas of their parameters."""
    sources: Mapping[Path, bytes]
    """The file, and the modules that it imports from its folder."""

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
    plugins = []
    for controller, schema in loaded.schemas.items():
        name = f"{file}:{controller.__name__}"
        if name not in _plugins or _plugins[name].controller is not controller:
            _plugins[name] = Plugin(name, controller, schema, loaded.sources)
        plugins.append(_plugins[name])
    return plugins


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
        The file that is being loaded; by default all that were loaded.
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
    """Run a file as a module, unless it was run before and has not changed."""
    path = file.resolve()
    if path in _files and _files[path].is_current:
        return _files[path]
    try:
        source = path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror or error}") from error
    name = f"airpath_plugin_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with _imports_from(path.parent) as imported:
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except (Exception, SystemExit) as error:
            text = error.msg if isinstance(error, SyntaxError) else error
            raise UsageError(f"{place(error, path) or file}: {type(error).__name__}: {text}") from error
        schemas = {
            value: schema_of(value, str(file))
            for value in vars(module).values()
            if isinstance(value, type) and issubclass(value, Controller) and value.__module__ == name
        }
        sources = {**{part: _read(part) for part in imported()}, path: source}
    if not schemas:
        raise UsageError(f"{file}: there is no subclass of airpath.Controller")
    _files[path] = _Loaded(schemas, sources)
    return _files[path]


@contextmanager
def _imports_from(folder: Path) -> Iterator[Callable[[], list[Path]]]:
    """Let a file import modules of its folder; yield a function that returns the files of those modules.

    The modules are not kept under their names: a file of another folder may import others of the same name.
    No bytecode is written into the folder of the user.
    """
    writes, before = sys.dont_write_bytecode, set(sys.modules)
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(folder))

    def imported() -> dict[str, Path]:
        files = {name: getattr(sys.modules[name], "__file__", None) for name in set(sys.modules) - before}
        paths = {name: Path(file).resolve() for name, file in files.items() if file is not None}
        return {name: path for name, path in sorted(paths.items()) if folder in path.parents}

    try:
        yield lambda: list(imported().values())
    finally:
        for name in imported():
            del sys.modules[name]
        sys.path.remove(str(folder))
        sys.dont_write_bytecode = writes


def _read(path: Path) -> bytes:
    """Return the content of a file; nothing if it cannot be read."""
    try:
        return path.read_bytes()
    except OSError:
        return b""

"""Python files with components."""

import difflib
import importlib.util
import json
import sys
import sysconfig
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from airpath.errors import UsageError
from airpath.plugins.capacity_source import CapacitySource
from airpath.plugins.controller import Controller
from airpath.plugins.estimator import Estimator
from airpath.plugins.loaded_file import Component, Declared, LoadedFile
from airpath.plugins.parameters import schema_of, values_of
from airpath.plugins.queue import Queue
from airpath.plugins.specs import located, shown

_BASES: Final[Mapping[type[Component], str]] = {
    Controller: "controller",
    Estimator: "ack-rate",
    CapacitySource: "capacity-source",
    Queue: "queue",
}
"""The kind of the subclasses of each base class."""
_INSTALLED: Final = {
    Path(__file__).resolve().parents[2],
    *(Path(sysconfig.get_path(kind)).resolve() for kind in ("purelib", "platlib")),
}
"""Folders of installed packages, which cannot be imported twice."""


@dataclass(frozen=True)
class Maker:
    """A maker of instances of a class."""

    component: type[Component]
    """The class."""
    schema: Mapping[str, Any]
    """The JSON schema of its parameters."""

    def refuse_incomplete(self, file: str) -> None:
        """Reject a class without a method that every controller needs.

        Raises
        ------
        UsageError
            If there is none; the text names a method with a similar name.
        """
        for method in ("on_ack", "on_congestion"):
            if not callable(getattr(self.component, method, None)):
                own = [name for name, value in vars(self.component).items() if callable(value)]
                near = difflib.get_close_matches(method, own, 1)
                hint = f"; it has {near[0]}" if near else ""
                raise UsageError(f"{file}: {self.component.__name__} has no method {method}{hint}")

    def __call__(self, values: str) -> Component:
        """Return an instance with these values of a plan (JSON)."""
        class_: Any = self.component
        made: Component = class_.__new__(class_)
        for name, value in values_of(self.schema, json.loads(values)).items():
            setattr(made, name, value)
        # Parameters come first, because an `__init__` of the class may read them.
        made.__init__()  # type: ignore[misc]
        return made


def load_python(file: Path, source: bytes) -> LoadedFile:
    """Execute a file as a module.

    Parameters
    ----------
    file
        The file, as the user wrote it.
    source
        Its content.

    Raises
    ------
    UsageError
        If it fails, or has no component.
    """
    path = located(file)
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
            where = place_in(error, [path]) or file
            raise UsageError(f"{where}: {type(error).__name__}: {text}") from error
        components = {
            value.__name__: Declared(kind, schema, Maker(value, schema))
            for value in vars(module).values()
            if isinstance(value, type) and value.__module__ == name
            for base, kind in _BASES.items()
            if issubclass(value, base)
            for schema in [schema_of(value, str(file))]
        }
        sources = {**{part: _read(part) for part in imported()}, path: source}
    if not components:
        bases = ", ".join(f"airpath.{base.__name__}" for base in _BASES)
        raise UsageError(f"{file}: there is no subclass of one of {bases}")
    return LoadedFile(components, sources, lambda: all(_read(part) == text for part, text in sources.items()))


def place_in(error: BaseException | None, files: Iterable[Path]) -> str:
    """Return file and line in these files at which an error was raised; empty if it was raised elsewhere."""
    if isinstance(error, SyntaxError) and error.filename is not None:
        return f"{shown(Path(error.filename))}:{error.lineno}"
    frames = traceback.extract_tb(None if error is None else error.__traceback__)
    return innermost(((frame.filename, frame.lineno) for frame in frames), map(str, files))


def innermost(frames: Iterable[tuple[str, int | None]], files: Iterable[str]) -> str:
    """Return file and line of the last of these frames that is in these files; nothing if none is."""
    names = set(files)
    places = [f"{shown(Path(name))}:{line}" for name, line in frames if name in names]
    return places[-1] if places else ""


@contextmanager
def _imports_from(folder: Path) -> Iterator[Callable[[], list[Path]]]:
    """Let a file import modules of its folder; yield a function that returns the files of those modules.

    The modules are not kept under their names: a file in another folder may import other modules of the same
    name. For the same reason the file does not get modules that the process has imported under these names.
    No bytecode is written to the folder of the user.
    """
    hidden = {name: sys.modules.pop(name) for name in _names_in(folder)}
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
        sys.modules.update(hidden)
        sys.path.remove(str(folder))
        sys.dont_write_bytecode = writes


def _names_in(folder: Path) -> list[str]:
    """Return the names of imported modules that the folder has, too; compiled ones load only once."""
    if folder in _INSTALLED:
        return []
    files = {name: getattr(module, "__file__", None) for name, module in sys.modules.items()}
    roots = {name.partition(".")[0] for name in files} - {"__main__", *sys.stdlib_module_names}
    own = {
        root
        for root in roots
        if (folder / f"{root}.py").is_file()
        or (folder / root / "__init__.py").is_file()
        or (files.get(root) is None and (folder / root).is_dir())
    }
    return [
        name
        for name, file in files.items()
        if name.partition(".")[0] in own and (file is None or file.endswith(".py"))
    ]


def _read(path: Path) -> bytes:
    """Return the content of a file; empty if it cannot be read."""
    try:
        return path.read_bytes()
    except OSError:
        return b""

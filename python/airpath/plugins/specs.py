"""How schemes, estimators and queues name code, and which files may run.

`my.py:Mine:keep=0.8` is a class in a Python file, `libmine.so:keep=0.8` a shared library,
`linux:tcp_mine.c:keep=3` a congestion control module of Linux, `picoquic:mine.c` a controller of picoquic,
and `xcp:source=my.py:Mine,alpha=0.3` or `xcp:source=libmine.so,alpha=0.3` XCP with a capacity source in a
file. Any scheme may have a name before it (`yeah=libmine.so`).
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from airpath.errors import UsageError

if TYPE_CHECKING:
    from airpath.plugins.loaded_file import MadeBy

_PYTHON: Final = re.compile(r"(?P<file>.+?\.py)(?::(?P<name>[^:]*))?(?::(?P<options>.*))?", re.DOTALL)
_LIBRARY: Final = re.compile(r"(?P<file>.+?\.(?:so|dylib))(?P<name>)(?::(?P<options>.*))?", re.DOTALL)
_SOURCE: Final = re.compile(
    r"(?P<family>[a-z0-9-]+):source=(?P<file>.+?\.(?:so|dylib|py:(?P<name>[^:,]+)))(?:[:,](?P<options>.*))?",
    re.DOTALL,
)
_LABEL: Final = re.compile(r"\s*(?P<label>[A-Za-z0-9][\w .+()-]*?)\s*=(?P<scheme>.*)", re.DOTALL)
PROGRAMS: Final = ("linux", "picoquic")
"""Programs whose controllers are compiled, as in `linux:tcp_mine.c`."""
_COMPILED: Final = re.compile(
    rf"(?P<program>{'|'.join(PROGRAMS)}):(?P<files>[^:]+\.c)(?::(?P<options>.*))?", re.DOTALL
)

_allowed: Final[set[Path]] = set()
"""The files that may be executed."""
_all_allowed = False
_folder: Final = ContextVar("_folder", default=Path())
"""Base of relative paths of code."""


@dataclass(frozen=True)
class Spec:
    """A text that names a class in a Python file, a shared library, or a controller of another program."""

    file: Path
    """The file, as it was written; of several, the last."""
    name: str
    """The class; empty for other files than Python's, or if none was written."""
    options: str
    """The options, as written."""
    called: tuple[Path, ...] = ()
    """The files before it, which contain functions that it calls (`linux:tcp_vegas.c+tcp_yeah.c`)."""
    family: str = ""
    """The router-assisted family for which it is the capacity source; otherwise empty."""
    program: str = ""
    """The program whose controller it is (`linux`); otherwise empty."""

    @classmethod
    def parse(cls, scheme: str) -> Self | None:
        """Return what a text names; `None` if it does not name a file."""
        scheme = split_label(scheme)[1].strip()
        if (source := _SOURCE.fullmatch(scheme)) is not None:
            name = source["name"] or ""
            file = source["file"].removesuffix(f":{name}") if name else source["file"]
            return cls(Path(file), name, source["options"] or "", family=source["family"])
        if (compiled := _COMPILED.fullmatch(scheme)) is not None:
            *called, file = (Path(name) for name in compiled["files"].split("+"))
            return cls(file, "", compiled["options"] or "", tuple(called), program=compiled["program"])
        found = (form.fullmatch(scheme) for form in (_PYTHON, _LIBRARY))
        # An option may contain the name of another file.
        first = min((one for one in found if one is not None), key=lambda one: one.end("file"), default=None)
        return (
            None if first is None else cls(Path(first["file"]), first["name"] or "", first["options"] or "")
        )

    @property
    def files(self) -> tuple[Path, ...]:
        """All its files, as they were written."""
        return (*self.called, self.file)

    @property
    def paths(self) -> tuple[Path, ...]:
        """All its files, absolute."""
        return tuple(located(file) for file in self.files)

    @property
    def is_library(self) -> bool:
        """Whether the file is a shared library."""
        return is_library(self.file)

    @property
    def component(self) -> str:
        """Its name in plans."""
        return replace(self, family="").without_options

    @property
    def without_options(self) -> str:
        """The text without its options."""
        if self.program:
            return f"{self.program}:" + "+".join(str(file) for file in self.files)
        scheme = str(self.file) if self.is_library else f"{self.file}:{self.name}"
        if self.family:
            return f"{self.family}:source={scheme}"
        return scheme if split_label(scheme)[0] is None else f"./{scheme}"

    @property
    def text(self) -> str:
        """The text with its options."""
        return f"{self.without_options}:{self.options}" if self.options else self.without_options

    @property
    def is_allowed(self) -> bool:
        """Whether the files may be executed."""
        return _all_allowed or all(path in _allowed for path in self.paths)

    def refuse_if_not_allowed(self) -> None:
        """Reject files that may not be executed.

        Raises
        ------
        UsageError
            If one of the files may not be executed.
        """
        if not self.is_allowed:
            raise UsageError(
                f'"{self.without_options}" is code, which a file may name only with --allow-code (in Python:'
                " airpath.allow_code())"
            )


@contextmanager
def relative_to(folder: Path) -> Iterator[None]:
    """Resolve relative paths of code in this thread from a folder, not from the working directory."""
    token = _folder.set(folder)
    try:
        yield
    finally:
        _folder.reset(token)


def located(file: Path) -> Path:
    """Return the absolute path of a file with code."""
    return (_folder.get() / file).resolve()


def split_label(text: str) -> tuple[str | None, str]:
    """Return the name that a text gives a scheme (`yeah=libmine.so`), if any, and the scheme."""
    named = _LABEL.fullmatch(text)
    return (None, text) if named is None else (named["label"], named["scheme"].strip())


def is_library(file: Path) -> bool:
    """Return whether a file is a shared library, by its name."""
    return file.suffix in (".so", ".dylib")


def load_allowed(schemes: Iterable[str]) -> None:
    """Allow execution of the files that these schemes name, and load them: a new process has done neither."""
    from airpath.plugins.loading import load  # here, because few processes need it

    for scheme in schemes:
        allow([scheme])
        if (spec := Spec.parse(scheme)) is not None:
            load(spec)


def is_code(text: str) -> bool:
    """Return whether a text names code in a file."""
    return Spec.parse(text) is not None


def is_python(scheme: str) -> bool:
    """Return whether a scheme is a class in a Python file."""
    spec = Spec.parse(scheme)
    return spec is not None and not spec.is_library and not spec.program


def allowed(schemes: Iterable[str]) -> Iterator[str]:
    """Yield the schemes that name code which may run."""
    for scheme in schemes:
        if (spec := Spec.parse(scheme)) is not None and spec.is_allowed:
            yield scheme


def kinds_of_code(plan: Mapping[str, Any]) -> set[str]:
    """Return the components of a plan that are code in files."""
    controllers = [flow["controller"] for flow in plan["flows"] if flow["controller"] is not None]
    estimators = [one["estimator"] for one in (*controllers, *plan["estimators"]) if "estimator" in one]
    queues = [link["queue"] for link in plan["links"]]
    parts = [queue[part] for queue in queues for part in ("source", "management") if part in queue]
    kinds = {component["kind"] for component in (*controllers, *estimators, *parts)}
    return set(filter(is_code, kinds))


def engine_plugins(kinds: Iterable[str]) -> "list[tuple[str, str, str, MadeBy]]":
    """Return the loaded components of these kinds that are code in files, in the form for the engine."""
    if not kinds:
        return []
    from airpath.plugins.loading import loaded_plugins  # here, because few plans need it

    return [
        (plugin.kind, plugin.id, json.dumps(plugin.schema), plugin.made_by)
        for plugin in loaded_plugins(kinds)
    ]


def code_name(path: Path) -> str:
    """Return the name of a file of code in results: its path from the working directory, or from the root."""
    start = Path.cwd() if path.is_relative_to(Path.cwd()) else path.anchor
    return path.relative_to(start).as_posix()


def shown(path: Path) -> Path:
    """Return a path as in messages: relative to the base of relative paths, if it is below it."""
    folder = Path.cwd() / _folder.get()
    return path.relative_to(folder) if path.is_relative_to(folder) else path


def allow_code() -> None:
    """Let files of scenarios, sweeps and suites name code (`my.py:Mine`, `libmine.so`), and execute it.

    The code runs in this process. Schemes that a program itself names need no permission.
    """
    global _all_allowed
    _all_allowed = True


def allow(schemes: Iterable[object]) -> None:
    """Allow the files that these schemes name to be executed.

    Only for schemes that the user typed, or that the user's program names.
    """
    specs = (Spec.parse(scheme) for scheme in schemes if isinstance(scheme, str))
    _allowed.update(path for spec in specs if spec is not None for path in spec.paths)

"""The C compiler, and how it compiles files with a controller."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from airpath.errors import UsageError
from airpath.plugins.compiled.shims import HERE, Shim
from airpath.plugins.compiled.sources import Sources

INTERFACE: Final = HERE.parents[1] / "include"
"""The folder of `airpath_controller.h`."""
COMMON: Final = HERE / "common"
"""The folder of the files that all shims need."""

_POSITION: Final = ("-fPIC", "-fvisibility=hidden")
_TRIED: Final = ("incompatible", "static assertion failed", "static_assert failed")
"""Error texts after which another form of the program is tried."""
_UNDEFINED: Final = re.compile(r"undefined (?:reference to|symbol:?) [`']?([\w.]+)")
_SHOWN_ERRORS: Final = 5


@dataclass(frozen=True)
class Compiler:
    """A C compiler."""

    command: tuple[str, ...]
    """The program with its arguments."""
    version: str
    """The first line that it prints about its version."""
    optimise: str = "-O2"
    """The optimization flag."""

    @classmethod
    def find(cls, command: str | None = None, optimise: str = "-O2") -> Self:
        """Return the compiler of a command; by default that of `$CC`, otherwise `cc`.

        Raises
        ------
        UsageError
            If it cannot be run, or the system has other libraries.
        """
        if sys.platform == "win32":
            raise UsageError("controllers of other programs cannot be compiled on Windows")
        words = tuple(shlex.split(command or os.environ.get("CC") or "cc"))
        if not words or shutil.which(words[0]) is None:
            raise UsageError(
                f"controllers of other programs need a C compiler: there is no `{' '.join(words)}`; install"
                " gcc or clang, or set CC"
            )
        done = _run([*words, "--version"])
        if done.returncode != 0:
            raise UsageError(f"`{' '.join(words)} --version` fails: {done.stderr.strip()}")
        return cls(words, done.stdout.partition("\n")[0].strip(), optimise)

    def flags(self, shim: Shim, form: Sequence[str]) -> list[str]:
        """Return the flags with which the user's files are compiled."""
        return [self.optimise, *_POSITION, *shim.flags, *form]

    def compile(self, sources: Sources, form: Sequence[str], folder: Path) -> list[str]:
        """Compile files to `module.so` in an empty folder; return the errors of the compiler.

        Parameters
        ----------
        sources
            The files.
        form
            One of `Shim.forms`.
        folder
            A folder for intermediate files.
        """
        files, headers = sources.shim.prepare(sources, folder)
        objects = []
        for number, file in enumerate(files):
            made = folder / f"{number}.o"
            # The library does not depend on the path of the files.
            place = f"-ffile-prefix-map={file.parent}/="
            flags = [*self.flags(sources.shim, form), place, *headers]
            done = _run([*self.command, "-c", *flags, str(file), "-o", str(made)])
            if done.returncode != 0:
                return _errors(done.stderr.replace(f"{folder}{os.sep}", ""), sources)
            objects.append(str(made))
        return self._link(sources, form, folder, objects)

    def _link(self, sources: Sources, form: Sequence[str], folder: Path, objects: list[str]) -> list[str]:
        """Compile the shim and link it with the files."""
        shim = sources.shim
        # A missing function must fail here and not during a run.
        link = ["-Wl,-z,defs", "-Wl,-Bsymbolic"] if sys.platform.startswith("linux") else []
        flags = [self.optimise, *_POSITION, *shim.dialect, *form, *shim.about(sources)]
        folders = (shim.folder / "include", shim.folder, COMMON, INTERFACE)
        own = (*sorted(shim.folder.glob("*.c")), *sorted(COMMON.glob("*.c")))
        done = _run([
            *self.command, "-shared", *flags, *(f"-I{one}" for one in folders), *map(str, own), *objects,
            *link, "-ldl", "-o", str(folder / "module.so"),
        ])  # fmt: skip
        return [] if done.returncode == 0 else _errors(done.stderr, sources)


def may_be_another_form(errors: Sequence[str]) -> bool:
    """Return whether all errors may be caused by the form of the program."""
    return all(any(word in error for word in _TRIED) for error in errors)


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    """Run a command with messages in English."""
    environment = {**os.environ, "LC_ALL": "C"}
    return subprocess.run(
        command, capture_output=True, text=True, errors="replace", check=False, env=environment
    )


def _errors(output: str, sources: Sources) -> list[str]:
    """Return the errors that a compiler or linker prints."""
    if missing := sorted(set(_UNDEFINED.findall(output))):
        return [
            f"it uses {', '.join(missing)}; name the file that defines them first, as in"
            f" {sources.shim.program}:helper.c+{sources.files[-1].name}"
        ]
    lines = [line for line in output.splitlines() if "error:" in line]
    return (lines or output.splitlines())[:_SHOWN_ERRORS]

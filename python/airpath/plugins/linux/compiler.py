"""The C compiler, and how it compiles a module."""

import itertools
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from airpath.errors import UsageError
from airpath.plugins.linux.sources import Sources

SHIM: Final = Path(__file__).parent / "shim"
INTERFACE: Final = Path(__file__).parents[2] / "include"
"""The folder of `airpath_controller.h`."""

_DIALECT: Final = [
    "-std=gnu11",
    "-fwrapv",
    "-fno-strict-aliasing",
    "-fno-delete-null-pointer-checks",
    "-fno-builtin",
    "-funsigned-char",
    "-fgnu89-inline",
]
"""The kernel's dialect: integers wrap around, types and null pointers imply nothing, `char` is unsigned."""
_WARNINGS: Final = [
    "-Werror=incompatible-pointer-types",
    "-Werror=int-conversion",
    "-Werror=implicit-function-declaration",
]
"""Errors in every compiler: the types of functions show for which kernel a source was written."""
_GUARDS: Final = ["-fsanitize=integer-divide-by-zero,shift-exponent,bounds", "-fno-sanitize-recover=all"]
"""Faults call functions of the shim (`shim/fault.c`)."""
_POSITION: Final = ["-fPIC", "-fvisibility=hidden"]
_FORMS: Final = (
    ("ICSK_CA_PRIV_SIZE", (104, 144)),  # the second is that of Google's BBR
    ("AIRPATH_CONG_CONTROL", (4, 2)),
    ("AIRPATH_PKTS_ACKED", (2, 3)),
)
"""Properties of kernels that are determined by trial, the newest first (`shim/include/airpath/tcp.h`)."""
_TRIED: Final = ("incompatible", "static assertion failed", "static_assert failed")
"""Error texts after which another kernel is tried."""
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
            raise UsageError("modules of Linux cannot be compiled on Windows")
        words = tuple(shlex.split(command or os.environ.get("CC") or "cc"))
        if not words or shutil.which(words[0]) is None:
            raise UsageError(
                f"modules of Linux need a C compiler: there is no `{' '.join(words)}`; install gcc or clang,"
                " or set CC"
            )
        done = _run([*words, "--version"])
        if done.returncode != 0:
            raise UsageError(f"`{' '.join(words)} --version` fails: {done.stderr.strip()}")
        return cls(words, done.stdout.partition("\n")[0].strip(), optimise)

    def flags(self, form: Sequence[str]) -> list[str]:
        """Return the flags with which the files of a module are compiled."""
        return [self.optimise, *_POSITION, *_DIALECT, *_WARNINGS, *_GUARDS, *form]

    def compile(self, sources: Sources, form: Sequence[str], folder: Path) -> list[str]:
        """Compile a module to `module.so` in an empty folder; return the errors of the compiler.

        Parameters
        ----------
        sources
            The files.
        form
            One of `forms`.
        folder
            A folder for intermediate files.
        """
        empty = folder / "empty"
        for header in sources.headers:
            file = (empty / header).resolve()
            # A name may point out of the folder.
            if file.is_relative_to(empty.resolve()):
                file.parent.mkdir(parents=True, exist_ok=True)
                file.touch()
        headers = ["-nostdinc", f"-I{SHIM / 'include'}", f"-I{empty}", "-include", "airpath/kernel.h"]
        objects = []
        for number, file in enumerate(sources.files):
            made = folder / f"{number}.o"
            # The library does not depend on the path of the files.
            place = f"-ffile-prefix-map={file.parent}/="
            done = _run([*self.command, "-c", *self.flags(form), place, *headers, str(file), "-o", str(made)])
            if done.returncode != 0:
                return _errors(done.stderr)
            objects.append(str(made))
        return self._link(sources, form, folder, objects)

    def _link(self, sources: Sources, form: Sequence[str], folder: Path, objects: list[str]) -> list[str]:
        """Compile the shim and link it with a module."""
        about = [
            f'-DAIRPATH_TITLE="{sources.title}"',
            f"-DAIRPATH_READS_TIMESTAMPS={int(sources.reads_timestamps)}",
        ]
        # A missing function must fail here and not during a run.
        link = ["-Wl,-z,defs", "-Wl,-Bsymbolic"] if sys.platform.startswith("linux") else []
        flags = [self.optimise, *_POSITION, *_DIALECT, *form, *about]
        done = _run([
            *self.command, "-shared", *flags, f"-I{SHIM / 'include'}", f"-I{SHIM}", f"-I{INTERFACE}",
            *(str(file) for file in sorted(SHIM.glob("*.c"))), *objects, *link, "-ldl",
            "-o", str(folder / "module.so"),
        ])  # fmt: skip
        return [] if done.returncode == 0 else _errors(done.stderr)


def forms() -> Iterator[list[str]]:
    """Yield the flags of each kernel that a source may be written for."""
    names = [name for name, _ in _FORMS]
    for values in itertools.product(*(values for _, values in _FORMS)):
        yield [f"-D{name}={value}" for name, value in zip(names, values, strict=True)]


def may_be_another_kernel(errors: Sequence[str]) -> bool:
    """Return whether all errors may be caused by the form of the kernel."""
    return all(any(word in error for word in _TRIED) for error in errors)


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    """Run a command with messages in English."""
    environment = {**os.environ, "LC_ALL": "C"}
    return subprocess.run(
        command, capture_output=True, text=True, errors="replace", check=False, env=environment
    )


def _errors(output: str) -> list[str]:
    """Return the errors that a compiler or linker prints."""
    if missing := sorted(set(_UNDEFINED.findall(output))):
        return [
            f"it uses {', '.join(missing)}; name the file that defines them first, as in"
            " linux:tcp_vegas.c+tcp_yeah.c"
        ]
    lines = [line for line in output.splitlines() if "error:" in line]
    return (lines or output.splitlines())[:_SHOWN_ERRORS]

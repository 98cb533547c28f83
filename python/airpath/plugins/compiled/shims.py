"""What replaces the program around a source file with a controller."""

import itertools
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from airpath.errors import UsageError

if TYPE_CHECKING:
    from airpath.plugins.compiled.sources import Sources

HERE: Final = Path(__file__).parent
_ODD: Final = re.compile(r"[^\w.+-]")
_GUARDS: Final = ("-fsanitize=integer-divide-by-zero,shift-exponent,bounds", "-fno-sanitize-recover=all")
"""Faults call functions of `common/fault.c`."""


@dataclass(frozen=True)
class Shim(ABC):
    """The C files that replace a program."""

    program: str
    """Name of the program, as in schemes: `linux`."""
    what: str
    """What its headers have, for messages."""
    dialect: tuple[str, ...]
    """The dialect of C of the program and of the shim."""
    strict: tuple[str, ...] = ()
    """Further flags of the user's files."""
    tried: tuple[tuple[str, tuple[int, ...]], ...] = ()
    """Properties of the program that are determined by trial, the newest first."""

    @property
    def folder(self) -> Path:
        """The folder of its C files; its headers are in `include`."""
        return HERE / self.program

    @property
    def flags(self) -> tuple[str, ...]:
        """The flags with which the user's files are compiled, without those of a form."""
        return (*self.dialect, *self.strict, *_GUARDS)

    def forms(self) -> Iterator[list[str]]:
        """Yield the flags of each form of the program that a source may be written for."""
        names = [name for name, _ in self.tried]
        for values in itertools.product(*(values for _, values in self.tried)):
            yield [f"-D{name}={value}" for name, value in zip(names, values, strict=True)]

    def also(self, file: Path) -> Sequence[Path]:  # noqa: ARG002 - programs that have such files read it
        """Return the files that belong to a file although the user did not name them."""
        return ()

    @abstractmethod
    def prepare(self, sources: "Sources", folder: Path) -> tuple[list[Path], list[str]]:
        """Return the files to compile, and the flags that find their headers.

        Parameters
        ----------
        sources
            The user's files.
        folder
            A folder for copies and for headers that are missing.
        """

    def about(self, sources: "Sources") -> list[str]:
        """Return the macros by which the shim knows the user's files."""
        return [f'-DAIRPATH_TITLE="{self.title(sources.files[-1])}"']

    def title(self, file: Path) -> str:
        """Return the name of a file's controller in figures."""
        return f"{_ODD.sub('_', file.stem)} ({self.program})"

    def transport(self, sources: "Sources") -> dict[str, Any]:  # noqa: ARG002 - as above
        """Return the settings of the transport that the controller needs."""
        return {}


class _Linux(Shim):
    """The kernel."""

    def prepare(self, sources: "Sources", folder: Path) -> tuple[list[Path], list[str]]:
        """Make empty files of all headers of the kernel: the compiler reads those of the shim first."""
        empty = folder / "empty"
        for header in sources.headers:
            file = (empty / header).resolve()
            # A name may point out of the folder.
            if file.is_relative_to(empty.resolve()):
                file.parent.mkdir(parents=True, exist_ok=True)
                file.touch()
        headers = ["-nostdinc", f"-I{self.folder / 'include'}", f"-I{empty}", "-include", "airpath/kernel.h"]
        return list(sources.files), headers

    def about(self, sources: "Sources") -> list[str]:
        """Return the title, and whether the module reads the timestamps of TCP."""
        reads = any(
            b"rcv_tsval" in content or b"rcv_tsecr" in content for content in sources.contents.values()
        )
        return [*super().about(sources), f"-DAIRPATH_READS_TIMESTAMPS={int(reads)}"]

    def title(self, file: Path) -> str:
        """Return the name of a module in figures."""
        return super().title(file.with_stem(file.stem.removeprefix("tcp_")))

    def transport(self, sources: "Sources") -> dict[str, Any]:
        """Return accurate ECN for modules that need marks: they count them."""
        needs_ecn = any(b"TCP_CONG_NEEDS_ECN" in content for content in sources.contents.values())
        return {"ecn": "accurate"} if needs_ecn else {}


_ALGORITHM: Final = re.compile(rb"^\s*picoquic_congestion_algorithm_t\s*\*\s*(\w+)\s*=", re.MULTILINE)


class _Picoquic(Shim):
    """picoquic, a QUIC stack."""

    def also(self, file: Path) -> Sequence[Path]:
        """Return the file with the functions that all algorithms share."""
        shared = file.with_name("cc_common.c")
        return (shared,) if shared.is_file() else ()

    def prepare(self, sources: "Sources", folder: Path) -> tuple[list[Path], list[str]]:
        """Copy the files, because those next to them include picoquic's own headers."""
        copies = {file: folder / f"{number}" / file.name for number, file in enumerate(sources.contents)}
        for file, copy in copies.items():
            copy.parent.mkdir()
            copy.write_bytes(sources.contents[file])
        folders = [f"-I{copy.parent}" for copy in copies.values()]
        return [copies[file] for file in sources.files], [f"-I{self.folder / 'include'}", *folders]

    def about(self, sources: "Sources") -> list[str]:
        """Return the title and the algorithms of the last file.

        Raises
        ------
        UsageError
            If it defines none.
        """
        file = sources.files[-1]
        found = [name.decode() for name in _ALGORITHM.findall(sources.contents[file])]
        if not found:
            raise UsageError(
                f"{file}: found no algorithm; accepted: a file that defines one, such as cubic.c"
            )
        names = [name.removeprefix("picoquic_").removesuffix("_algorithm") for name in found]
        return [
            *super().about(sources),
            f"-DAIRPATH_DECLARE_ALGORITHMS={' '.join(f'AIRPATH_DECLARE({name})' for name in found)}",
            f"-DAIRPATH_ALGORITHMS={','.join(f'&{name}' for name in found)}",
            f'-DAIRPATH_NAMES="{" ".join(names)}"',
        ]

    def transport(self, sources: "Sources") -> dict[str, Any]:
        """Return accurate ECN for algorithms that mark their packets for L4S."""
        marks = b"PICOQUIC_ECN_ECT_1" in sources.contents[sources.files[-1]]
        return {"ecn": "accurate"} if marks else {}


LINUX: Final = _Linux(
    program="linux",
    what="what congestion control modules of Linux 4.13 and later use",
    # Integers wrap around, types and null pointers imply nothing, `char` is unsigned.
    dialect=(
        "-std=gnu11",
        "-fwrapv",
        "-fno-strict-aliasing",
        "-fno-delete-null-pointer-checks",
        "-fno-builtin",
        "-funsigned-char",
        "-fgnu89-inline",
    ),
    # Errors in every compiler: the types of functions show for which kernel a source was written.
    strict=(
        "-Werror=incompatible-pointer-types",
        "-Werror=int-conversion",
        "-Werror=implicit-function-declaration",
    ),
    # `linux/include/airpath/tcp.h`
    tried=(
        ("ICSK_CA_PRIV_SIZE", (104, 144)),  # the second is that of Google's BBR
        ("AIRPATH_CONG_CONTROL", (4, 2)),
        ("AIRPATH_PKTS_ACKED", (2, 3)),
    ),
)
PICOQUIC: Final = _Picoquic(
    program="picoquic",
    what="what congestion control files of picoquic 1.1.52 use",
    dialect=("-std=gnu11", "-fwrapv", "-fno-strict-aliasing"),
    strict=("-Werror=implicit-function-declaration",),
)
SHIMS: Final = {shim.program: shim for shim in (LINUX, PICOQUIC)}
"""The shims by name of the program."""

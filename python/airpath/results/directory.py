"""A directory of results, written completely or not at all."""

import json
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from airpath.errors import OutputError


def write_directory(out_dir: str | os.PathLike[str], fill: Callable[[Path], None]) -> Path:
    """Write a directory of results, completely or not at all.

    Everything is first written to a temporary directory next to `out_dir`, which is then renamed: a reader
    sees the whole directory or none. Earlier results at `out_dir` are replaced; a directory with other
    content is left unchanged.

    Parameters
    ----------
    out_dir
        The directory to write.
    fill
        Writes the content, including ``provenance.json``, into the directory that is its argument.

    Raises
    ------
    airpath.errors.OutputError
        If the directory contains something other than airpath results, or cannot be written.
    """
    out = Path(os.path.abspath(out_dir))  # noqa: PTH100 - resolve() would follow a link
    _refuse_foreign(out)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(prefix=f".{out.name}.partial-", dir=out.parent))
    except OSError as error:
        raise OutputError(f"cannot write to {out.parent}: {error.strerror or error}") from error
    try:
        partial.chmod(0o755)  # `mkdtemp` creates private directories
        fill(partial)
        _put_in_place(partial, out)
    except OSError as error:
        raise OutputError(f"cannot write results to {out}: {error.strerror or error}") from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return out


def is_results(directory: Path) -> bool:
    """Return whether a directory contains airpath results."""
    try:
        content = json.loads((directory / "provenance.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(content, dict) and str(content.get("format", "")).startswith("airpath results ")


def write_parquet(table: pa.Table, path: Path | pa.NativeFile) -> None:
    """Write only the table, without metadata that vary: equal tables give equal bytes.

    Statistics (smallest and largest value) would help readers skip parts of a file; these files have few
    parts, often one.
    """
    import pyarrow.parquet as pq  # imported here because it is slow to import

    options = parquet_options(table.schema)
    pq.write_table(table.combine_chunks(), path, write_statistics=False, **options)


def parquet_options(schema: pa.Schema) -> dict[str, Any]:
    """Return the options for writing tables: columns with few repeated values have no dictionary.

    Tables are compressed by Zstandard. The packet records, the largest table, are compressed by Snappy, which
    takes a sixth less time to write. Searching for repeated real numbers and sequence numbers (a dictionary,
    the default) costs time and space without benefit. Real numbers are split into byte streams, because
    neighbouring values share their first bytes (in packet records, only times are); sequence numbers are
    encoded as differences. Each page has a checksum, so that a flipped bit among the values is detected; the
    footer (names, types, number of rows) has none.
    """
    reals = {field.name for field in schema if pa.types.is_floating(field.type)}
    counting = _COUNTING & set(schema.names)
    of_packets = _OF_PACKETS in schema.names
    split = reals & _INSTANTS if of_packets else reals - _REPORTED
    return {
        "write_page_checksum": True,
        "compression": "snappy" if of_packets else "zstd",
        "use_dictionary": [name for name in schema.names if name not in reals | counting],
        "column_encoding": dict.fromkeys(sorted(counting), "DELTA_BINARY_PACKED")
        | dict.fromkeys(sorted(split), "BYTE_STREAM_SPLIT"),
    }


def read_parquet(files: Path | list[Path]) -> pa.Table:
    """Read a whole table, from one file or from several that follow each other.

    Raises
    ------
    OSError, pyarrow.ArrowException
        If it cannot be read, or the checksum of a page is wrong.
    """
    import pyarrow.parquet as pq  # imported here because it is slow to import

    return pq.read_table(files, page_checksum_verification=True)


_OF_PACKETS: Final = "received_s"
"""A column that only packet records have."""
_REPORTED: Final = frozenset({"value"})
"""Columns of real numbers of different quantities, whose neighbouring values have nothing in common."""
_COUNTING: Final = frozenset({"sequence"})
"""Columns of integers that mostly increase from row to row."""
_INSTANTS: Final = frozenset({"time_s", "sent_s", "received_s"})
"""Columns of real numbers that mostly increase from row to row."""


def write_json(content: Any, path: Path) -> None:
    """Write indented JSON; equal content gives equal bytes."""
    text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8", newline="")


def _refuse_foreign(out: Path) -> None:
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise OutputError(f"{out} is a file or a symbolic link; choose another directory")
    try:
        foreign = out.is_dir() and any(out.iterdir()) and not is_results(out)
    except OSError as error:
        raise OutputError(f"cannot read {out}: {error.strerror or error}") from error
    if foreign:
        raise OutputError(f"{out} is not empty and contains no airpath results; choose another directory")


def _put_in_place(partial: Path, out: Path) -> None:
    """Rename the directory; earlier results are moved aside first and restored if that fails."""
    if not out.exists():
        partial.rename(out)
        return
    earlier = Path(tempfile.mkdtemp(prefix=f".{out.name}.earlier-", dir=out.parent))
    try:
        out.rename(earlier / out.name)
        try:
            partial.rename(out)
        except OSError:
            (earlier / out.name).rename(out)
            raise
    finally:
        shutil.rmtree(earlier, ignore_errors=True)


def numbered_name(number: int, file: Path) -> str:
    """Return the prefix of the names of a file's figures, which is unique among files of the same name."""
    plain = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in file.name)
    return f"{number:02}-{plain}"

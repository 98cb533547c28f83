"""A directory of results: whole or not at all."""

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
    """Make a directory of results, all or nothing.

    Everything is written beside `out_dir` first and then renamed, so a reader sees the whole directory or
    none. Earlier results at `out_dir` are replaced; a directory that holds anything else is left alone.

    Parameters
    ----------
    out_dir
        The directory to make.
    fill
        Writes its content, ``provenance.json`` among it, into the directory that it is given.

    Raises
    ------
    airpath.errors.OutputError
        If the directory holds something other than airpath results, or cannot be written.
    """
    out = Path(os.path.abspath(out_dir))  # noqa: PTH100 - resolve() would follow a link
    _refuse_foreign(out)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(prefix=f".{out.name}.partial-", dir=out.parent))
    except OSError as error:
        raise OutputError(f"cannot write to {out.parent}: {error.strerror or error}") from error
    try:
        partial.chmod(0o755)  # mkdtemp makes private directories
        fill(partial)
        _put_in_place(partial, out)
    except OSError as error:
        raise OutputError(f"cannot write results to {out}: {error.strerror or error}") from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return out


def is_results(directory: Path) -> bool:
    """Whether a directory holds airpath results."""
    try:
        content = json.loads((directory / "provenance.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(content, dict) and str(content.get("format", "")).startswith("airpath results ")


def write_parquet(table: pa.Table, path: Path | pa.NativeFile) -> None:
    """Nothing in the file but the table: equal tables give equal bytes.

    Statistics (smallest and largest value) would help readers to leave parts of a file out; these files are
    of few parts, often one.
    """
    import pyarrow.parquet as pq  # here, because it is slow to import

    options = parquet_options(table.schema)
    pq.write_table(table.combine_chunks(), path, write_statistics=False, **options)


def parquet_options(schema: pa.Schema) -> dict[str, Any]:
    """Return how tables are written: what hardly ever comes twice, without a dictionary.

    Tables are compressed by Zstandard; the records of packets, the largest of all, by Snappy, with which
    they are written in a sixth less time. Looking for real numbers and sequence numbers that come twice (a
    dictionary, the default) takes time and room for nothing. Real numbers are written byte by byte, because
    neighbours share their first bytes (in the records of packets only instants are), sequence numbers by
    their steps. Each page has a checksum, so that a flipped bit among the values is seen; what stands at the
    end of the file (names, kinds, how many rows) has none.
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
        If it cannot be read, or a page is not what was written.
    """
    import pyarrow.parquet as pq  # here, because it is slow to import

    return pq.read_table(files, page_checksum_verification=True)


_OF_PACKETS: Final = "received_s"
"""A column that only records of packets have."""
_REPORTED: Final = frozenset({"value"})
"""Columns of real numbers of all kinds, of which neighbours have nothing in common."""
_COUNTING: Final = frozenset({"sequence"})
"""Columns of whole numbers that mostly grow from row to row."""
_INSTANTS: Final = frozenset({"time_s", "sent_s", "received_s"})
"""Columns of real numbers that mostly grow from row to row."""


def write_json(content: Any, path: Path) -> None:
    """Indented, always the same for the same content."""
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
    """Rename; earlier results step aside first and come back if that fails."""
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
    """Return the beginning of the names of a file's pictures; different for files of the same name."""
    plain = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in file.name)
    return f"{number:02}-{plain}"

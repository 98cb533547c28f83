"""Comparing the tables of two directories of results."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from airpath.errors import AirpathError
from airpath.results.directory import read_parquet, write_parquet


def compare_tables(then: Path, now: Path) -> dict[str, str]:
    """Compare the tables and captures of two directories of results.

    Returns
    -------
    dict
        By file: ``equal`` (byte by byte), ``same values`` (the same table in other bytes, as from another
        version of pyarrow), ``differs``, ``only then`` or ``only now``.
    """
    names = sorted({*_compared_files(then), *_compared_files(now)})
    return {name: _compare_file(then / name, now / name) for name in names}


def differing(tables: Mapping[str, str]) -> list[str]:
    """Return the files whose values differ, from the result of `compare_tables`."""
    return [name for name, found in tables.items() if found not in ("equal", "same values")]


def _compared_files(directory: Path) -> Sequence[str]:
    files = (*directory.glob("*.parquet"), *directory.glob("captures/*.pcapng"))
    return [file.relative_to(directory).as_posix() for file in files]


def _compare_file(then: Path, now: Path) -> str:
    if not then.is_file():
        return "only now"
    if not now.is_file():
        return "only then"
    try:
        if then.read_bytes() == now.read_bytes():
            return "equal"
        same = then.suffix == ".parquet" and _written_now(then) == _written_now(now)
    except (OSError, pa.ArrowException) as error:
        raise AirpathError(f"{then} cannot be compared with {now}: {error}") from None
    return "same values" if same else "differs"


def _written_now(file: Path) -> bytes:
    """Return a table as this version would write it: equal tables give equal bytes."""
    content = pa.BufferOutputStream()
    write_parquet(read_parquet(file), content)
    return bytes(content.getvalue().to_pybytes())

"""The files of a sweep's table: one Parquet file or, for a large table, a folder of the same name.

A Parquet file ends with metadata that contain an entry for each column of each row group. They stay in memory
until the file is finished. The size of files is therefore bounded, which bounds memory for any number of
runs.
"""

import os
import shutil
from collections import deque
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from airpath._os.durable import force_names, put_in_place
from airpath.results.directory import parquet_options

MOST_ROW_GROUPS: Final = 64
"""Largest number of row groups in a file."""


def files_of(table: Path) -> list[Path]:
    """Return the files of a table in the order of its rows; none if one of them, or all, are missing."""
    if table.is_file():
        return [table]
    found = sorted(table.glob("part-*.parquet"))
    complete = all(file.name == _part(number, len(found)) for number, file in enumerate(found))
    return found if complete else []


def remove_table(table: Path) -> None:
    """Remove the files of a table, if there are any."""
    if table.is_dir():
        shutil.rmtree(table)
    else:
        table.unlink(missing_ok=True)


def fault_of_table(table: Path, *, pages: bool = False) -> str:
    """Return the fault of a table, if any: missing, truncated, damaged, or not a table.

    Parameters
    ----------
    table
        Its file or folder.
    pages
        Whether every page is read and its checksum verified; otherwise only the ends of files are read.
    """
    if not table.exists():
        return f"{table} is missing"
    files = files_of(table)
    if not files:
        return f"{table} is incomplete"
    for file in files:
        try:
            with pq.ParquetFile(file, page_checksum_verification=True) as content:
                if pages:
                    deque(content.iter_batches(), maxlen=0)
        except (OSError, pa.ArrowException):
            return f"{file} is damaged"
    return ""


class TableFiles:
    """Writes a table under a temporary name, a row group at a time.

    Parameters
    ----------
    table
        The final path, which ends in ``.parquet``.
    schema
        Its columns; each file contains the metadata.
    """

    def __init__(self, table: Path, schema: pa.Schema) -> None:
        self._table = table
        self._schema = schema
        self._unfinished = table.with_name(f".{table.name}.{os.getpid()}")
        self._unfinished.mkdir()
        self._files: list[Path] = []
        self._begin()

    def write(self, rows: pa.Table) -> None:
        """Write one row group."""
        if self._row_groups == MOST_ROW_GROUPS:
            self._end()
            self._begin()
        self._writer.write_table(rows, row_group_size=rows.num_rows)
        self._row_groups += 1

    def finish(self) -> None:
        """Force everything to disk and rename it to its final path; an earlier table is replaced."""
        self._end()
        if len(self._files) == 1:
            if self._table.is_dir():
                shutil.rmtree(self._table)
            put_in_place(self._files[0], self._table)
            self._unfinished.rmdir()
            return
        for number, file in enumerate(self._files):
            file.rename(file.with_name(_part(number, len(self._files))))
        force_names(self._unfinished)
        remove_table(self._table)
        put_in_place(self._unfinished, self._table)

    def abandon(self) -> None:
        """Remove unfinished files."""
        self._stream.close()
        shutil.rmtree(self._unfinished, ignore_errors=True)

    def _begin(self) -> None:
        self._files.append(self._unfinished / str(len(self._files)))
        self._stream = self._files[-1].open("wb")
        self._writer = pq.ParquetWriter(self._stream, self._schema, **parquet_options(self._schema))
        self._row_groups = 0

    def _end(self) -> None:
        self._writer.close()
        self._stream.flush()
        os.fsync(self._stream.fileno())
        self._stream.close()


def _part(number: int, count: int) -> str:
    return f"part-{number:05}-of-{count:05}.parquet"

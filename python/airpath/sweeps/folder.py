"""The directory of a sweep: locking, and its state."""

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from airpath._os.durable import place_of, write_whole
from airpath._os.lock import LOCK, locked
from airpath.errors import OutputError
from airpath.results.columns import TABLES
from airpath.sweeps.dataset import is_ours
from airpath.sweeps.part import RUNS, PartStore
from airpath.sweeps.results import FORMAT, STATE, read_state
from airpath.sweeps.table_files import remove_table

WRITTEN: Final = frozenset(
    {STATE, "sweep.toml", "scenario.toml", "failures.json", "provenance.json", "statistics.parquet"}
    | {f".{name}.parquet" for name in (RUNS, *TABLES)}
)
"""Files that are written under a temporary name; those of tables begin with a dot until they are complete."""


class SweepFolder:
    """The directory of a sweep.

    Parameters
    ----------
    path
        Its path; it need not exist.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def parts(self) -> PartStore:
        """The finished runs of an incomplete sweep."""
        return PartStore(self.path / "parts")

    def is_complete(self, identity: Mapping[str, Any]) -> bool:
        """Return whether the sweep is complete, without writing anything.

        Raises
        ------
        OutputError
            If the directory contains something else, or cannot be read.
        """
        self._refuse_foreign(identity)
        return bool(read_state(self.path).get("complete"))

    @contextmanager
    def opened(self, identity: Mapping[str, Any]) -> Iterator[bool]:
        """Lock the directory; yield whether the sweep is already complete.

        Parameters
        ----------
        identity
            Everything that determines the data set: a different identity is a different sweep.

        Raises
        ------
        OutputError
            If it contains something else, another process has locked it, or it cannot be written.
        """
        self._refuse_foreign(identity)
        try:
            with locked(self.path, f"another process works on the sweep in {self.path}"):
                self._refuse_foreign(identity)  # check again: another process may have finished
                self._remove_unfinished()
                state = read_state(self.path)
                if state.get("complete"):
                    self._remove_parts()
                    yield True
                    return
                if _differs(state, identity):
                    self._remove_tables()
                self.write_state(identity, complete=False)
                yield False
        except OSError as error:
            raise OutputError(f"cannot write to {self.path}: {error.strerror or error}") from error

    def write_state(self, identity: Mapping[str, Any], *, complete: bool) -> None:
        """Write the state of the directory; parts of a complete sweep are no longer needed."""
        self.write_json(STATE, {"format": FORMAT, **identity, "complete": complete})
        if complete:
            self._remove_parts()

    def write_json(self, name: str, content: Any) -> None:
        """Write a JSON file; equal content gives equal bytes."""
        text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
        write_whole(self.path / name, (text + "\n").encode())

    def _remove_parts(self) -> None:
        shutil.rmtree(self.path / "parts", ignore_errors=True)

    def _remove_tables(self) -> None:
        """Remove the tables of an earlier form of the sweep, which have other columns."""
        (self.path / "statistics.parquet").unlink(missing_ok=True)
        for name in (RUNS, *TABLES):
            table = self.path / f"{name}.parquet"
            if is_ours(table):
                remove_table(table)

    def _remove_unfinished(self) -> None:
        """Remove unfinished files of a killed process; the lock excludes other processes."""
        for file in self.path.iterdir():
            if _is_unfinished(file.name):
                remove_table(file)
        self.parts.remove_unfinished()

    def _refuse_foreign(self, identity: Mapping[str, Any]) -> None:
        if self.path.exists() and not self.path.is_dir():
            raise OutputError(f"{self.path} exists and is not a directory")
        try:
            content = {file.name for file in self.path.iterdir()} if self.path.is_dir() else set()
        except OSError as error:
            raise OutputError(f"{self.path} cannot be read: {error.strerror or error}") from None
        state = read_state(self.path)
        others = {name for name in content - {LOCK} if not _is_unfinished(name)}
        if others and not state:
            raise OutputError(
                f"{self.path} is not empty and contains no sweep; choose another directory with --out"
            )
        if state.get("complete") and _differs(state, identity):
            raise OutputError(
                f"{self.path} contains another sweep, or the same one with other inputs or another"
                " version; choose another directory with --out"
            )


def _is_unfinished(name: str) -> bool:
    """Return whether a file belongs to a sweep and has not been renamed yet."""
    return place_of(name) in WRITTEN


def _differs(state: Mapping[str, Any], identity: Mapping[str, Any]) -> bool:
    """Return whether a directory contains a sweep of another identity."""
    return any(state.get(key) != value for key, value in identity.items())

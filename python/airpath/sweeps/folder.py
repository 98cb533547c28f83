"""The directory of a sweep: who may work in it, and what it says of itself."""

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from airpath.durable import place_of, write_whole
from airpath.errors import OutputError
from airpath.lock import LOCK, locked
from airpath.results.columns import TABLES
from airpath.sweeps.dataset import is_ours
from airpath.sweeps.part import RUNS, PartStore
from airpath.sweeps.results import FORMAT, STATE, read_state
from airpath.sweeps.table_files import remove_table

WRITTEN: Final = frozenset(
    {STATE, "sweep.toml", "scenario.toml", "failures.json", "provenance.json", "statistics.parquet"}
    | {f".{name}.parquet" for name in (RUNS, *TABLES)}
)
"""What is written beside its place; the tables begin with a dot until they are there."""


class SweepFolder:
    """The directory of a sweep.

    Parameters
    ----------
    path
        Where it is; it need not exist.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def parts(self) -> PartStore:
        """The runs that are finished while the sweep is not."""
        return PartStore(self.path / "parts")

    def is_complete(self, identity: Mapping[str, Any]) -> bool:
        """Return whether the sweep is complete; nothing is written yet.

        Raises
        ------
        OutputError
            If the directory holds something else, or cannot be read.
        """
        self._refuse_foreign(identity)
        return bool(read_state(self.path).get("complete"))

    @contextmanager
    def opened(self, identity: Mapping[str, Any]) -> Iterator[bool]:
        """Make the directory ours; tells whether the sweep is complete already.

        Parameters
        ----------
        identity
            What decides on the data set: another identity is another sweep.

        Raises
        ------
        OutputError
            If it holds something else, another process works in it, or it cannot be written.
        """
        self._refuse_foreign(identity)
        try:
            with locked(self.path, f"another process works on the sweep in {self.path}"):
                self._refuse_foreign(identity)  # once more: another process may have finished meanwhile
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
        """Say what the directory holds; a complete sweep needs its parts no more."""
        self.write_json(STATE, {"format": FORMAT, **identity, "complete": complete})
        if complete:
            self._remove_parts()

    def write_json(self, name: str, content: Any) -> None:
        """Write a file of JSON, always the same for the same content."""
        text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
        write_whole(self.path / name, (text + "\n").encode())

    def _remove_parts(self) -> None:
        shutil.rmtree(self.path / "parts", ignore_errors=True)

    def _remove_tables(self) -> None:
        """Remove what an earlier form of the sweep has written: its columns are others."""
        (self.path / "statistics.parquet").unlink(missing_ok=True)
        for name in (RUNS, *TABLES):
            table = self.path / f"{name}.parquet"
            if is_ours(table):
                remove_table(table)

    def _remove_unfinished(self) -> None:
        """Remove what a process that was killed had not finished; nobody else works here now."""
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
    """Return whether a file is one of a sweep that has not been renamed yet."""
    return place_of(name) in WRITTEN


def _differs(state: Mapping[str, Any], identity: Mapping[str, Any]) -> bool:
    """Tell whether a directory holds another sweep than one of this identity."""
    return any(state.get(key) != value for key, value in identity.items())

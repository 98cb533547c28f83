"""The values of the entries of a leaderboard."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Self

from airpath import _core
from airpath.errors import OutputError
from airpath.leaderboard.document import BoardTable

FORMAT: Final = "airpath leaderboard 1"
"""Format of the file of scores."""


@dataclass(frozen=True)
class Scores:
    """The values of all entries in all cases."""

    board: Mapping[str, Any]
    """The leaderboard as written."""
    added: dict[str, str] = field(default_factory=dict)
    """The entries that are not in it as written, by name."""
    kept: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    """For each case and entry: the digest of what ran (`sha256`), and the value of each seed by metric
    (`values`), null if a run has no value.
    """

    @classmethod
    def read(cls, file: Path) -> Self:
        """Read a file of scores.

        Raises
        ------
        OutputError
            If it is not one.
        """
        try:
            content = json.loads(file.read_text(encoding="utf-8"))
            if content["format"] != FORMAT:
                raise OutputError(f"{file}: found “{content['format']}”; accepted: “{FORMAT}”")
            cases = {name: dict(entries) for name, entries in content["cases"].items()}
            BoardTable.model_validate(content["board"])
            return cls(content["board"], dict(content["added"]), cases)
        except OSError as error:
            raise OutputError(f"{file} cannot be read: {error.strerror or error}") from None
        except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
            raise OutputError(f"{file}: is not a file of scores of airpath") from None

    def to_bytes(self) -> bytes:
        """Return the content of the file; the same for any order in which entries were added."""
        content = {
            "format": FORMAT,
            "airpath": _core.__version__,
            "board": self.board,
            "added": {name: self.added[name] for name in self.entries if name in self.added},
            "cases": {
                case: {entry: self.kept[case][entry] for entry in self.entries if entry in self.kept[case]}
                for case in self.cases
                if self.kept.get(case)
            },
        }
        return (json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()

    @cached_property
    def document(self) -> BoardTable:
        """The leaderboard."""
        return BoardTable.model_validate(self.board)

    @property
    def cases(self) -> list[str]:
        """The names of the cases with values, in order."""
        return [case.name for case in self.document.cases if case.name in self.kept]

    @property
    def ranked(self) -> list[str]:
        """The names of the cases that count for the ranks."""
        return [case.name for case in self.document.cases if case.name in self.kept and not case.tuning]

    @property
    def entries(self) -> list[str]:
        """The names of the entries: those of the leaderboard, then those that were added, by name."""
        found = {entry for entries in self.kept.values() for entry in entries}
        listed = [entry.label for entry in self.document.entries]
        return [*(name for name in listed if name in found), *sorted(found - {*listed})]

    @property
    def repetitions(self) -> int:
        """The number of values of each metric."""
        return self.document.repetitions

    def has(self, case: str, entry: str, digest: str) -> bool:
        """Return whether there are values of exactly these runs."""
        found = self.kept.get(case, {}).get(entry, {})
        return found.get("sha256") == digest and bool(found.get("values"))

    def put(self, case: str, entry: str, digest: str, values: Mapping[str, Sequence[float | None]]) -> None:
        """Store the values of an entry in a case, instead of earlier ones."""
        self.kept.setdefault(case, {})[entry] = {"sha256": digest, "values": dict(values)}

    def of(self, case: str, entry: str, metric: str) -> list[float]:
        """Return the values of a metric, one for each seed; NaN where there is none."""
        values = self.kept[case].get(entry, {}).get("values", {}).get(metric)
        found = [None] * self.repetitions if values is None else values
        return [math.nan if value is None else value for value in found]

    def missing(self, entry: str) -> tuple[str, ...]:
        """Return the names of the ranked cases in which an entry has no values."""
        return tuple(case for case in self.ranked if not self.kept[case].get(entry, {}).get("values"))

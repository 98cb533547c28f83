"""Results below some directories."""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

DEEPEST: Final = 8
"""Maximum number of levels of directories that are searched."""
MOST: Final = 2000
"""Maximum number of listed results: the newest."""


Kind = Literal["runs", "sweep", "report"]
_KINDS: Final[Mapping[str, Kind]] = {"airpath results ": "runs", "airpath sweep ": "sweep"}
"""Kinds of results, by the name of their layout without its version."""


@dataclass(frozen=True)
class Found:
    """One directory of results.

    Attributes
    ----------
    key
        Name of the results in addresses: a digest of their directory.
    directory
        The directory, resolved.
    name
        Its path below the directory that was searched.
    kind
        ``runs``, ``sweep``, or ``report`` if only the report of the results can be shown.
    schemes
        The schemes.
    created
        Time at which the results were created, as ISO 8601 text.
    """

    key: str
    directory: Path
    name: str
    kind: Kind
    schemes: Sequence[str]
    created: str

    def facts(self) -> dict[str, Any]:
        """Return the entry for ``json.dumps``."""
        return {
            "key": self.key,
            "name": self.name,
            "kind": self.kind,
            "schemes": list(self.schemes),
            "created": self.created[: len("2026-11-29T12:00")].replace("T", " "),
        }


def find(roots: Sequence[Path]) -> list[Found]:
    """Return the results below directories, the newest first.

    A directory behind a symbolic link counts only if it is below one of the directories, and only once.
    """
    resolved = [root.resolve() for root in roots]
    found: dict[Path, Found] = {}
    for root in resolved:
        for directory in _directories(root, DEEPEST):
            place = directory.resolve()
            if place in found or not any(place.is_relative_to(one) for one in resolved):
                continue
            if (one := _read(place, root)) is not None:
                found[place] = one
    newest = sorted(found.values(), key=lambda one: (one.created, one.name), reverse=True)
    return newest[:MOST]


def _directories(directory: Path, levels: int) -> Iterator[Path]:
    """Yield a directory and those below it, except hidden ones and those inside results."""
    yield directory
    if levels == 0 or (directory / "provenance.json").is_file():
        return
    try:
        below = sorted(entry.path for entry in os.scandir(directory) if entry.is_dir())
    except OSError:
        return
    for path in below:
        if not os.path.basename(path).startswith("."):  # noqa: PTH119 - there may be very many
            yield from _directories(Path(path), levels - 1)


def _read(directory: Path, root: Path) -> Found | None:
    try:
        facts = json.loads((directory / "provenance.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(facts, dict):
        return None
    layout = str(facts.get("format", ""))
    kind = _KINDS.get(layout.rstrip("0123456789"))
    if kind is None:
        if not (directory / "report.html").is_file():
            return None
        kind = "report"
    name = str(directory.relative_to(root)) if directory.is_relative_to(root) else directory.name
    key = hashlib.sha256(os.fsencode(directory)).hexdigest()[:12]
    return Found(
        key,
        directory,
        directory.name if name == "." else name,
        kind,
        _schemes(facts),
        str(facts.get("created", "")),
    )


def _schemes(facts: Mapping[str, Any]) -> list[str]:
    runs = facts.get("runs", ())
    named = [run.get("scheme") for run in runs if isinstance(run, dict)] if isinstance(runs, list) else []
    return list(dict.fromkeys(str(scheme) for scheme in named if scheme))

"""Finished runs on disk, so that interrupted work continues where it stopped and figures share runs."""

import hashlib
import json
import platform
from pathlib import Path
from typing import Final

from airpath._backends import BackendName
from airpath._os.durable import place_of, write_whole
from airpath._os.fingerprint import fingerprint
from airpath.scenario import Scenario
from airpath_papers.run_data import RunData, from_bytes, to_bytes

FORMAT: Final = "airpath kept run 6"
"""Format of a stored run; it changes with its content, so that older files are not read."""
COMPUTED_BY: Final = (
    "airpath/captures/*.py",
    "airpath/metrics/*.py",
    "airpath/results/*.py",
    "airpath_papers/array_file.py",
    "airpath_papers/diagnosis_data.py",
    "airpath_papers/estimate_data.py",
    "airpath_papers/run_data.py",
)
"""The sources, besides the engine, that compute the stored data."""


class RunStore:
    """A folder of runs, each in a file named by everything on which its numbers depend.

    These are the plan, its traces, the seed, the engine and the format of the stored data; a run is found
    again only if all of them are unchanged. Keys are those of `run_key`.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, key: str, seed: int) -> RunData | None:
        """Return a finished run; `None` if there is none, or its file is damaged."""
        try:
            return from_bytes(self._file(key, seed).read_bytes())
        except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
            return None

    def holds(self, key: str, seed: int) -> bool:
        """Return whether there is a file of this run."""
        return self._file(key, seed).is_file()

    def put(self, key: str, seed: int, data: RunData) -> None:
        """Store a finished run, completely or not at all.

        The file is not forced to disk, which would take as long as a short run. If the machine stops, files
        may be damaged; their checksums detect this.
        """
        write_whole(self._file(key, seed), to_bytes(data), forced=False)

    def remove(self, key: str, seed: int) -> Path:
        """Remove the file of a run, if there is one; return its path."""
        file = self._file(key, seed)
        file.unlink(missing_ok=True)
        return file

    def remove_unfinished(self) -> None:
        """Remove unfinished files of a killed process; no other process may use the folder."""
        for file in self.folder.glob("*/*.arrow.*"):
            if place_of(file.name):
                file.unlink(missing_ok=True)

    def _file(self, key: str, seed: int) -> Path:
        return self.folder / key / f"{seed}.arrow"


def run_key(scenario: Scenario, world: BackendName = "sim") -> str:
    """Return a digest of everything on which a run of this scenario depends, except its seed.

    On backends other than the simulator this includes the kernel, but not the other load of the machine.
    """
    digest = hashlib.sha256(f"{FORMAT}\n{fingerprint(*COMPUTED_BY)}\n".encode())
    digest.update(json.dumps(scenario.plan(), sort_keys=True).encode())
    for trace in scenario.traces:
        digest.update(f"{trace.format}\n{trace.direction}\n".encode() + trace.path.read_bytes())
    if world != "sim":
        digest.update(f"{world}\n{platform.release()}\n".encode())
    return digest.hexdigest()[:40]

"""Finished runs on disk, so that interrupted work goes on where it stopped and figures share their runs."""

import hashlib
import json
import platform
from pathlib import Path
from typing import Final

from airpath._backends import BackendName
from airpath.durable import place_of, write_whole
from airpath.fingerprint import fingerprint
from airpath.scenario import Scenario
from airpath_papers.run_data import RunData, from_bytes, to_bytes

FORMAT: Final = "airpath kept run 5"
"""Changes with what is kept of a run, so that older files are not read."""
COMPUTED_BY: Final = (
    "airpath/metrics/*.py",
    "airpath/results/*.py",
    "airpath_papers/array_file.py",
    "airpath_papers/estimate_data.py",
    "airpath_papers/run_data.py",
)
"""The sources, besides the engine, that compute what is kept."""


class RunStore:
    """A folder of runs, each in a file named by everything that its numbers depend on.

    That is the plan, its traces, the seed, the engine and the format of what is kept; a run is found again
    only while all of them are the same. Keys are those of `run_key`.
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
        """Tell whether there is a file of this run."""
        return self._file(key, seed).is_file()

    def put(self, key: str, seed: int, data: RunData) -> None:
        """Keep a finished run; a run is there as a whole or not at all.

        It is not forced to the disk, for which a short run would wait as long as it takes: of a machine that
        stopped, files may be damaged, which their checksums tell.
        """
        write_whole(self._file(key, seed), to_bytes(data), forced=False)

    def remove(self, key: str, seed: int) -> Path:
        """Remove the file of a run, if there is one; gives where it was."""
        file = self._file(key, seed)
        file.unlink(missing_ok=True)
        return file

    def remove_unfinished(self) -> None:
        """Remove what a process that was killed had not finished; nobody else may work here now."""
        for file in self.folder.glob("*/*.arrow.*"):
            if place_of(file.name):
                file.unlink(missing_ok=True)

    def _file(self, key: str, seed: int) -> Path:
        return self.folder / key / f"{seed}.arrow"


def run_key(scenario: Scenario, world: BackendName = "sim") -> str:
    """Return a digest of all that a run of this scenario depends on, besides its seed.

    In other worlds than the simulator that is also the kernel, but not what else the machine does.
    """
    digest = hashlib.sha256(f"{FORMAT}\n{fingerprint(*COMPUTED_BY)}\n".encode())
    digest.update(json.dumps(scenario.plan(), sort_keys=True).encode())
    for trace in scenario.traces:
        digest.update(f"{trace.format}\n{trace.direction}\n".encode() + trace.path.read_bytes())
    if world != "sim":
        digest.update(f"{world}\n{platform.release()}\n".encode())
    return digest.hexdigest()[:40]

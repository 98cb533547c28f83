"""`airpath sweep` in a process of its own that can be paused at a chosen run.

    held_sweep.py COUNT FILE ARGUMENTS...

Keeps COUNT runs, and continues only when FILE exists. A test interferes meanwhile, no matter how late it gets
the processor. `HeldSweep` starts such a process.
"""

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

HANG_S = 600
"""A process that takes longer hangs, on any machine."""


class HeldSweep:
    """A paused sweep, with `count` of its runs kept."""

    def __init__(self, count: int, out: Path, *arguments: object, **streams: Any) -> None:
        self._free = out.with_name(f"{out.name}.go-on")
        words = (count, self._free, *arguments, "--out", out)
        self.process = subprocess.Popen([sys.executable, __file__, *map(str, words)], **streams)
        hangs_at_s = time.monotonic() + HANG_S
        while len(kept(out)) < count:
            assert self.process.poll() is None, "the sweep has ended"
            assert time.monotonic() < hangs_at_s, "no run was kept"
            time.sleep(0.05)

    def resume(self) -> None:
        """Let the sweep continue."""
        self._free.touch()

    def kill(self) -> None:
        """Kill the process, but not its workers."""
        self.process.kill()
        self.process.communicate()


def kept(out: Path) -> list[Path]:
    """Return the files of runs that an unfinished sweep has kept."""
    return list(out.glob("parts/*/*.arrow"))


def main(count: int, free: Path, *arguments: str) -> None:
    """Run a sweep that pauses after some runs."""
    import threading

    from airpath.cli import main
    from airpath.sweeps import work
    from airpath.sweeps.part import PartStore

    keep, left = PartStore.put, threading.Semaphore(count)

    def held_keep(*facts: Any) -> None:
        if not left.acquire(blocking=False):
            while not free.exists():
                time.sleep(0.01)
        keep(*facts)

    PartStore.put = held_keep  # type: ignore[method-assign]
    work.MOST_WRITING = 0  # the sweep waits for each run to be kept
    main(["sweep", *arguments])


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:])

"""Run a sweep of many runs in this process and print its peak memory in KiB.

    peak_memory.py FOLDER REPETITIONS

Only the first run is computed; the others are copies of it under their own keys. The test measures the
process that distributes tasks, keeps results and joins them.
"""

import resource
import sys
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path

import airpath
from airpath.sweeps import running
from airpath.sweeps.part import Part
from airpath.sweeps.task import Failure, do_task, version

sys.path.insert(0, str(Path(__file__).parent))
from sweep_engines import SWEEP, InlineEngine, written


class CopyingEngine(InlineEngine):
    """An engine that runs the first task, and returns copies for the others."""

    first: Part | None = None

    def submit(self, task) -> "Future[bytes | Failure]":
        if self.first is None:
            done = do_task(task, version())
            assert isinstance(done, bytes)
            self.first = Part.from_bytes(done)
        future: Future[bytes | Failure] = Future()
        self._pending += 1
        future.set_result(replace(self.first, key=task.key).to_bytes())
        return future


if __name__ == "__main__":
    folder, repetitions = Path(sys.argv[1]), sys.argv[2]
    plan = written(folder, SWEEP.replace("seeds = [3, 4]", f"repetitions = {repetitions}"))
    running.open_engine = lambda _name, _jobs: CopyingEngine()
    swept = airpath.sweep(plan, folder / "out", progress=False)
    assert swept.dataset("runs").count_rows() == 8 * int(repetitions)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)  # noqa: T201

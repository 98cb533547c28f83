"""Shared code of the tests of sweeps: a small sweep, an engine in this process, the bytes of a data set."""

import sys
from concurrent.futures import Future
from pathlib import Path

from airpath.sweeps import running
from airpath.sweeps.engine import Engine, WorkerLostError
from airpath.sweeps.task import Failure, Task, do_task, version

SCENARIO = """
name = "tiny"
duration = "4s"

[topology]
kind = "dumbbell"

[topology.bottleneck]
rate = "5mbps"
delay = "10ms"
loss = 0.005
queue = { kind = "drop-tail", limit = "30kB" }

[[flows]]
name = "flow"
scheme = "newreno"
count = 2
start = { uniform = ["0s", "500ms"] }
"""

SWEEP = """
name = "small"
scenario = "tiny.toml"
schemes = ["newreno", "cubic"]
seeds = [3, 4]
keep = ["flows", "link_series"]

[names]
rate = "topology.bottleneck.rate"

[grid]
rate = "2mbps..8mbps / 2"
"record.warm_up" = ["1s", "3s"]
"""

FAILING = (
    SWEEP
    + """
[[zip]]
duration = ["4s", "2s"]
"""
)
"""A warm-up of 3 s is valid, and a duration of 2 s is; both together are not."""


LONG = "1000s"
"""A run of this simulated time takes ten times as long as one of 4 s, so that workers are usually in the
middle of a run when a test kills them.
"""


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "airpath", "sweep", *map(str, arguments)]


def written(folder: Path, sweep: str) -> Path:
    (folder / "tiny.toml").write_text(SCENARIO)
    file = folder / "small.toml"
    file.write_text(sweep)
    return file


class InlineEngine(Engine):
    """An engine that runs tasks at once in this process and records them; `deadly` ones lose their worker."""

    def __init__(self, deadly=lambda _task: False, slots: int = 3) -> None:
        self.tasks: list[Task] = []
        self.most_pending = 0
        self._deadly, self._slots, self._pending = deadly, slots, 0

    @property
    def slots(self) -> int:
        return self._slots

    def submit(self, task: Task) -> "Future[bytes | Failure]":
        self._pending += 1
        self.most_pending = max(self.most_pending, self._pending)
        future: Future[bytes | Failure] = Future()
        if self._deadly(task):
            future.set_exception(WorkerLostError("killed"))
        else:
            self.tasks.append(task)
            future.set_result(do_task(task, version()))
        return future

    def result(self, pending) -> bytes | Failure:
        self._pending -= 1
        return pending.result()

    def restart(self) -> None:
        assert self._pending == 0

    def close(self) -> None:
        pass


def data_set(folder: Path) -> dict[str, bytes]:
    """Return all files that must be byte-equal."""
    names = ("*.parquet", "failures.json", "sweep.json", "sweep.toml", "scenario.toml")
    found = {file.name: file.read_bytes() for name in names for file in folder.glob(name)}
    assert {"runs.parquet", "flows.parquet", "link_series.parquet", "statistics.parquet"} <= set(found)
    return found


def inline(monkeypatch, engine: InlineEngine) -> InlineEngine:
    """Make sweeps use this engine."""
    monkeypatch.setattr(running, "open_engine", lambda _name, _jobs: engine)
    return engine

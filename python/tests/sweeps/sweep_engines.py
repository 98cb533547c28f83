"""What the tests of sweeps share: an engine in this process, and the bytes of a data set."""

from concurrent.futures import Future
from pathlib import Path

from airpath.sweeps.engine import Engine, WorkerLostError
from airpath.sweeps.task import Failure, Task, do_task, version


class InlineEngine(Engine):
    """Does tasks at once, in this process, and remembers which; `deadly` ones lose their worker."""

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
    """Return all that must be byte-equal."""
    names = ("*.parquet", "failures.json", "sweep.json", "sweep.toml", "scenario.toml")
    found = {file.name: file.read_bytes() for name in names for file in folder.glob(name)}
    assert {"runs.parquet", "flows.parquet", "link_series.parquet", "statistics.parquet"} <= set(found)
    return found

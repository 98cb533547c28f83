"""Worker processes on this machine."""

from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool

from airpath._os.processes import WorkerPool
from airpath.runner import workers
from airpath.sweeps.engine import Engine, EngineError, Pending, WorkerLostError
from airpath.sweeps.task import EngineMismatchError, Failure, Task, do_task, version


class LocalEngine(Engine):
    """Worker processes on this machine.

    Parameters
    ----------
    jobs
        Number of processes; by default one for each processor available to this process.
    """

    def __init__(self, jobs: int | None = None) -> None:
        self._workers = workers(jobs)
        self._pool = WorkerPool(self._workers)

    @property
    def slots(self) -> int:
        """Two for each worker, so that the next task is ready when one is done."""
        return 2 * self._workers

    def submit(self, task: Task) -> "Future[bytes | Failure]":
        """Submit a task."""
        return self._pool.submit(do_task, task, version())

    def result(self, pending: Pending) -> bytes | Failure:
        """Return the result of a finished task."""
        try:
            return pending.result()
        except BrokenProcessPool as error:
            raise WorkerLostError(str(error)) from None
        except EngineMismatchError as error:
            raise EngineError(f"{error}; its files changed during the sweep") from None

    def restart(self) -> None:
        """Start new workers."""
        self._pool.restart()

    def close(self) -> None:
        """Stop the workers, even during a run."""
        self._pool.close()

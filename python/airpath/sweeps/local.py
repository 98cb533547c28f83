"""Worker processes on this machine, one interpreter each: no run waits for another's Python."""

import multiprocessing
import os
import signal
import sys
import threading
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import Connection

from airpath.runner import workers
from airpath.sweeps.engine import Engine, EngineError, Pending, WorkerLostError
from airpath.sweeps.task import EngineMismatchError, Failure, Task, do_task, version


class LocalEngine(Engine):
    """Processes of this machine.

    Parameters
    ----------
    jobs
        How many; by default one for each processor that is ours.
    """

    def __init__(self, jobs: int | None = None) -> None:
        self._workers = workers(jobs)
        self._context = multiprocessing.get_context("spawn" if sys.platform == "win32" else "forkserver")
        if self._context.get_start_method() == "forkserver":
            # Libraries are loaded once, not by each worker.
            self._context.set_forkserver_preload(["airpath.sweeps.task"])
        self._start()

    def _start(self) -> None:
        held, self._leash = self._context.Pipe(duplex=False)
        self._pool = ProcessPoolExecutor(
            self._workers, mp_context=self._context, initializer=_begin, initargs=(held,)
        )
        self._held = held

    @property
    def slots(self) -> int:
        """One more for each worker, so that the next task is there when one is done."""
        return 2 * self._workers

    def submit(self, task: Task) -> "Future[bytes | Failure]":
        """Hand in a task."""
        try:
            return self._pool.submit(do_task, task, version())
        except BrokenProcessPool as error:
            failed: Future[bytes | Failure] = Future()
            failed.set_exception(error)
            return failed

    def result(self, pending: Pending) -> bytes | Failure:
        """Return what came of a task that is done."""
        try:
            return pending.result()
        except BrokenProcessPool as error:
            raise WorkerLostError(str(error)) from None
        except EngineMismatchError as error:
            raise EngineError(f"{error}; its files changed while it worked") from None

    def restart(self) -> None:
        """Start new workers."""
        self.close()
        self._start()

    def close(self) -> None:
        """Let go of the leash: workers end at once, in the middle of a run."""
        self._leash.close()
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._held.close()


def _begin(leash: Connection) -> None:
    """Prepare a worker process: Ctrl-C is for the process that hands out the work, not for workers."""
    import pyarrow as pa

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    pa.set_cpu_count(1)
    threading.Thread(target=_end_with, args=(leash,), daemon=True).start()


def _end_with(leash: Connection) -> None:
    """Leave when the other end of the leash is closed, also because its process was killed."""
    try:
        leash.recv_bytes()
    except (EOFError, OSError):
        os._exit(1)

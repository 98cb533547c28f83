"""Worker processes on this machine, each with its own interpreter, so that runs do not share a lock."""

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import Connection, wait
from typing import Final, ParamSpec, TypeVar

if sys.platform == "win32":
    from multiprocessing.context import SpawnContext as Context
else:
    from multiprocessing.context import ForkServerContext as Context

_P = ParamSpec("_P")
_T = TypeVar("_T")

_TUNABLES: Final = "GLIBC_TUNABLES"
_WANTED: Final = {
    "glibc.malloc.hugetlb": 1,
    "glibc.malloc.mmap_threshold": 32 << 20,
    "glibc.malloc.trim_threshold": 4 << 30,
}
"""Settings of glibc's allocator: large pages, and keeping freed memory of a run for the next one."""


_LOOK_EVERY_S: Final = 1.0
_FINDS_OUT_WITHIN_S: Final = 5.0
"""Time in which a pool normally reports a dead worker; it may never do so."""

PRELOADED: Final = ("airpath.sweeps.task",)
"""Modules that the workers of sweeps import."""


def prepare(preload: Sequence[str] = PRELOADED) -> Context:
    """Start importing modules for workers that are needed soon, in a separate process, as `WorkerPool` does.

    Returns the context in which the workers are started. `preload` is as in `WorkerPool`.
    """
    if sys.platform == "win32":
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["airpath._os.preload", *preload])
    _start_server()
    return context


class WorkerPool:
    """Processes that call functions; a context manager that stops all of them at its end.

    They end at once if they are stopped, or if the process that started them ends in any way.

    Parameters
    ----------
    workers
        Number of processes.
    preload
        Modules that are imported once, not by each worker; those of the first pool of a process are used.
    """

    def __init__(self, workers: int, preload: Sequence[str] = PRELOADED) -> None:
        self._workers = workers
        self._context = prepare(preload)
        self._start()

    def _start(self) -> None:
        held, self._leash = self._context.Pipe(duplex=False)
        self._pool = ProcessPoolExecutor(
            self._workers, mp_context=self._context, initializer=_begin, initargs=(held,)
        )
        self._held = held
        self._closed = threading.Event()
        watched = (self._pool, self._leash, self._closed)
        self._watcher = threading.Thread(target=_end_if_one_is_gone, args=watched, daemon=True)
        self._watcher.start()

    def submit(self, call: Callable[_P, _T], /, *args: _P.args, **kwargs: _P.kwargs) -> "Future[_T]":
        """Submit a function call; it fails with `BrokenProcessPool` if a worker dies in the meantime."""
        try:
            return self._pool.submit(call, *args, **kwargs)
        except BrokenProcessPool as error:
            failed: Future[_T] = Future()
            failed.set_exception(error)
            return failed

    def restart(self) -> None:
        """Start new workers."""
        self.close()
        self._start()

    def close(self) -> None:
        """Close the channel to the workers, which end at once, even during a call."""
        self._closed.set()
        self._watcher.join()  # it may be closing the same channels
        self._leash.close()
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._held.close()

    def __enter__(self) -> "WorkerPool":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _end_if_one_is_gone(pool: ProcessPoolExecutor, leash: Connection, closed: threading.Event) -> None:
    """Mark a pool as broken if a worker died and the pool does not notice.

    If a worker is killed while it writes a result, the pool waits forever for the rest, because the others
    and this process could still write to the same pipe. Python has no public interface to an executor's
    workers or its pipe.
    """
    while not closed.wait(_LOOK_EVERY_S):
        sentinels = [process.sentinel for process in list((pool._processes or {}).values())]
        if wait(sentinels, timeout=0) and not closed.wait(_FINDS_OUT_WITHIN_S):
            leash.close()
            # The type checker's declarations lack the pipe of this queue.
            pool._result_queue._writer.close()  # type: ignore[attr-defined]
            return


def _start_server() -> None:
    """Start the process from which workers are forked, if there is none.

    This process and the workers request large pages of memory (from glibc 2.35, if the kernel grants them on
    request), and keep memory from run to run. Runs then take up to a tenth less time, because new memory is
    mapped in pieces of 2 MB instead of 4 kB, and 3 % less if some need much of it, because it need not be
    cleared again; each process keeps the memory that its largest run needed. The C library reads this setting
    when a process starts, so it must be in the environment then, and only then.
    """
    from multiprocessing import forkserver, resource_tracker  # not available on Windows

    resource_tracker.ensure_running()  # it unblocks Ctrl-C when it starts
    # A terminal's Ctrl-C reaches all of its processes; one that is importing modules would print a traceback.
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    given = os.environ.get(_TUNABLES)
    os.environ[_TUNABLES] = tunables(given)
    try:
        forkserver.ensure_running()
    finally:
        if given is None:
            os.environ.pop(_TUNABLES, None)
        else:
            os.environ[_TUNABLES] = given
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def tunables(given: str | None) -> str:
    """Return GLIBC_TUNABLES for workers: the given settings, then ours that are not among them."""
    settings = given.split(":") if given else []
    named = {setting.partition("=")[0] for setting in settings}
    return ":".join(settings + [f"{name}={value}" for name, value in _WANTED.items() if name not in named])


def _begin(leash: Connection) -> None:
    """Prepare a worker process: the process that distributes the work handles Ctrl-C, not the workers."""
    import pyarrow as pa

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    pa.set_cpu_count(1)
    threading.Thread(target=_end_with, args=(leash,), daemon=True).start()


def _end_with(leash: Connection) -> None:
    """Exit when the other end of the channel is closed, even if its process was killed."""
    try:
        leash.recv_bytes()
    except (EOFError, OSError):
        os._exit(1)

"""Worker processes on this machine, one interpreter each: no run waits for another's Python."""

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
"""What is asked of glibc's allocator: large pages, and to keep what a run gives back for the next one."""


_LOOK_EVERY_S: Final = 1.0
_FINDS_OUT_WITHIN_S: Final = 5.0
"""A pool says that a worker died as soon as the others' results let it, if it does."""

PRELOADED: Final = ("airpath.sweeps.task",)
"""Modules that the workers of sweeps need."""


def prepare(preload: Sequence[str] = PRELOADED) -> Context:
    """Begin to load modules for workers that are wanted soon, in a process of its own, as `WorkerPool` does.

    Returns the context in which they are started. Modules are those of `WorkerPool`.
    """
    if sys.platform == "win32":
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(preload))
    _start_server()
    return context


class WorkerPool:
    """Processes that call functions; a context that ends with all of them stopped.

    They end at once when they are told to, and when the process that started them is gone, however it ended.

    Parameters
    ----------
    workers
        How many.
    preload
        Modules that are loaded once, not by each worker; the first pool of a process decides.
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
        threading.Thread(target=_end_if_one_is_gone, args=watched, daemon=True).start()

    def submit(self, call: Callable[_P, _T], /, *args: _P.args, **kwargs: _P.kwargs) -> "Future[_T]":
        """Have a function called; fails with `BrokenProcessPool` when a worker died meanwhile."""
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
        """Let go of the leash: workers end at once, in the middle of a call."""
        self._closed.set()
        self._leash.close()
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._held.close()

    def __enter__(self) -> "WorkerPool":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _end_if_one_is_gone(pool: ProcessPoolExecutor, leash: Connection, closed: threading.Event) -> None:
    """Break a pool of which a worker died and that does not find out.

    It waits for ever for the rest of a result when a worker is killed while it writes it, as the others and
    this process could still write to the same pipe. Python has no public way to look at an executor's
    workers or its pipe.
    """
    while not closed.wait(_LOOK_EVERY_S):
        sentinels = [process.sentinel for process in list((pool._processes or {}).values())]
        if wait(sentinels, timeout=0) and not closed.wait(_FINDS_OUT_WITHIN_S):
            leash.close()
            # The type checker's declarations leave the pipe of this queue out.
            pool._result_queue._writer.close()  # type: ignore[attr-defined]
            return


def _start_server() -> None:
    """Start the process from which workers are forked, if there is none.

    It and they ask for large pages of memory (glibc 2.35 on, where the kernel gives them to whoever asks),
    and keep memory from run to run. Runs then take up to a tenth less time, because new memory comes in
    pieces of 2 MB and not of 4 kB, and 3 % less where some need much of it, because it need not be cleared
    again; each process keeps what its largest run needed. The C library reads this when a process starts,
    so that it must be in the environment then, and only then.
    """
    from multiprocessing import forkserver, resource_tracker  # not on Windows

    resource_tracker.ensure_running()  # lets Ctrl-C through when it starts
    # Who loads modules when a terminal's Ctrl-C comes, which is for all of its processes, would say where.
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
    """Tunables of the C library for workers (GLIBC_TUNABLES): those given, then ours that are not in them."""
    settings = given.split(":") if given else []
    named = {setting.partition("=")[0] for setting in settings}
    return ":".join(settings + [f"{name}={value}" for name, value in _WANTED.items() if name not in named])


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

"""A watchdog that ends calls of user code that do not return."""

import ctypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from airpath import _core

LIMIT_S = 10.0
"""A call that takes this long in real time is ended, at the latest after twice this time."""


class NoReturnError(Exception):
    """Raised inside user code that does not return."""

    def __init__(self) -> None:
        super().__init__(f"the call did not return within {2 * LIMIT_S:g} s")


@contextmanager
def watched(run: object) -> Iterator[None]:
    """Raise `NoReturnError` in this thread if a call of code in a run does not return within `LIMIT_S`."""
    if not isinstance(run, _core.Simulation | _core.Conformance) or run.plugin_calls is None:
        yield
        return
    thread, done = threading.get_ident(), threading.Event()

    def watch() -> None:
        seen: int | None = None
        while not done.wait(LIMIT_S):
            calls, before = run.plugin_calls or 0, seen
            seen = calls
            if calls == before and calls % 2 == 1:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(
                    ctypes.c_ulong(thread), ctypes.py_object(NoReturnError)
                )
                seen = None  # the next call has the whole limit

    threading.Thread(target=watch, daemon=True, name="airpath-watchdog").start()
    try:
        yield
    finally:
        done.set()

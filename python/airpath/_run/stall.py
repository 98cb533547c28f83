"""A limit for code of the user that does not return: the simulated time of its run does not advance."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

PATIENCE_S: Final = 60.0
"""A run whose progress does not change for this long is ended: some code in it does not return."""
LOOK_EVERY_S: Final = 1.0
"""The longest time between two readings of the progress."""


class Stall:
    """How long a progress has not changed.

    Each look adds at most `LOOK_EVERY_S`, so that a pause of this process (Ctrl-Z) does not end a run.
    """

    def __init__(self) -> None:
        self._progress: float | None = None
        self._stalled_s = 0.0
        self._looked_at_s = 0.0

    def is_over(self, progress: float) -> bool:
        """Look at a progress; return whether it has not changed for `PATIENCE_S`."""
        now_s = time.monotonic()
        if progress == self._progress:
            self._stalled_s += min(now_s - self._looked_at_s, LOOK_EVERY_S)
        else:
            self._stalled_s = 0.0
        self._progress, self._looked_at_s = progress, now_s
        return self._stalled_s >= PATIENCE_S


@contextmanager
def ends_if_stalled(progress: Callable[[], float]) -> Iterator[None]:
    """End this process if a progress does not change for `PATIENCE_S` inside a `with` block."""
    done, stall = threading.Event(), Stall()

    def watch() -> None:
        while not done.wait(min(LOOK_EVERY_S, PATIENCE_S)):
            if stall.is_over(progress()):
                os._exit(1)

    threading.Thread(target=watch, daemon=True, name="airpath-stall").start()
    try:
        yield
    finally:
        done.set()

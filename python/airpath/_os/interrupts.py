"""Ctrl-C as a flag that is polled, and as an exception that is not lost."""

import _thread
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType, FrameType, TracebackType
from typing import Self

_AGAIN_S = 0.01
"""Time after which a lost interrupt is raised again: the callback that lost it has then usually returned."""


@contextmanager
def raised_again_if_lost() -> Iterator[None]:
    """Raise `KeyboardInterrupt` again in the main thread if Python ignored it in this context.

    Python ignores exceptions in callbacks of weak references and in finalizers. An interrupt there is
    otherwise printed and lost.
    """
    others = sys.unraisablehook

    def on_ignored(ignored: "sys.UnraisableHookArgs") -> None:
        if ignored.exc_type is KeyboardInterrupt:
            # Not a `threading.Timer`, whose start takes longer: an interrupt in this function is lost, too.
            _thread.start_new_thread(_interrupt_outside, (on_ignored.__code__,))
        else:
            others(ignored)

    sys.unraisablehook = on_ignored
    try:
        yield
    finally:
        sys.unraisablehook = others


def _interrupt_outside(code: CodeType) -> None:
    """Send Ctrl-C to the main thread once it does not execute this code."""
    time.sleep(_AGAIN_S)
    while _executes(code):
        time.sleep(_AGAIN_S)
    _interrupt()


def _executes(code: CodeType) -> bool:
    """Return whether the main thread executes this code, or a function that it called."""
    frame = sys._current_frames().get(threading.main_thread().ident or 0)
    while frame is not None and frame.f_code is not code:
        frame = frame.f_back
    return frame is not None


def _interrupt() -> None:
    """Send Ctrl-C to the main thread. It also ends a sleep there, except on Windows."""
    if sys.platform == "win32":
        _thread.interrupt_main()
    elif (main := threading.main_thread().ident) is not None:
        signal.pthread_kill(main, signal.SIGINT)


class InterruptRequest:
    """A context in which Ctrl-C is recorded instead of raised; a second Ctrl-C is raised.

    Python raises `KeyboardInterrupt` at an arbitrary point of the main thread, also where it is lost
    (`raised_again_if_lost`). Outside the main thread, or if other code handles the signal, nothing changes.
    """

    def __init__(self) -> None:
        self.made = False
        """Whether Ctrl-C was pressed."""
        self._installed = False

    def __enter__(self) -> Self:
        ours = threading.current_thread() is threading.main_thread()
        if ours and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._remember)
            self._installed = True
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._installed:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def raise_if_made(self) -> None:
        """Raise `KeyboardInterrupt` if Ctrl-C was pressed."""
        if self.made:
            raise KeyboardInterrupt

    def _remember(self, number: int, frame: FrameType | None) -> None:
        if self.made:
            signal.default_int_handler(number, frame)
        self.made = True

"""Ctrl-C as a flag that is polled, instead of an exception that can occur anywhere."""

import signal
import threading
from types import FrameType, TracebackType
from typing import Self


class InterruptRequest:
    """A context in which Ctrl-C is recorded instead of raised; a second Ctrl-C is raised.

    Python raises `KeyboardInterrupt` at an arbitrary point of the main thread. Within the callback of a weak
    reference or a finalizer, the exception is printed and lost, and with it the request to stop. Outside the
    main thread, or if other code handles the signal, nothing changes.
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

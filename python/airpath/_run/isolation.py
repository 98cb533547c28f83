"""A call in a separate process: its Python code runs in parallel, and a crash ends this call only."""

import faulthandler
import os
import signal
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, Concatenate, Final, Generic, ParamSpec, TypeVar

from airpath._os.processes import prepare
from airpath._run import stall
from airpath.errors import AirpathError

_P = ParamSpec("_P")
_T = TypeVar("_T")

Report = Callable[[float], None]
"""A function that receives the finished share of a call, 0 to 1."""
PRELOADED: Final = ("airpath._run.isolation", "airpath._run.workers")
"""Modules that the processes import."""
_HAS_DESCRIPTORS: Final = sys.platform != "win32"
"""Whether pipes are file descriptors, to which `faulthandler` writes."""
_LONGEST_STACK: Final = 65_536
"""Bytes that are read of a stack; `faulthandler` writes at most 100 calls."""


class ProcessLostError(AirpathError):
    """A process ended before its call returned.

    Attributes
    ----------
    stack
        The Python stack at the signal that ended it (`faulthandler`); empty if unknown.
    """

    def __init__(self, message: str, stack: str = "") -> None:
        super().__init__(message)
        self.stack = stack


@dataclass(frozen=True)
class _Returned:
    value: Any


@dataclass(frozen=True)
class _Raised:
    message: str


class IsolatedCall(Generic[_T]):
    """A call in a separate process, which another thread can monitor and stop.

    A call that has reported its progress, and then makes none for `stall.PATIENCE_S`, is ended.

    Parameters
    ----------
    function
        A function of a module; its first argument is a `Report`.
    *args, **kwargs
        Its other arguments. They and the result must be picklable.
    """

    def __init__(
        self, function: Callable[Concatenate[Report, _P], _T], *args: _P.args, **kwargs: _P.kwargs
    ) -> None:
        self.progress = 0.0
        """The finished share, 0 to 1."""
        self.is_stopped = False
        """Whether `stop` was called."""
        self._has_stalled = False
        self._context = prepare(PRELOADED)
        self._function, self._args, self._kwargs = function, args, kwargs
        self._process: BaseProcess | None = None

    def result(self) -> _T:
        """Start the process, wait for the end of the call, and return its result.

        Raises
        ------
        ProcessLostError
            If the process ends before the call; the text names the signal or exit code, or states that the
            call made no progress.
        AirpathError
            If the call raises it.
        """
        if self.is_stopped:
            raise ProcessLostError("the process was stopped before it started")
        # The pipes are opened here: many calls may wait for their start, and descriptors are limited.
        ours, theirs = self._context.Pipe()
        with ours, theirs:
            stack, crash = self._context.Pipe(duplex=False)
            with stack, crash:
                process = self._context.Process(
                    target=_serve,
                    args=(theirs, crash, self._function, self._args, self._kwargs),
                    daemon=True,
                )
                process.start()
                self._process = process
                if self.is_stopped:  # in the meantime
                    process.kill()
                theirs.close()
                crash.close()
                message = self._received(ours)
                ours.close()
                process.join()
                self._process = None
                written = _written(stack)
        match message:
            case _Returned(value):
                returned: _T = value
                return returned
            case _Raised(text):
                raise AirpathError(text)
        if self._has_stalled:
            raise ProcessLostError(
                f"ended, because simulated time did not advance for {stall.PATIENCE_S:g} s"
            )
        code = process.exitcode or 0
        reason = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        raise ProcessLostError(f"the process ended with {reason}", written)

    def stop(self) -> None:
        """End the process; `result` raises `ProcessLostError`."""
        self.is_stopped = True
        self._kill()

    def _kill(self) -> None:
        if (process := self._process) is not None:
            process.kill()

    def _received(self, channel: Connection) -> object:
        """Return the last message of the process, `None` if it ended without one; note the progress."""
        has_reported, stalled = False, stall.Stall()
        try:
            while True:
                if channel.poll(stall.LOOK_EVERY_S):
                    message = channel.recv()
                    if not isinstance(message, float):
                        return message
                    self.progress, has_reported = message, True
                # Code that holds the interpreter lock also keeps the process from reporting.
                if has_reported and stalled.is_over(self.progress):
                    self._has_stalled = True
                    self._kill()
                    return None
        except (EOFError, OSError):
            return None


def _serve(
    channel: Connection,
    crash: Connection,
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> None:
    """Call a function in this process, and send progress and result."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the monitoring process handles Ctrl-C
    if _HAS_DESCRIPTORS:
        faulthandler.enable(crash.fileno(), all_threads=False)
    threading.Thread(target=_end_with, args=(channel,), daemon=True).start()
    one_at_a_time = threading.Lock()

    def send(message: object) -> None:
        with one_at_a_time:
            channel.send(message)

    try:
        message: object = _Returned(function(send, *args, **kwargs))
    except AirpathError as error:
        message = _Raised(str(error))
    send(message)


def _written(stack: Connection) -> str:
    """Return the stack that a process wrote to a pipe before it ended; empty if it wrote none."""
    if not _HAS_DESCRIPTORS:
        return ""
    # A process that the call started may keep the other end open.
    os.set_blocking(stack.fileno(), False)
    try:
        return os.read(stack.fileno(), _LONGEST_STACK).decode(errors="replace")
    except BlockingIOError:
        return ""


def _end_with(channel: Connection) -> None:
    """End this process when the other end of the channel is closed, even if its process was killed."""
    try:
        channel.recv_bytes()
    except (EOFError, OSError):
        os._exit(1)

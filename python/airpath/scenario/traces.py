"""The trace files that a scenario names, numbered in the order of the plan."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from airpath import _core
from airpath._os.input_file import InputFile
from airpath.errors import TraceError


@dataclass(frozen=True)
class TraceInput:
    """One input of a run."""

    path: Path
    """The file."""
    format: str | None
    """Its format, by name (`airpath trace --help`); `None` to detect it."""
    direction: str
    """`down` or `up`, for formats that contain both."""


class TraceList:
    """The inputs of one plan; the same file in the same role is one input."""

    def __init__(self) -> None:
        self.inputs: list[TraceInput] = []

    def index(self, trace: TraceInput) -> int:
        """Return the index of this trace, adding it if it is new."""
        if trace not in self.inputs:
            self.inputs.append(trace)
        return self.inputs.index(trace)


def read_trace(trace: TraceInput) -> _core.Trace:
    """Read a trace file; unchanged files are read once.

    Raises
    ------
    TraceError
        If the file cannot be read or breaks the rules of its format.
    """
    try:
        state = trace.path.stat()
        return _read(trace, state.st_mtime_ns, state.st_size)
    except FileNotFoundError:
        raise TraceError(f"{trace.path}: there is no such file") from None
    except OSError as error:
        raise TraceError(f"{trace.path}: cannot be read: {error.strerror or error}") from None
    except _core.TraceFormatError as error:
        raise TraceError(f"{trace.path}: {error.args[0]}") from None


def read_recording(
    recording: InputFile, format_name: str | None = None, direction: str = "down"
) -> _core.Trace:
    """Read a trace that may come from a pipe; the arguments are those of `TraceInput`.

    Raises
    ------
    TraceError
        If it breaks the rules of its format.
    """
    try:
        return _core.Trace.read(recording.path.read_bytes(), format_name, direction)
    except _core.TraceFormatError as error:
        raise TraceError(f"{recording}: {error.args[0]}") from None


def mean_rate(trace: TraceInput) -> float:
    """Return the mean rate of a trace over its period, in bits per second.

    Raises
    ------
    TraceError
        If the file cannot be read or breaks the rules of its format.
    """
    return float(read_trace(trace).statistics()["mean_bps"])


@lru_cache(maxsize=32)
def _read(trace: TraceInput, _modified_ns: int, _size: int) -> _core.Trace:
    return _core.Trace.read(trace.path.read_bytes(), trace.format, trace.direction)

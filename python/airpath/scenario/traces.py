"""The trace files that a scenario names, numbered in the order of the plan."""

from dataclasses import dataclass
from pathlib import Path

from airpath.errors import TraceError

OPPORTUNITY_BYTES = 1500
"""What one line of a Mahimahi trace delivers."""


@dataclass(frozen=True)
class TraceInput:
    """One input of a run."""

    path: Path
    """The file."""
    format: str
    """Its format: `mahimahi` (packet-delivery opportunities) or a rate-log format."""
    direction: str
    """`down` or `up`, for formats that hold both."""

    @property
    def is_opportunities(self) -> bool:
        """Whether it holds packet-delivery opportunities; otherwise it is a rate log."""
        return self.format == "mahimahi"


class TraceList:
    """The inputs of one plan; the same file in the same role is one input."""

    def __init__(self) -> None:
        self.inputs: list[TraceInput] = []

    def index(self, trace: TraceInput) -> int:
        """Return the number of this trace, which is added if it is new."""
        if trace not in self.inputs:
            self.inputs.append(trace)
        return self.inputs.index(trace)


def mean_rate(trace: TraceInput) -> float | None:
    """Return the mean rate of a trace of delivery opportunities in bits per second; `None` for a rate log.

    A rate log is read by the engine, so what must be known before the run cannot be derived from it.

    Raises
    ------
    TraceError
        If the file cannot be read or breaks the rules of its format.
    """
    if not trace.path.is_file():
        raise TraceError(f"{trace.path}: there is no such file")
    if not trace.is_opportunities:
        return None
    count, last = 0, 0
    try:
        with trace.path.open(encoding="ascii") as lines:
            for number, line in enumerate(lines, start=1):
                text = line.strip()
                if not (text.isdigit() and len(text) < 16) or int(text) < last:
                    raise TraceError(
                        f'{trace.path}: line {number}: found "{text[:40]}"; accepted: a whole'
                        f" number of milliseconds,"
                        " not smaller than the one before"
                    )
                count, last = count + 1, int(text)
    except (OSError, UnicodeDecodeError) as error:
        raise TraceError(f"{trace.path}: cannot be read as a Mahimahi trace: {error}") from None
    if last == 0:
        raise TraceError(f"{trace.path}: the last timestamp is the period; it must be greater than 0")
    return count * OPPORTUNITY_BYTES * 8 * 1000 / last

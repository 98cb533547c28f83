"""Bins of equal width over a log's time, starting at its zero."""

import numpy as np
import numpy.typing as npt

from airpath.errors import UsageError
from airpath.link_logs.log import Events, LinkLog
from airpath.units import format_duration

BIN_NS = 500_000_000
"""Default width, in nanoseconds: as in Pantheon and in Mahimahi's live figure of a link."""

MOST_BINS = 1_000_000
"""Limit of the number of bins: a log of two lines can span years."""


class LogBins:
    """The bins of a log, from its first event to its last.

    Parameters
    ----------
    log
        The log.
    width_ns
        Their width in nanoseconds, greater than zero.

    Raises
    ------
    UsageError
        If there would be more than `MOST_BINS`.
    """

    def __init__(self, log: LinkLog, width_ns: int = BIN_NS) -> None:
        first, last = log.span_ns
        self.width_s = width_ns * 1e-9
        self._width_ns, self._first = width_ns, first // width_ns
        self._count = last // width_ns - self._first + 1
        if self._count > MOST_BINS:
            raise UsageError(
                f"{log.path}: lasts {format_duration(last - first, 3)}, {self._count} bins of "
                f"{format_duration(width_ns, 3)}; accepted: at most {MOST_BINS} bins (--bin)"
            )

    def __len__(self) -> int:
        """Return the number of bins."""
        return self._count

    @property
    def edges_s(self) -> npt.NDArray[np.float64]:
        """Start of each bin and end of the last one, in seconds of the log."""
        edges: npt.NDArray[np.float64] = (self._first + np.arange(self._count + 1)) * self._width_ns / 1e9
        return edges

    def sum(self, events: Events, column: str = "bytes") -> npt.NDArray[np.int64]:
        """Return the sum of a column of events over each bin."""
        sums = np.zeros(self._count, dtype=np.int64)
        np.add.at(sums, events["time_ns"] // self._width_ns - self._first, events[column])
        return sums

    def rate_mbps(self, events: Events) -> npt.NDArray[np.float64]:
        """Return the mean rate of events over each bin in Mbit/s."""
        rate: npt.NDArray[np.float64] = self.sum(events) * np.float64(8e-6) / self.width_s
        return rate

"""The default warm-up."""

from typing import Final

_AFTER_LATEST_START_NS: Final = 2_000_000_000
_LARGEST_SHARE: Final = 5


def automatic_warm_up(latest_start_ns: float, duration_ns: int, interval_ns: int) -> int:
    """Return the warm-up: until 2 s after the latest start, but at most a fifth of the run.

    Parameters
    ----------
    latest_start_ns
        Latest possible start of the last flow, in nanoseconds; may be infinite.
    duration_ns, interval_ns
        Length of the run and of a recorded interval, in nanoseconds.

    Returns
    -------
    int
        Nanoseconds, a whole number of intervals.
    """
    wished = min(latest_start_ns + _AFTER_LATEST_START_NS, duration_ns)
    most = duration_ns // _LARGEST_SHARE // interval_ns
    return min(-(-int(wished) // interval_ns), most) * interval_ns

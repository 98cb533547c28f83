"""How quiet the machine is while a real-time check runs.

A real-time check that fails on a machine that other programs use, or that stops for a while, is no evidence
about airpath. The measures here distinguish such a failure from one of airpath: the check's own processes do
not count as a disturbance.
"""

import ctypes
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

import psutil

MOST_BY_OTHERS: Final = 0.1
"""Processors that other programs may use on average."""
MOST_STOLEN: Final = 0.01
"""Share of the processors' time that the host of a virtual machine may take."""
MOST_DELAY_S: Final = 0.05
"""Longest delay of a sleeping process's wake-up. Two busy processors delay it by a few milliseconds."""

_SUBREAPER: Final = 36
"""PR_SET_CHILD_SUBREAPER of Linux (prctl(2))."""

# Prints the longest delay, in seconds, when its input ends.
_SLEEPER: Final = """
import select, sys, time
longest, at = 0.0, time.monotonic()
while not select.select([sys.stdin], [], [], 0.01)[0]:
    now = time.monotonic()
    longest, at = max(longest, now - at - 0.01), now
print(longest)
"""


class Quietness:
    """Measures disturbances from its construction until `end`."""

    def __init__(self) -> None:
        _adopt(True)
        self._sleeper = subprocess.Popen(
            [sys.executable, "-S", "-E", "-c", _SLEEPER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._began_s = time.monotonic()
        self._busy_s, self._stolen_s = _machine_s()
        self._own_s = _own_s()
        self._waited_s = _waited_s()
        self._delay_s = 0.0

    def end(self) -> str | None:
        """Return why a failure since construction is no evidence about airpath, or None if it is."""
        if self._sleeper.returncode is None:
            self._delay_s = float(self._sleeper.communicate()[0] or 0.0)
        lasted_s = max(time.monotonic() - self._began_s, 1e-3)
        _adopt(False)
        busy_s, stolen_s = _machine_s()
        own_s, waited_s = _own_s() - self._own_s, _waited_s() - self._waited_s
        return disturbance(
            by_others=(busy_s - self._busy_s - own_s) / lasted_s,
            stolen=(stolen_s - self._stolen_s) / lasted_s / (os.cpu_count() or 1),
            delay_s=self._delay_s,
            waited=waited_s / lasted_s,
            processors=len(os.sched_getaffinity(0)),
        )


def disturbance(
    *, by_others: float, stolen: float, delay_s: float, waited: float, processors: int
) -> str | None:
    """Return the reason why a measurement in real time is void, or None.

    Parameters
    ----------
    by_others
        Processors that other programs used on average.
    stolen
        Share of the processors' time that the host took.
    delay_s
        Longest delay of a sleeping process's wake-up, s.
    waited
        Share of the time in which some process waited for a processor (/proc/pressure/cpu), for the message.
    processors
        Processors that the check may use.
    """
    found = []
    if processors < 2:
        found.append("only one processor may be used")
    if by_others > MOST_BY_OTHERS:
        found.append(f"other programs used {by_others:.2f} processors")
    if stolen > MOST_STOLEN:
        found.append(f"the host took {stolen:.1%} of the processors' time")
    if delay_s > MOST_DELAY_S:
        found.append(f"a sleeping process woke up {delay_s * 1e3:.0f} ms late")
    if found:
        found.append(f"some process waited for a processor {waited:.0%} of the time")
    return ", ".join(found) or None


def _adopt(orphans: bool) -> None:
    """Set whether descendants whose parent ends become children of this process instead of init's (Linux).

    They remain descendants, also after they have ended, so that their processor time is known.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SUBREAPER, int(orphans), 0, 0, 0)


def _machine_s() -> tuple[float, float]:
    """Return the processor time used by programs and by the host, in seconds since the machine started."""
    times = psutil.cpu_times()
    return times.user + times.nice + times.system, getattr(times, "steal", 0.0)


def _own_s() -> float:
    """Return the processor time of this process and its descendants, including ended ones, in seconds."""
    total = sum(os.times()[:4])
    for process in psutil.Process().children(recursive=True):
        try:
            total += sum(process.cpu_times()[:4])
        except psutil.NoSuchProcess:
            continue
    return total


def _waited_s() -> float:
    """Return the time in which some process waited for a processor, in seconds since the machine started."""
    try:
        some = Path("/proc/pressure/cpu").read_text().splitlines()[0]
    except OSError:
        return 0.0
    return int(some.rpartition("total=")[2]) / 1e6

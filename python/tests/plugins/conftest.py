"""Files with controllers, in the working directory of a test."""

import textwrap

import pytest
from commands import airpath, folder

from airpath.plugins import specs

__all__ = ["airpath", "folder"]

AIMD = """
    from typing import Annotated, Literal

    from annotated_types import Gt

    import airpath


    class Aimd(airpath.Controller):
        '''Additive increase, multiplicative decrease.

        The rest of the text is not in lists.
        '''

        keep: airpath.Share = 0.5
        '''Share of the flight that remains after a loss.'''
        increase: Annotated[float, Gt(0)] = 1.0
        target: airpath.Seconds = "25ms"
        mode: Literal["plain", "gentle"] = "plain"
        count: int = 2
        quick: bool = False

        def start(self, facts):
            self.ssthresh = float("inf")

        def on_ack(self, ack):
            if ack.in_recovery or not ack.window_limited:
                return
            if self.window < self.ssthresh:
                self.window += ack.acked
            else:
                self.window += self.increase * ack.mss * ack.acked / self.window

        def on_congestion(self, signal):
            self.ssthresh = max(self.keep * signal.flight_size, 2 * signal.mss)
            self.window = signal.mss if signal.kind == "timeout" else self.ssthresh
"""


@pytest.fixture(autouse=True)
def nothing_allowed(monkeypatch):
    """Revoke what one test allows for the next one."""
    monkeypatch.setattr(specs, "_allowed", set())
    monkeypatch.setattr(specs, "_all_allowed", False)


@pytest.fixture
def write(folder):
    """Return a function that writes a file of the user; the working directory is its folder."""

    def write(name, text):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return path

    return write


@pytest.fixture
def aimd(write):
    """`aimd.py:Aimd`."""
    write("aimd.py", AIMD)
    return "aimd.py:Aimd"


WESTWOOD_PLUS = '''
    import airpath


    class Plus(airpath.Estimator):
        """Westwood+ in the integers of Linux."""

        requires = ("rtt",)
        hz: int = 1000

        def __init__(self):
            self.accounted = self.amount = self.once = self.twice = 0
            self.began = None
            self.last_rtt = self.least = 20 * self.hz
            self.relearn = True

        def counted(self, ack):
            if ack.duplicate:
                self.accounted += ack.mss
                return ack.mss
            if ack.advance <= ack.mss:
                return ack.advance
            if self.accounted >= ack.advance:
                self.accounted -= ack.advance
                return ack.mss
            counted, self.accounted = ack.advance - self.accounted, 0
            return counted

        def on_ack(self, ack):
            now, amount = ack.now_ns * self.hz // 10**9, self.counted(ack)
            if self.began is None:
                self.began = now
                return
            length = now - self.began
            if length > max(self.last_rtt, self.hz // 20):
                sample = self.amount // max(length, 1)
                if self.once == self.twice == 0:
                    self.once = self.twice = sample
                else:
                    self.once = (7 * self.once + sample) >> 3
                    self.twice = (7 * self.twice + self.once) >> 3
                self.sample = 8.0 * sample * self.hz
                self.estimate = 8.0 * self.twice * self.hz
                self.amount, self.began = 0, now
            self.amount += amount
            self.least = self.last_rtt if self.relearn else min(self.last_rtt, self.least)
            self.minimum_rtt = self.least / self.hz
            self.relearn = False
            if ack.rtt is not None:
                self.last_rtt = -(-round(ack.rtt * 1e9) * self.hz // 10**9)

        def on_congestion(self, signal):
            self.relearn |= signal.kind == "timeout"
'''


@pytest.fixture
def plus(write):
    """`plus.py:Plus`."""
    write("plus.py", WESTWOOD_PLUS)
    return "plus.py:Plus"

"""Files with controllers, in the working directory of a test."""

import textwrap

import pytest
from commands import airpath, folder

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


@pytest.fixture
def write(folder):
    """Writes a file of the user; the working directory is its folder."""

    def write(name, text):
        path = folder / name
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return path

    return write


@pytest.fixture
def aimd(write):
    """`aimd.py:Aimd`."""
    write("aimd.py", AIMD)
    return "aimd.py:Aimd"

"""Ctrl-C is not lost."""

import time

import pytest
from held_sweep import HANG_S

from airpath._os.interrupts import raised_again_if_lost

pytestmark = pytest.mark.processes


class InterruptedWhenFreed:
    def __del__(self):
        raise KeyboardInterrupt


def lose_an_interrupt_and_wait():
    InterruptedWhenFreed()
    time.sleep(HANG_S)


@pytest.mark.parametrize("again_s", [0.0, 0.01])
def test_an_interrupt_that_python_ignores_is_raised_again(monkeypatch, again_s):
    monkeypatch.setattr("airpath._os.interrupts._AGAIN_S", again_s)
    with raised_again_if_lost(), pytest.raises(KeyboardInterrupt):
        lose_an_interrupt_and_wait()

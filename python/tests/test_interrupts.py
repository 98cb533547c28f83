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


def test_an_interrupt_that_python_ignores_is_raised_again():
    with raised_again_if_lost(), pytest.raises(KeyboardInterrupt):
        lose_an_interrupt_and_wait()

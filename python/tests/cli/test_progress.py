"""The progress bar: with the time left for those who watch long work, and silent otherwise."""

import io
import sys

import pytest

from airpath import progress
from airpath.progress import progress_bar


class Terminal(io.StringIO):
    """Standard error of someone who watches."""

    def isatty(self) -> bool:
        return True


def watched(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Put a terminal in place; no fixture, because pytest sets its own standard error after the fixtures."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    return terminal


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def test_long_work_is_shown_with_the_time_left(monkeypatch, clock):
    terminal = watched(monkeypatch)
    with progress_bar("9 runs", None) as show:
        clock[0] = 1.0
        show(0.1)
        clock[0] = 2.0
        show(0.2)
    assert "9 runs" in terminal.getvalue()
    assert "0:0" in terminal.getvalue()


def test_short_work_is_not_shown(monkeypatch, clock):
    terminal = watched(monkeypatch)
    with progress_bar("9 runs", None) as show:
        clock[0] = 0.6
        show(0.4)
        clock[0] = 1.4
        show(1.0)
    assert terminal.getvalue() == ""


def test_nothing_is_shown_unless_wanted(monkeypatch, clock):
    terminal = watched(monkeypatch)
    with progress_bar("9 runs", False) as show:
        clock[0] = 10.0
        show(0.1)
    assert terminal.getvalue() == ""


def test_nothing_is_shown_where_nobody_watches(monkeypatch, clock):
    unwatched = io.StringIO()
    monkeypatch.setattr(sys, "stderr", unwatched)
    with progress_bar("9 runs", None) as show:
        clock[0] = 10.0
        show(0.1)
    assert unwatched.getvalue() == ""

"""The progress bar: with the remaining time at a terminal during long work, and silent otherwise."""

import io
import sys

import pytest

from airpath._os import progress
from airpath._os.progress import progress_bar, progress_lines


class Terminal(io.StringIO):
    """Standard error that is a terminal."""

    def isatty(self) -> bool:
        return True


def watched(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Replace standard error by a terminal; no fixture, because pytest sets its own after the fixtures."""
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


def test_nothing_is_shown_without_a_terminal(monkeypatch, clock):
    unwatched = io.StringIO()
    monkeypatch.setattr(sys, "stderr", unwatched)
    with progress_bar("9 runs", None) as show:
        clock[0] = 10.0
        show(0.1)
    assert unwatched.getvalue() == ""


def test_long_work_reports_its_progress_every_minute_without_a_terminal(monkeypatch, clock):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    lines = []
    with progress_lines(None, lambda: f"{clock[0] / 10:g} of 30 runs", lines.append) as show:
        for second in (0.0, 30.0, 70.0, 100.0, 200.0, 210.0, 300.0):
            clock[0] = second
            show(second / 300)
    assert lines == [
        "7 of 30 runs, about 4 min left",
        "20 of 30 runs, about 2 min left",
        "30 of 30 runs",
        "30 of 30 runs, after 5 min",
    ]


@pytest.mark.parametrize(("wanted", "last_s"), [(None, 59.0), (False, 600.0)])
def test_short_work_and_silent_work_print_no_lines(monkeypatch, clock, wanted, last_s):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    lines = []
    with progress_lines(wanted, lambda: "all", lines.append) as show:
        clock[0] = last_s
        show(1.0)
    assert lines == []


def test_a_terminal_has_a_bar_and_no_lines(monkeypatch, clock):
    watched(monkeypatch)
    lines = []
    with progress_lines(None, lambda: "all", lines.append) as show:
        clock[0] = 600.0
        show(0.5)
    assert lines == []

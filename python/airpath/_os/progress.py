"""A progress bar with the remaining time, for long work and interactive use."""

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

WORTH_SHOWING_S = 2.0
"""Shortest duration of work, in seconds, for which a bar is shown."""
JUDGED_AFTER_S = 0.5
"""Time before the duration of the work is estimated, in seconds."""
LINE_EVERY_S = 60.0
"""Interval between progress lines if there is no terminal, in seconds."""


@contextmanager
def progress_bar(title: str, wanted: bool | None) -> Iterator[Callable[[float], None]]:
    """Yield a function that takes the finished share, 0 to 1, and shows it on standard error.

    Parameters
    ----------
    title
        Description of the work.
    wanted
        Whether to show anything; `None`: only if standard error is a terminal and the work takes more than
        two seconds.
    """
    if wanted is False or (wanted is None and not sys.stderr.isatty()):
        yield lambda _share: None
        return
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    task = bar.add_task(title, total=1.0)
    started = time.monotonic()

    def show(share: float) -> None:
        if not bar.live.is_started and (wanted or _is_long(time.monotonic() - started, share)):
            bar.start()
        bar.update(task, completed=share)

    try:
        yield show
    finally:
        if bar.live.is_started:
            bar.stop()


def _is_long(elapsed_s: float, share: float) -> bool:
    """Return whether the whole work will take long, estimated from the `share` done in `elapsed_s`."""
    return elapsed_s > JUDGED_AFTER_S and elapsed_s > WORTH_SHOWING_S * share


@contextmanager
def progress_lines(
    wanted: bool | None, text: Callable[[], str], on_line: Callable[[str], None]
) -> Iterator[Callable[[float], None]]:
    """Yield a function that takes the finished share, and reports progress once a minute.

    For standard error that is not a terminal, such as a log, in which a bar is useless. Work of less than a
    minute prints nothing; longer work also prints a line at its end.

    Parameters
    ----------
    wanted
        Whether to print anything; `None`: only if standard error is not a terminal.
    text
        Returns the progress as text, as in `12 of 100 runs`.
    on_line
        Called with each line.
    """
    if wanted is not None or sys.stderr.isatty():
        yield lambda _share: None
        return
    started = time.monotonic()
    lines = 0

    def show(share: float) -> None:
        nonlocal lines
        elapsed_s = time.monotonic() - started
        if elapsed_s >= LINE_EVERY_S * (lines + 1):
            lines = int(elapsed_s // LINE_EVERY_S)
            on_line(f"{text()}{_time_left(elapsed_s, share)}")

    yield show
    if lines:
        on_line(f"{text()}, after {_minutes(time.monotonic() - started)}")


def _time_left(elapsed_s: float, share: float) -> str:
    """Return the approximate remaining time as text, if the finished share allows an estimate."""
    return f", about {_minutes(elapsed_s * (1 / share - 1))} left" if 0 < share < 1 else ""


def _minutes(seconds: float) -> str:
    minutes = math.ceil(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{round(seconds / 3600)} h"

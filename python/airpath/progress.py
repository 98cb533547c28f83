"""A progress bar with the time left, for work that takes long and for people who watch."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

WORTH_SHOWING_S = 2.0
"""Work that takes less is not worth a bar."""
JUDGED_AFTER_S = 0.5
"""How long to wait before judging how long the work will take."""


@contextmanager
def progress_bar(title: str, wanted: bool | None) -> Iterator[Callable[[float], None]]:
    """Give a function that takes the share that is done, 0 to 1, and shows it on standard error.

    Parameters
    ----------
    title
        What is being done.
    wanted
        Whether to show anything; `None` if standard error is a terminal and the work takes more than two
        seconds.
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
    """Return whether the whole work will take long, judged by the `share` that took `elapsed_s`."""
    return elapsed_s > JUDGED_AFTER_S and elapsed_s > WORTH_SHOWING_S * share

"""The command in a process of its own, and waiting for what it does."""

import sys
import time
from pathlib import Path


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "airpath", "sweep", *map(str, arguments)]


def wait_for_parts(out: Path, count: int) -> None:
    until = time.monotonic() + 240  # a busy machine takes its time to start Python
    while len(list(out.glob("parts/*/*.arrow"))) < count:
        assert time.monotonic() < until, "no run was kept"
        time.sleep(0.01)

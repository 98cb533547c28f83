"""Comparison of the answers of a Python controller between processes with different orders of sets."""

import hashlib
import os
import subprocess
import sys
import time
from typing import Final

from airpath.conform.examination import Examination
from airpath.errors import PluginError

LISTS: Final = 100
"""Number of compared lists."""
HASH_SEEDS: Final = ("1", "2", "3")
"""`PYTHONHASHSEED` of the processes."""


LIMIT_S = 120.0
"""Limit of the duration of the processes in real time: a second is usual."""


def differing_list(scheme: str, seed: int) -> int | None:
    """Return the number of the first list with other answers in another process; `None` if there is none.

    Raises
    ------
    PluginError
        If the controller cannot be examined in another process, or that takes longer than `LIMIT_S`.
    """
    code = f"from airpath.conform.processes import print_digests; print_digests({scheme!r}, {seed})"
    started = [
        subprocess.Popen(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for hash_seed in HASH_SEEDS
    ]
    end = time.monotonic() + LIMIT_S
    try:
        digests = [_digests(process, scheme, end) for process in started]
    finally:
        for process in started:
            process.kill()
            process.communicate()
    differ = (len(set(of_list)) > 1 for of_list in zip(*digests, strict=True))
    return next((number for number, differs in enumerate(differ) if differs), None)


def _digests(process: subprocess.Popen[str], scheme: str, end: float) -> list[str]:
    """Return the output of a process, if it ends in time."""
    try:
        out, err = process.communicate(timeout=max(0.0, end - time.monotonic()))
    except subprocess.TimeoutExpired:
        raise PluginError(
            f"{scheme}: {LISTS} lists in another process took more than {LIMIT_S:g} s"
        ) from None
    if process.returncode:
        last = err.strip().splitlines()[-1:] or [f"exit code {process.returncode}"]
        raise PluginError(f"{scheme}: in another process: {last[0]}")
    # The file of the user may also print.
    return out.split()[-LISTS:]


def print_digests(scheme: str, seed: int) -> None:
    """Print a digest of the answers of each list."""
    examination = Examination(scheme, seed)
    for number in range(LISTS):
        sys.stdout.write(hashlib.sha256(examination.answers(number).encode()).hexdigest() + "\n")

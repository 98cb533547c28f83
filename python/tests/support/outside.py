"""Data outside the repository: read only from folders that environment variables name."""

import os
from pathlib import Path

import pytest


def recorded_traces() -> Path:
    """Return the folder of recorded traces; skip the test if AIRPATH_TRACES names none."""
    folder = os.environ.get("AIRPATH_TRACES")
    if not folder:
        pytest.skip("AIRPATH_TRACES is not set: it names the folder of recorded links")
    return Path(folder)


def recorded_trace(name: str) -> Path:
    """Return a recorded trace; skip the test if the folder of recorded traces lacks it."""
    path = recorded_traces() / name
    if not path.is_file():
        pytest.skip(f"{path} does not exist")
    return path

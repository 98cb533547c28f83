"""A small sweep: 16 runs of a fraction of a second, two of which fail on request."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from sweep_engines import FAILING, SWEEP, written


@pytest.fixture
def small(tmp_path: Path) -> Path:
    return written(tmp_path, SWEEP)


@pytest.fixture
def failing(tmp_path: Path) -> Path:
    return written(tmp_path, FAILING)

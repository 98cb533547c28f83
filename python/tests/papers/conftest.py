"""A scenario of one second, so that the code around runs can be tested with real runs."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

TINY = """
name = "tiny"
duration = "1s"

[topology]
kind = "dumbbell"

[topology.bottleneck]
rate = "2mbps"
delay = "5ms"
queue = { kind = "drop-tail", limit = "20kB" }

[[flows]]
name = "long"
scheme = "newreno"
count = 2
start = { uniform = ["0ms", "100ms"] }
"""


@pytest.fixture
def tiny(tmp_path: Path) -> str:
    file = tmp_path / "tiny.toml"
    file.write_text(TINY)
    return str(file)

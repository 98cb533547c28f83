"""A small sweep: 16 runs of a fraction of a second, two of which fail where it is asked for."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

SCENARIO = """
name = "tiny"
duration = "4s"

[topology]
kind = "dumbbell"

[topology.bottleneck]
rate = "5mbps"
delay = "10ms"
loss = 0.005
queue = { kind = "drop-tail", limit = "30kB" }

[[flows]]
name = "flow"
scheme = "newreno"
count = 2
start = { uniform = ["0s", "500ms"] }
"""

SWEEP = """
name = "small"
scenario = "tiny.toml"
schemes = ["newreno", "cubic"]
seeds = [3, 4]
keep = ["flows", "link_series"]

[names]
rate = "topology.bottleneck.rate"

[grid]
rate = "2mbps..8mbps / 2"
"record.warm_up" = ["1s", "3s"]
"""

FAILING = (
    SWEEP
    + """
[[zip]]
duration = ["4s", "2s"]
"""
)
"""A warm-up of 3 s is fine, and a duration of 2 s; both together are not."""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    return written(tmp_path, SWEEP)


@pytest.fixture
def failing(tmp_path: Path) -> Path:
    return written(tmp_path, FAILING)


def written(folder: Path, sweep: str) -> Path:
    (folder / "tiny.toml").write_text(SCENARIO)
    file = folder / "small.toml"
    file.write_text(sweep)
    return file

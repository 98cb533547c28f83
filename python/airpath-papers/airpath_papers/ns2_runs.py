"""Results of ns-2 for a paper's scenarios, shipped with airpath (written by `tools/ns2_xcp.py`)."""

import functools
import json
from importlib import resources
from typing import Any


@functools.cache
def ns2_runs(package: str) -> tuple[dict[str, Any], ...]:
    """Return the runs of ns-2's own XCP in a package of papers; its `xcp_ns2.json` documents their origin."""
    text = resources.files(package).joinpath("xcp_ns2.json").read_text(encoding="utf-8")
    return tuple(json.loads(text)["runs"])

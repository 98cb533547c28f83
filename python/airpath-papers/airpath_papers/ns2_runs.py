"""What ns-2 measured of a paper's scenarios, which comes with airpath (`tools/ns2_xcp.py` wrote it)."""

import functools
import json
from importlib import resources
from typing import Any


@functools.cache
def ns2_runs(package: str) -> tuple[dict[str, Any], ...]:
    """Return the runs of ns-2's own XCP in a package of papers; `xcp_ns2.json` there says how it was made."""
    text = resources.files(package).joinpath("xcp_ns2.json").read_text(encoding="utf-8")
    return tuple(json.loads(text)["runs"])

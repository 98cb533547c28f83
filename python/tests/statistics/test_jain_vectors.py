"""Jain's index against the block of that name in `sarbe.json`, whose tolerance is relative 1e-9."""

import json
import os
from pathlib import Path

import pytest

from airpath.metrics import jain_index

OWN = Path(__file__).parents[3] / "vectors"


def test_jain():
    file = Path(os.environ.get("AIRPATH_VECTORS", OWN)) / "sarbe.json"
    if not file.is_file():
        pytest.skip(f"{file} is not there")
    cases = json.loads(file.read_text(encoding="utf-8"))["jain"]
    assert cases
    for case in cases:
        assert jain_index(case["x"]) == pytest.approx(case["index"], rel=1e-9)

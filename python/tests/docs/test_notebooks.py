"""The notebooks are executed as in Jupyter, and show the outputs that their cells have."""

import json
import re
from pathlib import Path
from typing import Any

import notebooks
import pytest

PATHS = sorted(notebooks.NOTEBOOKS.glob("*.ipynb"))
FIGURE = "image/png"
MOST_CELLS = 15
VARIES = "varies"
"""Tag of cells whose numbers depend on the processor: training uses NumPy's vector functions."""
LEAST_GAIN = 1.0
"""Gain of the mean reward by the training; 2.2 when the notebook was stored."""


def cells(path: Path) -> list[dict[str, Any]]:
    return json.loads(path.read_text(encoding="utf-8"))["cells"]


def code(path: Path) -> list[dict[str, Any]]:
    return [cell for cell in cells(path) if cell["cell_type"] == "code"]


def printed(cell: dict[str, Any]) -> list[str]:
    """Return the lines of a cell's outputs, without the descriptions of figures."""
    outputs = [output for output in cell["outputs"] if FIGURE not in output.get("data", {})]
    texts = [
        "".join(output["text"] if "text" in output else output["data"]["text/plain"]) for output in outputs
    ]
    text = "\n".join(texts)
    if VARIES in cell["metadata"].get("tags", []):
        text = re.sub(r"-?\d+\.\d+", "0", text)
    return [" ".join(line.split()) for line in text.splitlines()]


def figures(cell: dict[str, Any]) -> int:
    return sum(FIGURE in output.get("data", {}) for output in cell["outputs"])


def test_there_are_three():
    assert [path.stem for path in PATHS] == ["estimate-bandwidth", "own-trace", "train-policy"]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_notebook_is_short_and_its_figures_have_a_text(path):
    assert len(cells(path)) <= MOST_CELLS
    assert all(figures(cell) == ("alt" in cell["metadata"]) for cell in code(path))
    assert path.stat().st_size < 100_000


@pytest.mark.processes
@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_the_notebook_prints_what_it_shows(path, tmp_path):
    found = [cell for cell in notebooks.executed(path, tmp_path).cells if cell.cell_type == "code"]
    for cell, shown in zip(found, code(path), strict=True):
        assert printed(cell) == printed(shown)
        assert figures(cell) == figures(shown)
    if path.stem == "train-policy":
        text = "".join(output.get("text", "") for cell in found for output in cell.outputs)
        before, after = re.search(r"mean reward: (\S+) before, (\S+) after", text).groups()
        assert float(after) - float(before) > LEAST_GAIN

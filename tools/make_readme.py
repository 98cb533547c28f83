"""Make the figure of the README and of the first page, and the output that the README shows.

    python tools/make_readme.py

The figure comes from the command next to it on the page. A test repeats the command of the README and
compares its output.
"""

import re
import shlex
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from matplotlib import pyplot as plt
from matplotlib.lines import Line2D

from airpath.plots import throughput, trade_off
from airpath.results import Results, read
from airpath.views.styles import style_for

ROOT: Final = Path(__file__).parent.parent
README: Final = ROOT / "README.md"
IMAGES: Final = ROOT / "docs" / "images"
SHOWN: Final = re.compile(r"^\$ (airpath compare [^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
"""The first comparison of the README with its output."""


def main() -> None:
    """Write the figure and the output."""
    IMAGES.mkdir(exist_ok=True)
    command, _ = shown()
    with TemporaryDirectory() as name:
        folder = Path(name)
        output = run(command, folder)
        draw(read(folder / "out" / "latest"), IMAGES / "compare.png")
    text = README.read_text(encoding="utf-8")
    README.write_text(SHOWN.sub(lambda found: f"$ {found[1]}\n{output}```", text, count=1), encoding="utf-8")


def shown() -> tuple[str, str]:
    """Return the comparison that the README shows, and the output below it."""
    found = SHOWN.search(README.read_text(encoding="utf-8"))
    if found is None:
        raise ValueError(f"{README} shows no comparison")
    return found[1], found[2]


def run(command: str, folder: Path) -> str:
    """Run a command in a folder and return its standard output."""
    done = subprocess.run(
        [sys.executable, "-m", *shlex.split(command)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def draw(results: Results, path: Path) -> None:
    """Plot the trade-off of all runs, and the rate of the first run of each scheme over the capacity."""
    schemes = list(results.schemes)
    style = style_for(schemes)
    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3), width_ratios=(2, 3), layout="constrained")
    trade_off(results.summary, left, style)
    for scheme in schemes:
        throughput(next(run for run in results.runs if run.record.scheme == scheme), right, style)
    drawn, labels = right.get_legend_handles_labels()
    capacity = next(
        handle for handle, label in zip(drawn, labels, strict=True) if label.startswith("capacity")
    )
    capacity.set_label("capacity of the link")
    for axes in (left, right):
        if (legend := axes.get_legend()) is not None:
            legend.remove()
    marks = [
        Line2D([], [], color=look.colour, marker=look.marker, label=look.display_name)
        for look in map(style.__getitem__, schemes)
    ]
    figure.legend(handles=[capacity, *marks], loc="outside upper center", ncols=len(marks) + 1, frameon=False)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main()

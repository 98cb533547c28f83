"""Execute the notebooks of the documentation, and store their outputs.

    python tools/notebooks.py

Stored outputs are text and figures; the interactive report is not stored, because it is large.
"""

import os
import re
import sys
import sysconfig
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import nbformat
from nbclient import NotebookClient
from traitlets.config import Config

ROOT: Final = Path(__file__).resolve().parents[1]
NOTEBOOKS: Final = ROOT / "docs" / "tutorial" / "notebooks"
STORED: Final = ("text/plain", "image/png")
"""Kinds of outputs that are stored."""
CELL_SECONDS: Final = 600
"""Time limit of a cell and of the start, which ends only a hang."""
# nbformat has no annotations, hence the two ignored calls.
_COLOURS: Final = re.compile(r"\x1b\[[0-9;]*m")


def executed(path: Path, folder: Path) -> Any:
    """Return a notebook with its outputs; a cell that fails raises `CellExecutionError`.

    Parameters
    ----------
    path
        The notebook.
    folder
        The empty folder in which it is executed.
    """
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    with TemporaryDirectory() as private:
        environment = {
            **os.environ,
            # Commands in cells are those of this interpreter.
            "PATH": os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", "")]),
            # Outputs have one width.
            "COLUMNS": "140",
            "IPYTHONDIR": private,
        }
        # Sockets in a folder of this process: the default is TCP, which other users of the machine can read.
        transport = {"transport": "ipc", "connection_file": str(Path(private, "kernel.json"))}
        client = NotebookClient(
            notebook,
            timeout=CELL_SECONDS,
            startup_timeout=CELL_SECONDS,
            coalesce_streams=True,
            resources={"metadata": {"path": str(folder)}},
            config=Config(KernelManager=transport),
        )
        client.execute(env=environment)
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # times
        if cell.cell_type == "code":
            cell.outputs = [stored(output) for output in cell.outputs]
    return notebook


def stored(output: Any) -> Any:
    """Return an output as it is stored: text without colours, and no other kinds of data."""
    if "data" in output:
        output.data = {kind: output.data[kind] for kind in STORED if kind in output.data}
    else:
        output.text = _COLOURS.sub("", output.text)
    return output


def main() -> None:
    """Execute every notebook and write it."""
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        with TemporaryDirectory() as folder:
            notebook = executed(path, Path(folder))
        nbformat.write(notebook, path)  # type: ignore[no-untyped-call]
        sys.stdout.write(f"{path.relative_to(ROOT)}\n")


if __name__ == "__main__":
    main()

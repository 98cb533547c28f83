"""Keep pyarrow from importing pandas, which takes longer than a run.

pyarrow imports pandas at its first conversion if it is installed. Python sees the caller of its compiled
modules, pyarrow or airpath, as the importer. Code of the user imports pandas as always.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

_REFUSED: Final = ("airpath", "airpath_lint", "airpath_papers", "pyarrow")


class NoPandas:
    """A finder that refuses pandas to airpath and pyarrow."""

    @staticmethod
    def find_spec(name: str, _path: object = None, _target: object = None) -> None:
        """Refuse pandas to some importers; find nothing."""
        if name == "pandas" and _importer().partition(".")[0] in _REFUSED:
            raise ModuleNotFoundError("pandas is left out", name=name)


def _importer() -> str:
    """Return the name of the module that imports; for a compiled module, that of its caller."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        name = str(frame.f_globals.get("__name__", ""))
        if name != __name__ and not name.startswith(("importlib.", "_frozen_importlib")):
            return name
        frame = frame.f_back
    return ""


@contextmanager
def without_pandas() -> Iterator[None]:
    """Refuse pandas inside a `with` block."""
    sys.meta_path.insert(0, NoPandas)
    try:
        yield
    finally:
        sys.meta_path.remove(NoPandas)

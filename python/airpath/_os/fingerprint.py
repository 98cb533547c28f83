"""A digest of the code that computes results, because a version number does not change with every edit."""

import functools
import hashlib
from importlib import import_module
from pathlib import Path

from airpath import _core


@functools.cache
def fingerprint(*patterns: str) -> str:
    """Return a digest of the engine and of some sources.

    Parameters
    ----------
    *patterns
        The files: a package and a pattern in it, as `airpath/metrics/*.py`.
    """
    digest = hashlib.sha256(Path(_core.__file__).read_bytes())
    for one in patterns:
        package, _, pattern = one.partition("/")
        folder = Path(str(import_module(package).__file__)).parent
        for file in sorted(folder.glob(pattern)):
            if file.is_file():
                digest.update(file.read_bytes())
    return digest.hexdigest()

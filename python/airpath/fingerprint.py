"""A digest of what computes: a version number would not move with every change."""

import functools
import hashlib
from pathlib import Path

import airpath
from airpath import _core


@functools.cache
def fingerprint(*patterns: str) -> str:
    """Return a digest of the engine and of some sources of this package.

    Parameters
    ----------
    *patterns
        Which files, as `metrics/*.py`, relative to the package.
    """
    package = Path(airpath.__file__).parent
    digest = hashlib.sha256(Path(_core.__file__).read_bytes())
    for pattern in patterns:
        for file in sorted(package.glob(pattern)):
            if file.is_file():
                digest.update(file.read_bytes())
    return digest.hexdigest()

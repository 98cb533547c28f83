"""Deprecated: the module `airpath_lint` of airpath-lint. This name is removed in 0.3."""

import warnings
from importlib import import_module
from typing import Any


def moved(name: str, new_module: str) -> Any:
    """Import an object from the module that contains it now, with a deprecation warning.

    Parameters
    ----------
    name
        The object.
    new_module
        The module.

    Raises
    ------
    ImportError
        If the distribution airpath-lint is not installed.
    """
    warnings.warn(f"import {name} from {new_module}", DeprecationWarning, stacklevel=3)
    try:
        import_module("airpath_lint")
    except ModuleNotFoundError as error:
        if error.name != "airpath_lint":
            raise
        text = "airpath.lint is now in the distribution airpath-lint; run `pip install airpath-lint`"
        raise ImportError(text) from None
    return getattr(import_module(new_module), name)


def __getattr__(name: str) -> Any:
    if name not in ("Linted", "lint", "lint_text"):
        raise AttributeError(f"module 'airpath.lint' has no attribute {name!r}")
    return moved(name, "airpath_lint")

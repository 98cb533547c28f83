"""The nearest known name, for messages about unknown names."""

import difflib
from collections.abc import Iterable


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name most similar to `name`, or `None` if none is close."""
    matches = difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.6)
    return matches[0] if matches else None


def suggestion(name: str, known: Iterable[str], kind: str = "") -> str:
    """Return the end of a message about an unknown name: the nearest ones, and how to list all.

    Parameters
    ----------
    name
        The unknown name.
    known
        The names that exist.
    kind
        Their kind in `airpath list`. If there are many, only the nearest three are named. Names without a
        kind are all listed.
    """
    names = sorted(known)
    close = nearest(name, names)
    listed = f"accepted: {', '.join(names) if names else 'none'}"
    if kind and len(names) > FEW_ENOUGH:
        others = [one for one in difflib.get_close_matches(name, names, n=3, cutoff=0.0) if one != close]
        listed = f"nearest: {', '.join(others)}; `airpath list {kind}` lists all"
    return f'did you mean "{close}"? ({listed})' if close else listed


FEW_ENOUGH = 8
"""Largest number of names that are all listed."""

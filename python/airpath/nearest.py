"""The nearest known name, for messages about names that do not exist."""

import difflib
from collections.abc import Iterable


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that looks most like `name`, or `None` when none is close."""
    matches = difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.6)
    return matches[0] if matches else None


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return the end of a message about an unknown name: the nearest one if there is one, and all of them."""
    names = sorted(known)
    close = nearest(name, names)
    listed = f"accepted: {', '.join(names) if names else 'none'}"
    return f'did you mean "{close}"? ({listed})' if close else listed

"""Names of schemes in tables, figures and runs.

The name of a scheme is its specification. `yeah=./libmine.so` gives it another name, and user code has a
short one: its class (`Mine`), the file of a Linux module (`illinois (linux)`), or the title of a library.
"""

from collections.abc import Iterable
from typing import Final

from airpath.errors import UsageError
from airpath.plugins.specs import Spec, split_label
from airpath.schemes.registry import parse_scheme

LOOKS: Final = (
    ("#D81B60", "X"),
    ("#1E88E5", "P"),
    ("#8D6E00", "d"),
    ("#004D40", "p"),
    ("#7B1FA2", "h"),
    ("#E65100", "*"),
)
"""Colours and markers of schemes with names of their own, in the order of a figure."""


def label_of(text: str) -> str:
    """Return the name of a scheme with its options."""
    label = short_name(text)
    if label is None:
        return text
    spec = Spec.parse(text)
    has_options = split_label(text)[0] is None and spec is not None and spec.options
    return f"{label}:{spec.options}" if spec is not None and has_options else label


def short_name(text: str) -> str | None:
    """Return the name of a scheme without options, if it was given or the scheme is user code."""
    label, scheme = split_label(text)
    if label is not None or Spec.parse(scheme) is None:
        return label
    try:
        return parse_scheme(scheme)[0].title
    except UsageError:
        return None  # reading the scheme reports the error


def refuse_equal_labels(schemes: Iterable[str]) -> None:
    """Reject different schemes with one name.

    Raises
    ------
    UsageError
        If two schemes have the same name.
    """
    seen: dict[str, str] = {}
    for scheme in schemes:
        label = label_of(scheme)
        if (first := seen.setdefault(label, scheme)) != scheme:
            raise UsageError(equal_labels(label, first, scheme))


def equal_labels(label: str, first: str, second: str) -> str:
    """Return the error message for two schemes with one name."""
    return (
        f'the schemes "{first}" and "{second}" are both called "{label}" in tables and figures; name one of'
        f" them: NAME={split_label(second)[1]}"
    )

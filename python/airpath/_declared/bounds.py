"""The range of a field in words, for validators that do not report it."""

from collections.abc import Iterable, Iterator
from typing import Annotated, Final, get_args, get_origin

from pydantic.fields import FieldInfo

_WORDS: Final = {"gt": "more than", "ge": "at least", "lt": "less than", "le": "at most"}
"""The words for each bound of a constraint."""


def bound(name: str, value: float) -> str:
    """Return a bound (`gt`, `ge`, `lt` or `le`) in words, with integers in full."""
    return f"{_WORDS[name]} {value}" if isinstance(value, int) else f"{_WORDS[name]} {value:g}"


def finite_number(fields: Iterable[FieldInfo]) -> str:
    """Return the range that fields accept, as text for a message about NaN or infinity."""
    bounds = dict.fromkeys(said for field in fields for said in _bounds(field))
    return ", ".join(["a finite number", *bounds])


def _bounds(field: FieldInfo) -> Iterator[str]:
    """Yield the bounds of a field in words, also of an optional number."""
    for constraint in field.metadata:
        for name in _WORDS:
            if hasattr(constraint, name):
                yield bound(name, getattr(constraint, name))
    for part in get_args(field.annotation):
        if get_origin(part) is Annotated:
            yield from _bounds(FieldInfo.from_annotation(part))

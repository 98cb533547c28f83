"""The range of a field in words, for where the validator does not tell it."""

from collections.abc import Iterable, Iterator
from typing import Annotated, Final, get_args, get_origin

from pydantic.fields import FieldInfo

_WORDS: Final = {"gt": "more than", "ge": "at least", "lt": "less than", "le": "at most"}
"""How each bound of a constraint is said."""


def bound(name: str, value: float) -> str:
    """Return a bound (`gt`, `ge`, `lt` or `le`) in words, whole numbers in all their digits."""
    return f"{_WORDS[name]} {value}" if isinstance(value, int) else f"{_WORDS[name]} {value:g}"


def finite_number(fields: Iterable[FieldInfo]) -> str:
    """Return what fields accept that were given infinity, or what is no number."""
    bounds = dict.fromkeys(said for field in fields for said in _bounds(field))
    return ", ".join(["a finite number", *bounds])


def _bounds(field: FieldInfo) -> Iterator[str]:
    """Return the bounds of a field, also of a number that may be absent."""
    for constraint in field.metadata:
        for name in _WORDS:
            if hasattr(constraint, name):
                yield bound(name, getattr(constraint, name))
    for part in get_args(field.annotation):
        if get_origin(part) is Annotated:
            yield from _bounds(FieldInfo.from_annotation(part))

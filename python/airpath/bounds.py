"""The range of a field in words, for where the validator does not tell it."""

from collections.abc import Iterable, Iterator
from typing import Annotated, Final, get_args, get_origin

from pydantic.fields import FieldInfo

_WORDS: Final = {"gt": "more than {:g}", "ge": "at least {:g}", "lt": "less than {:g}", "le": "at most {:g}"}
"""How each bound of a constraint is said."""


def finite_number(fields: Iterable[FieldInfo]) -> str:
    """Return what fields accept that were given infinity, or what is no number."""
    bounds = (bound for field in fields for bound in _bounds(field))
    return ", ".join(["a finite number", *dict.fromkeys(bounds)])


def _bounds(field: FieldInfo) -> Iterator[str]:
    """Return the bounds of a field, also of a number that may be absent."""
    for constraint in field.metadata:
        for name, words in _WORDS.items():
            if hasattr(constraint, name):
                yield words.format(getattr(constraint, name))
    for part in get_args(field.annotation):
        if get_origin(part) is Annotated:
            yield from _bounds(FieldInfo.from_annotation(part))

"""Iteration over the words of a `tc` command as in iproute2."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from airpath_lint.units import RefusedError

T = TypeVar("T")


class NotUnderstoodError(ValueError):
    """The words may be valid, but this linter does not know their meaning."""


class Words:
    """The words of a command, from left to right.

    Parameters
    ----------
    words
        The words; reading the value of a word that contains `UNKNOWN` is an error.
    shown
        Whether they come from output of `tc`, which uses other labels and abbreviations than a command line.
    """

    def __init__(self, words: Sequence[str], *, shown: bool = False) -> None:
        self._words = list(words)
        self._at = 0
        self.shown = shown
        self.given: dict[str, str] = {}

    def __bool__(self) -> bool:
        return self._at < len(self._words)

    def peek(self) -> str:
        """Return the next word; empty at the end."""
        return self._words[self._at] if self else ""

    def take(self) -> str:
        """Return the next word and advance."""
        if not self:
            raise RefusedError("the command ends where a value was expected")
        word = self._words[self._at]
        self._at += 1
        return word

    def rest(self) -> list[str]:
        """Return all remaining words and advance to the end."""
        left = self._words[self._at :]
        self._at = len(self._words)
        return left

    def is_number(self, *, signed: bool = False) -> bool:
        """Return whether the next word begins like a number (`NEXT_IS_NUMBER`)."""
        word = self.peek()
        return bool(word) and (
            (word[0].isascii() and word[0].isdigit()) or (signed and word[0] == "-") or UNKNOWN in word
        )

    def value(self, name: str, read: Callable[[str], T]) -> T:
        """Read the value of a parameter, and keep its text."""
        text = self.take()
        if UNKNOWN in text:
            raise NotUnderstoodError(f"{name}: unknown value: {shown_unknown(text)}")
        try:
            value = read(text)
        except RefusedError as error:
            raise RefusedError(f"{name}: {error}") from None
        self.given[name] = text
        return value


UNKNOWN = "\0"
"""Encloses the name of the unknown part of a word; no shell permits this character in a word."""


def unknown(why: str) -> str:
    """Return the text that represents an unknown value."""
    return f"{UNKNOWN}{why}{UNKNOWN}"


def shown_unknown(word: str) -> str:
    """Return a word for display, with unknown parts as the names of their sources."""
    return word.replace(UNKNOWN, "")


def keyword(word: str, known: Sequence[str]) -> str | None:
    """Return the parameter that a word denotes: in full or, as in iproute2, the first that begins with it."""
    if word in known:
        return word
    return next((one for one in known if word and one.startswith(word)), None)


def each_parameter(
    kind: str, words: Words, readers: Mapping[str, Callable[[], None]], *, lenient: bool = False
) -> None:
    """Read parameters until the words end.

    Raises
    ------
    NotUnderstoodError
        At a word that is not a parameter; if lenient, or in output of `tc`, the word is skipped instead.
    """
    known = tuple(readers)
    while words:
        word = words.take()
        name = keyword(word, known)
        if name is not None:
            readers[name]()
        elif UNKNOWN in word:
            raise NotUnderstoodError(f"{kind}: the value of {shown_unknown(word)} is unknown")
        elif not lenient and not words.shown:
            raise NotUnderstoodError(f'{kind}: unknown parameter "{word}"')

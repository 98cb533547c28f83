"""Print a random sample of comments, docstrings and sentences of pages, to check their style.

    python tools/sample_prose.py [--seed N] [--count N]

Every tracked file is read, except lab notes, which keep the words of their time. A line is the place and the
text. The same seed and tree give the same sample.
"""

import argparse
import ast
import random
import re
import subprocess
import tokenize
from collections.abc import Callable, Iterator, Mapping
from io import StringIO
from pathlib import Path
from typing import Final

import prose

Piece = tuple[int, str]
"""Line and text."""

_C_COMMENT: Final = re.compile(r"/\*.*?\*/|(?:(?<![^\s;{})])//[^\n]*(?:\n[ \t]*(?=//))?)+", re.DOTALL)
_HASH_COMMENT: Final = re.compile(r"(?:^[ \t]*#(?![!:])[^\n]*\n?)+", re.MULTILINE)
_PARAGRAPH: Final = re.compile(r"(?:[^\n]*\S[^\n]*\n?)+")
_SENTENCE: Final = re.compile(r"\S.*?(?:[.?!](?=\s)|\Z)", re.DOTALL)
_NO_SENTENCES: Final = ("|", "#", "!", "--8<--", "options:")
"""Beginnings of paragraphs of a page that are tables, titles, figures, inclusions or settings."""
_MARKS: Final = re.compile(r"^[ \t]*(?://[/!]?|/?\*+/?|#+)|\*/$", re.MULTILINE)


def python(source: str) -> Iterator[Piece]:
    """Return the docstrings and comments of a Python file; adjacent lines are one comment."""
    for node in ast.walk(ast.parse(source)):
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            yield node.lineno, node.value.value
    start, text, last = 0, "", -1
    for token in tokenize.generate_tokens(StringIO(source).readline):
        if token.type == tokenize.COMMENT and not token.string.startswith(("#!", "# noqa", "# type:")):
            line = token.start[0]
            if line != last + 1 and text:
                yield start, text
                text = ""
            start, text, last = (start if text else line), f"{text}\n{token.string}", line
    if text:
        yield start, text


def found_by(pattern: re.Pattern[str]) -> Callable[[str], Iterator[Piece]]:
    """Return a function that finds comments."""

    def comments(source: str) -> Iterator[Piece]:
        for comment in pattern.finditer(source):
            yield 1 + source.count("\n", 0, comment.start()), comment[0]

    return comments


def sentences(source: str) -> Iterator[Piece]:
    """Return the sentences of a page, without its code, tables and titles."""
    for paragraph in _PARAGRAPH.finditer(prose.page(source)):
        if not paragraph[0].lstrip().startswith(_NO_SENTENCES):
            start = paragraph.start()
            for sentence in _SENTENCE.finditer(source[start : paragraph.end()]):
                yield 1 + source.count("\n", 0, start + sentence.start()), sentence[0]


_C_COMMENTS: Final = found_by(_C_COMMENT)
_HASH_COMMENTS: Final = found_by(_HASH_COMMENT)
PIECES: Final[Mapping[str, Callable[[str], Iterator[Piece]]]] = {
    ".py": python,
    ".md": sentences,
    ".rs": _C_COMMENTS,
    ".c": _C_COMMENTS,
    ".h": _C_COMMENTS,
    ".js": _C_COMMENTS,
    ".toml": _HASH_COMMENTS,
    ".yml": _HASH_COMMENTS,
    "Makefile": _HASH_COMMENTS,
}
"""What is read in a file, by its suffix or its name."""


def pieces() -> Iterator[tuple[str, int, str]]:
    """Return file, line and text of everything in the tree that is prose."""
    tracked = subprocess.run(["git", "ls-files"], cwd=prose.ROOT, capture_output=True, text=True, check=True)
    for name in sorted(tracked.stdout.splitlines()):
        read = PIECES.get(Path(name).suffix or name)
        if read is None or name.startswith(prose.NOT_CHECKED):
            continue
        for line, text in read((prose.ROOT / name).read_text(encoding="utf-8")):
            plain = " ".join(_MARKS.sub("", text).split())
            if re.search(r"[a-z]", plain) and not plain.startswith("----"):
                yield name, line, plain


def main() -> None:
    """Print the sample."""
    parser = argparse.ArgumentParser(description="Print a random sample of the prose of the tree.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    arguments = parser.parse_args()
    for name, line, text in random.Random(arguments.seed).sample(list(pieces()), arguments.count):
        print(f"{name}:{line}: {text}")  # noqa: T201


if __name__ == "__main__":
    main()

"""Check pages, help texts and error messages against a list of rejected phrases.

The list is that of `docs/development/style.md`.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]

PAGES: Final = ("*.md", "Makefile", "docs/**/*.md", "docs/**/*.ipynb")
"""Pages that are checked."""
NOT_CHECKED: Final = ("docs/lab-notes/",)
"""Pages that keep the words of their time."""
HELP: Final = (
    "python/airpath/cli/*.py",
    "python/airpath-*/*/__init__.py",
    "python/airpath-*/*/cli*.py",
)
"""Python files in which every text but docstrings is checked."""
PYTHON_ERRORS: Final = ("python/airpath/**/*.py", "python/airpath-*/**/*.py")
"""Python files whose error messages are checked."""
RUST_ERRORS: Final = ("crates/*/src/**/*.rs",)
"""Rust files whose error messages are checked."""

REJECTED: Final = {
    r"beside": "competing with, compared with, in addition to",
    r"in the mean": "on average",
    r"by the real clock": "in real time",
    r"what is got": "the received data",
    r"of which was said": "name the noun",
    r"there and back": "round trip",
    r"(?:the )?way back": "reverse path",
    r"who(?:ever|m)": "the caller, the component",
    r"told (?:of|by|what|when)|(?:is|are|be) told": "notified of, configured with",
    r"set-ups?": "configuration",
    r"sent again": "retransmitted",
    r"of today": "current",
    r"foreign packets?": "injected packet",
    r"outside queues?": "external queue",
    r"held up": "delayed",
    r"judged?|judges": "evaluate, check",
    r"what there is": "name the noun",
    r"what (?:it|this|that) comes to": "the resolved value",
    r"stands? (?:there|beside|below)": "is",
    r"pictures?": "figure",
}
"""Rejected phrases, as regular expressions over whole words, and what to write instead."""

_PHRASE: Final = re.compile(rf"\b(?:{'|'.join(f'({phrase})' for phrase in REJECTED)})\b", re.IGNORECASE)
_RUST_ERROR: Final = re.compile(r'#\[error\(\s*"((?:[^"\\]|\\.)*)"', re.DOTALL)
_CODE: Final = re.compile(r"```.*?```|`[^`\n]*`|^::: [^\n]*", re.DOTALL | re.MULTILINE)


def findings(text: str, first_line: int = 1) -> Iterator[tuple[int, str, str]]:
    """Return line, phrase and replacement of each rejected phrase in a text."""
    for found in _PHRASE.finditer(text):
        line = first_line + text.count("\n", 0, found.start())
        yield line, found[0], list(REJECTED.values())[(found.lastindex or 1) - 1]


def page(text: str) -> str:
    """Return a Markdown page without its code and its table of words to avoid, line by line as before."""
    text = _CODE.sub(lambda code: re.sub(r"[^\n]", " ", code[0]), text)
    before, glossary, after = text.partition("## Glossary")
    table, word_list, rest = after.partition("## Word list")
    return before + glossary + re.sub(r"[^\n]", " ", table) + word_list + rest


def python_texts(source: str, *, every: bool) -> Iterator[tuple[int, str]]:
    """Return line and text of the messages in raised errors, or of every text but docstrings."""
    tree = ast.parse(source)
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if (
            every
            and isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in docstrings
            and " " in node.value  # else it is a key or a name
        ):
            yield node.lineno, node.value
        elif not every and isinstance(node, ast.Raise) and _raises_an_error(node):
            for part in ast.walk(node):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield part.lineno, part.value


def rust_texts(source: str) -> Iterator[tuple[int, str]]:
    """Return line and text of the messages of errors that `thiserror` derives."""
    for found in _RUST_ERROR.finditer(source):
        yield 1 + source.count("\n", 0, found.start(1)), found[1]


def _raises_an_error(node: ast.Raise) -> bool:
    called = node.exc.func if isinstance(node.exc, ast.Call) else None
    name = (
        called.id
        if isinstance(called, ast.Name)
        else called.attr
        if isinstance(called, ast.Attribute)
        else ""
    )
    return name.endswith("Error")


def _has_help(name: Path) -> bool:
    return any(name.match(pattern) for pattern in HELP)


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """Return line and text of everything that is checked in a file."""
    name = path.relative_to(ROOT)
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".rs":
        yield from rust_texts(source)
    elif path.suffix == ".py":
        yield from python_texts(source, every=_has_help(name))
    else:
        yield 1, page(source) if path.suffix == ".md" else source


def main() -> int:
    """Print each finding; the exit code is 1 if there are any."""
    patterns = (*PAGES, *HELP, *PYTHON_ERRORS, *RUST_ERRORS)
    files = sorted({path for pattern in patterns for path in ROOT.glob(pattern)})
    count = 0
    for path in files:
        name = path.relative_to(ROOT).as_posix()
        if name.startswith(NOT_CHECKED):
            continue
        for first_line, text in texts(path):
            for line, phrase, instead in findings(text, first_line):
                sys.stderr.write(f'{name}:{line}: found "{phrase}"; write: {instead}\n')
                count += 1
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())

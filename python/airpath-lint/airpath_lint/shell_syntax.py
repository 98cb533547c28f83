"""The syntax of shell scripts, as tree-sitter-bash parses it.

Whatever the parser reports as an error, and every expansion other than that of a plain variable, becomes a
piece of a word with an unknown value.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

MOST_NESTED: Final = 40
"""The maximum depth of nested blocks."""
MOST_PARSED: Final = 4
"""The maximum number of times that a script is parsed."""
COMMANDS: Final = (
    "command",
    "declaration_command",
    "test_command",
    "unset_command",
    "variable_assignment",
)
"""The types of simple commands."""
BLOCKS: Final = (
    "ERROR",
    "compound_statement",
    "do_group",
    "pipeline",
    "subshell",
    "variable_assignments",
    "while_statement",
)
"""The types of nodes whose statements run one after another."""

_LANGUAGE: Final = Language(tree_sitter_bash.language())
_NESTED: Final = ("case_statement", "compound_statement", "do_group", "if_statement", "subshell")
_SEQUENCES: Final = ("heredoc_redirect", "list", "redirected_statement")
_REDIRECTIONS: Final = ("file_redirect", "heredoc_redirect", "herestring_redirect")
_PROMPT: Final = re.compile(r"^([ \t]*)[$%](?=[ \t])", re.MULTILINE)
_NEW_LINE: Final = re.compile(rb"(?<!\\)\n")
_ESCAPE: Final = re.compile(r"\\(?:\n|(.))")
_QUOTED_ESCAPE: Final = re.compile(r'\\(?:\n|([$`"\\]))')
# A variable without a value is unknown, with or without a default after :-.
_BRACED: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*|[0-9@*]+)(?::?[-?].*)?\}", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a word.

    Attributes
    ----------
    text
        Literal text, the name of a variable, or the text of a substitution.
    kind
        `text`, `variable`, or `substitution`, whose value is unknown.
    quoted
        Whether the piece is quoted, so that its value is not split into words.
    """

    text: str
    kind: str = "text"
    quoted: bool = False


Word = list[Piece]


class TooDeepError(ValueError):
    """Blocks nest too deep."""


def parse(script: str) -> tuple[Node, dict[int, str]]:
    """Parse a script, without the prompts before commands in notes.

    Returns
    -------
    tuple
        The root of the tree, and the text of syntax errors by line.

    Raises
    ------
    TooDeepError
        If blocks nest deeper than `MOST_NESTED`.
    """
    source = _PROMPT.sub(r"\1 ", script.replace("\r\n", "\n")).encode()
    for _ in range(MOST_PARSED):
        root = Parser(_LANGUAGE).parse(source).root_node
        errors: dict[int, str] = {}
        ends: list[int] = []
        waiting = [(root, 0)]
        while waiting:
            node, depth = waiting.pop()
            children = node.children
            # The blocks of an error are not nested in the tree.
            depth += node.type in _NESTED or (node.is_error and sum(one.type == "{" for one in children))
            if depth > MOST_NESTED:
                raise TooDeepError
            if node.is_error or (node.is_missing and not node.is_named):
                for error in [node, *children]:
                    if not error.child_count:
                        errors.setdefault(line_of(error), text_of(error) or error.type)
            elif node.type in COMMANDS or node.type == "variable_assignments":
                for one, after in pairwise(child for child in children if child.type != "comment"):
                    if _NEW_LINE.search(source, one.end_byte, after.start_byte):
                        ends.append(one.end_byte)
            waiting += [(child, depth) for child in children]
        if not ends:
            break
        # After `A=1 B=2` or `a | b` the parser may add the next line as words (issues 228 and 347).
        for end in sorted(ends, reverse=True):
            source = source[:end] + b";" + source[end:]
    return root, errors


def steps(nodes: Iterable[Node]) -> Iterator[Node]:
    """Yield statements and the operators between them, in order."""
    waiting = list(nodes)[::-1]
    while waiting:
        node = waiting.pop()
        if node.type in _SEQUENCES:
            waiting += node.children[::-1]
        elif node.type != "comment":
            yield node


def descendants(nodes: Iterable[Node], types: tuple[str, ...]) -> Iterator[Node]:
    """Yield the outermost nodes of these types, in order, without those in substitutions."""
    waiting = list(nodes)[::-1]
    while waiting:
        node = waiting.pop()
        if node.type in types:
            yield node
        elif not node.type.endswith("_substitution"):
            waiting += node.children[::-1]


def line_of(node: Node) -> int:
    """Return the line on which a node starts."""
    return node.start_point.row + 1


def text_of(node: Node | None) -> str:
    """Return the text of a node."""
    return ((node and node.text) or b"").decode()


def word_of(node: Node) -> Word:
    """Return the pieces of a word."""
    return list(_pieces(node))


def words_of(command: Node) -> list[Word]:
    """Return the words of a simple command up to its first redirection."""
    words = command.children if command.type != "variable_assignment" else [command]
    return [word_of(node) for node in words if node.type not in _REDIRECTIONS]


def redirected(command: Node) -> tuple[list[Word], tuple[str, ...]]:
    """Return the words after redirections of a simple command, and the lines of its here-document."""
    words: list[Word] = []
    lines: list[str] = []
    for redirection in _redirections(command):
        # The parser takes words after a redirection as further targets.
        words += [word_of(node) for node in redirection.children_by_field_name("destination")[1:]]
        words += [word_of(node) for node in redirection.children_by_field_name("argument")]
        children = {child.type: child for child in redirection.children}
        if body := children.get("heredoc_body"):
            # Its node starts at the first line that is not blank.
            blank = body.start_point.row - children["heredoc_start"].end_point.row - 1
            lines = [""] * blank + text_of(body).splitlines()
    return words, tuple(lines)


def literal(word: Word) -> str | None:
    """Return the text of a word; `None` if it has variables or substitutions."""
    return "".join(piece.text for piece in word) if all(piece.kind == "text" for piece in word) else None


def _redirections(node: Node) -> Iterator[Node]:
    """Yield the redirections of a simple command."""
    yield from (child for child in node.children if child.type in _REDIRECTIONS)
    while (parent := node.parent) is not None and parent.type in (*_SEQUENCES, "pipeline"):
        if parent.type == "heredoc_redirect":
            if node.type == "pipeline":
                # `cat <<END | tc -batch -`
                yield parent
            return
        if parent.type == "redirected_statement":
            yield from parent.children_by_field_name("redirect")
        elif node.end_byte != parent.end_byte:
            return
        node = parent


def _pieces(node: Node, *, quoted: bool = False) -> Iterator[Piece]:
    bare = text_of(node)
    if quoted and bare[:1].isspace():
        # In a string, the blanks before a token belong to it.
        whole, bare = bare, bare.lstrip()
        yield Piece(whole.removesuffix(bare), quoted=True)
    match node.type:
        case "raw_string":
            yield Piece(bare[1:-1], quoted=True)
        case "simple_expansion":
            yield Piece(bare[1:].strip(), "variable", quoted)
        case "expansion" if (match := _BRACED.fullmatch(bare)) is not None:
            yield Piece(match[1], "variable", quoted)
        case "variable_assignment":
            name = text_of(node.child_by_field_name("name"))
            yield Piece(f"{name}=")
            if any(child.type == "+=" for child in node.children):
                yield Piece(name, "variable", quoted=True)
            for value in node.children_by_field_name("value"):
                yield from (Piece(piece.text, piece.kind, quoted=True) for piece in _pieces(value))
        case "string" | "concatenation" | "command_name":
            if node.type == "string":
                quoted = True
                yield Piece("", quoted=True)
            end = 0
            for child in node.children:
                start = child.start_byte - node.start_byte
                if start > end:
                    # A line break in a string is no token.
                    yield Piece(bare.encode()[end:start].decode(), quoted=True)
                yield from _pieces(child, quoted=quoted)
                end = child.end_byte - node.start_byte
        case '"':
            return
        case _ if node.child_count or node.type in ("ansi_c_string", "ERROR"):
            yield Piece(bare, "substitution", quoted)
        case _:
            yield Piece((_QUOTED_ESCAPE if quoted else _ESCAPE).sub(r"\1", bare), quoted=quoted)

"""The part of the shell's language in which set-ups are written: from text to commands and blocks.

After POSIX, Shell Command Language. Whatever is not part of it becomes a word that is not known, and never a
guess.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

MOST_NESTED: Final = 40
"""Blocks deeper than this are not read."""

_BLANK: Final = " \t\r"
_BREAKS: Final = _BLANK + "\n;&|()<>"
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-]")
_REDIRECTION: Final = re.compile(r"<<-?|<>|<&|>>|>&|>\||[<>]")
# What stands behind :- is taken where a variable has no value, and then the value is not known here.
_BRACED: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*|[0-9@*]+)(?::?[-?].*)?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a word.

    Attributes
    ----------
    text
        Literal text, or the name of a variable, or the text of what is not understood.
    kind
        `text`, `variable`, or `substitution`, whose value cannot be known here.
    quoted
        Whether it stands in quotes: then its value is not split into words.
    """

    text: str
    kind: str = "text"
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Word:
    """A word, its line, and its pieces."""

    line: int
    pieces: tuple[Piece, ...]

    @property
    def literal(self) -> str | None:
        """The text, if it is nothing but that."""
        if any(piece.kind != "text" for piece in self.pieces):
            return None
        return "".join(piece.text for piece in self.pieces)

    @property
    def plain(self) -> str:
        """The text, if nothing of it is quoted; else empty: quoted words are no keywords."""
        if any(piece.quoted for piece in self.pieces):
            return ""
        return self.literal or ""


@dataclass(frozen=True, slots=True)
class Operator:
    """What separates commands; of a here-document its lines."""

    line: int
    text: str
    body: tuple[str, ...] = ()


@dataclass(slots=True)
class Command:
    """A simple command: its words, what stands before it (`&&`, `||`, `|`), and its here-document."""

    line: int
    words: list[Word]
    before: str = ""
    body: tuple[str, ...] = ()


@dataclass(slots=True)
class Choice:
    """`if` or `case`: the branches, of which one at most is taken."""

    line: int
    branches: list[list["Node"]] = field(default_factory=list)


@dataclass(slots=True)
class Loop:
    """A loop; `variable` is empty unless it is a `for`."""

    line: int
    variable: str
    words: list[Word]
    body: list["Node"]


@dataclass(slots=True)
class Function:
    """The definition of a function."""

    line: int
    name: str
    body: list["Node"]


Node = Command | Choice | Loop | Function


class TooDeepError(ValueError):
    """Blocks nest too deep."""


def parse(text: str) -> list[Node]:
    """Read a script.

    Raises
    ------
    TooDeepError
        If blocks nest deeper than `MOST_NESTED`.
    """
    parser = _Parser(list(_tokens(text)))
    nodes: list[Node] = []
    while not parser.done:
        nodes += parser.nodes((), 0)
        # An end that belongs to no beginning.
        parser.skip()
    return nodes


def _tokens(text: str) -> Iterator[Word | Operator]:
    at, line, length = 0, 1, len(text)
    waiting: list[tuple[str, bool]] = []
    while at < length:
        char = text[at]
        if text.startswith("\\\n", at) or text.startswith("\\\r\n", at):
            at = text.index("\n", at) + 1
            line += 1
        elif char in _BLANK:
            at += 1
        elif char == "#":
            end = text.find("\n", at)
            at = length if end < 0 else end
        elif char == "\n":
            yield Operator(line, "\n")
            at, line = at + 1, line + 1
            for delimiter, indented in waiting:
                body: list[str] = []
                begins = line
                while at < length:
                    end = text.find("\n", at)
                    end = length if end < 0 else end
                    one = text[at:end].rstrip("\r")
                    at, line = min(end + 1, length), line + 1
                    if (one.lstrip("\t") if indented else one) == delimiter:
                        break
                    body.append(one)
                yield Operator(begins, "<<", tuple(body))
            waiting = []
        elif char in ";&|()":
            two = text[at : at + 2]
            operator = two if two in (";;", "&&", "||") else char
            yield Operator(line, operator)
            at += len(operator)
        elif char in "<>":
            match = _REDIRECTION.match(text, at)
            assert match is not None
            at = match.end()
            while at < length and text[at] in _BLANK:
                at += 1
            if text.startswith("(", at):
                # A substitution of processes: a word that is not known, and a group that is read.
                continue
            target, at, line = _word(text, at, line)
            if match[0].startswith("<<") and target.pieces and not text.startswith("<", match.end()):
                waiting.append(("".join(piece.text for piece in target.pieces), match[0] == "<<-"))
        else:
            word, at, line = _word(text, at, line)
            # The number of a descriptor before a redirection is no word.
            if not (word.plain.isdigit() and at < length and text[at] in "<>"):
                yield word


def _word(text: str, at: int, line: int) -> tuple[Word, int, int]:
    """Read one word from `at` on; return it, and the place and the line behind it."""
    pieces: list[Piece] = []
    begins, length = line, len(text)
    quoted = False
    while at < length:
        char = text[at]
        if char == '"':
            quoted = not quoted
            if quoted:
                pieces.append(Piece("", quoted=True))
            at += 1
        elif not quoted and char in _BREAKS:
            break
        elif char == "'" and not quoted:
            end = text.find("'", at + 1)
            end = length if end < 0 else end
            pieces.append(Piece(text[at + 1 : end], quoted=True))
            line += text.count("\n", at, end)
            at = end + 1
        elif char == "\\":
            after = text[at + 1 : at + 2]
            if after == "\n":
                line += 1
            elif after:
                keeps = quoted and after not in '"\\$`'
                pieces.append(Piece(char + after if keeps else after, quoted=True))
            at += 2
        elif char == "$" or char == "`":
            piece, end = _expansion(text, at, quoted)
            line += text.count("\n", at, end)
            pieces.append(piece)
            at = end
        else:
            end = at + 1
            while end < length and text[end] not in _BREAKS + "\"'\\$`":
                end += 1
            pieces.append(Piece(text[at:end], quoted=quoted))
            line += text.count("\n", at, end)
            at = end
    return Word(begins, tuple(pieces)), at, line


def _expansion(text: str, at: int, quoted: bool) -> tuple[Piece, int]:
    """Read what begins with a dollar sign or a backquote."""
    if text[at] == "`":
        end = text.find("`", at + 1)
        end = len(text) if end < 0 else end + 1
        return Piece(text[at:end], "substitution", quoted), end
    if text.startswith("${", at):
        end = text.find("}", at)
        end = len(text) if end < 0 else end + 1
        inner = _BRACED.fullmatch(text[at + 2 : end - 1])
        if inner is None:
            return Piece(text[at:end], "substitution", quoted), end
        return Piece(inner[1], "variable", quoted), end
    if text.startswith("$(", at):
        depth, end = 0, at + 1
        while end < len(text):
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
            if not depth:
                break
        return Piece(text[at:end], "substitution", quoted), end
    match = _NAME.match(text, at + 1)
    if match is None:
        return Piece("$", quoted=quoted), at + 1
    return Piece(match[0], "variable", quoted), match.end()


class _Parser:
    def __init__(self, tokens: list[Word | Operator]) -> None:
        self._tokens = tokens
        self._at = 0

    @property
    def done(self) -> bool:
        return self._at >= len(self._tokens)

    def skip(self) -> None:
        self._at += 1

    def nodes(self, ends: tuple[str, ...], depth: int) -> list[Node]:
        """Read commands up to a keyword or an operator that ends them, which is left."""
        if depth > MOST_NESTED:
            raise TooDeepError
        found: list[Node] = []
        before = ""
        while not self.done:
            token = self._tokens[self._at]
            if isinstance(token, Operator):
                if token.text in ends or token.text == ")":
                    break
                self._at += 1
                if token.text == "(":
                    found += self._until((")",), depth)
                elif token.text == "<<":
                    self._attach(found, token)
                elif token.text != "\n":
                    before = token.text if token.text in ("&&", "||", "|") else ""
                continue
            word = token.plain
            if word in ends or (not ends and word in _ENDS):
                break
            node = self._node(word, token, before, depth)
            before = ""
            found += node
        return found

    def _node(self, word: str, token: Word, before: str, depth: int) -> list[Node]:
        self._at += 1
        match word:
            case "if":
                return [self._if(token.line, depth)]
            case "case":
                return [self._case(token.line, depth)]
            case "while" | "until":
                self._until(("do",), depth)
                return [Loop(token.line, "", [], self._until(("done",), depth))]
            case "for":
                return [self._for(token.line, depth)]
            case "{":
                return self._until(("}",), depth)
            case "!":
                return []
            case "function":
                name = self._tokens[self._at] if not self.done else token
                self._at += 1
                return self._function(name, depth)
        if self._is_operator("(") and self._is_operator(")", 1):
            return self._function(token, depth)
        words = [token]
        while not self.done and isinstance(one := self._tokens[self._at], Word):
            words.append(one)
            self._at += 1
        return [Command(token.line, words, before)]

    def _is_operator(self, text: str, further: int = 0) -> bool:
        place = self._at + further
        if place >= len(self._tokens):
            return False
        token = self._tokens[place]
        return isinstance(token, Operator) and token.text == text

    def _until(self, ends: tuple[str, ...], depth: int) -> list[Node]:
        """Read commands and the end after them."""
        found = self.nodes(ends, depth + 1)
        self._at += 1
        return found

    def _function(self, name: Word | Operator, depth: int) -> list[Node]:
        while self._is_operator("(") or self._is_operator(")") or self._is_operator("\n"):
            self._at += 1
        body: list[Node] = []
        if not self.done and isinstance(token := self._tokens[self._at], Word) and token.plain == "{":
            self._at += 1
            body = self._until(("}",), depth)
        return [Function(name.line, (name.literal or "") if isinstance(name, Word) else "", body)]

    def _if(self, line: int, depth: int) -> Choice:
        choice = Choice(line)
        # What is asked runs whatever comes of it.
        asked = self._until(("then",), depth)
        while not self.done:
            choice.branches.append(asked + self.nodes(("elif", "else", "fi"), depth + 1))
            token = self._tokens[self._at] if not self.done else None
            self._at += 1
            word = token.plain if isinstance(token, Word) else "fi"
            if word == "fi":
                break
            asked = self._until(("then",), depth) if word == "elif" else []
        return choice

    def _case(self, line: int, depth: int) -> Choice:
        choice = Choice(line)
        while not self.done:
            token = self._tokens[self._at]
            self._at += 1
            if isinstance(token, Word) and token.plain == "esac":
                break
            if isinstance(token, Operator) and token.text == ")":
                choice.branches.append(self.nodes((";;", "esac"), depth + 1))
        return choice

    def _for(self, line: int, depth: int) -> Loop:
        head: list[Word] = []
        while not self.done:
            token = self._tokens[self._at]
            self._at += 1
            if isinstance(token, Word):
                if token.plain == "do":
                    break
                head.append(token)
        body = self._until(("done",), depth)
        listed = len(head) > 1 and head[1].plain == "in"
        return Loop(line, head[0].plain if head and listed else "", head[2:] if listed else [], body)

    @staticmethod
    def _attach(found: list[Node], body: Operator) -> None:
        if found and isinstance(found[-1], Command):
            found[-1].body = body.body


_ENDS: Final = ("fi", "done", "esac", "}", "then", "else", "elif", "do")

"""Symbolic execution of a script: variables, loops and functions, as far as they consist of literals.

Nothing is executed. A value that a command would get from elsewhere stays unknown in its words, and code that
needs such a word reports it.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Final

from tree_sitter import Node

from airpath_lint.setup import Place, Unread
from airpath_lint.shell_syntax import (
    BLOCKS,
    COMMANDS,
    TooDeepError,
    Word,
    descendants,
    line_of,
    literal,
    parse,
    redirected,
    steps,
    text_of,
    word_of,
    words_of,
)
from airpath_lint.words import UNKNOWN, unknown

MOST_COMMANDS: Final = 2_000
"""The maximum number of commands that are read, after loops are expanded."""
MOST_CALLS: Final = 8
"""The maximum depth of function calls."""
MOST_TEXT: Final = 4096
"""The maximum length of a word; longer ones are unknown."""

_ASSIGNMENT: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=")
_DECLARES: Final = ("export", "local", "readonly", "declare", "typeset")


class _EnoughError(Exception):
    """Loops and calls produce more commands than are read."""

    def __init__(self, line: int) -> None:
        super().__init__(line)
        self.line = line


@dataclass(slots=True)
class ShellCommand:
    """A command after expansion of its variables."""

    line: int
    words: list[str]
    body: tuple[str, ...] = ()


Handler = Callable[[ShellCommand], bool | None]
"""A function that takes a command and returns whether it would succeed; `None` if that is unknown."""


@dataclass(slots=True)
class Script:
    """A script under symbolic execution.

    Parameters
    ----------
    source
        The name of the input.
    handle
        The function that takes each command.
    matters
        Returns whether a command deserves a remark if it is not read.
    unread
        The function that takes remarks about commands that are not read.
    variables
        The known values of variables, by name.
    lines
        The lines of relevant commands, read or not.
    """

    source: str
    handle: Handler
    matters: Callable[[list[str]], bool]
    unread: Callable[[Unread], None]
    variables: dict[str, str] = field(default_factory=dict)
    lines: set[int] = field(default_factory=set)
    _functions: dict[str, Node] = field(default_factory=dict)
    _errors: dict[int, str] = field(default_factory=dict)
    _called: set[str] = field(default_factory=set)
    _count: int = 0
    _calls: int = 0

    def run(self, script: str) -> None:
        """Run the text of a script."""
        try:
            root, self._errors = parse(script.replace(UNKNOWN, " "))
            self.lines = set(self._lines_that_matter(root.children))
            self._run(root.children)
        except TooDeepError:
            self._remark(1, "", "blocks are nested too deeply")
            return
        except _EnoughError as enough:
            self._remark(enough.line, "", f"more than {MOST_COMMANDS} commands; the rest is not read")
            return
        for name, function in self._functions.items():
            if name not in self._called and (at := self._line_that_matters([function])) is not None:
                self._remark(
                    at, f"{name}()", ("this function is not called in the script with all its arguments")
                )

    def _run(self, nodes: Iterable[Node]) -> bool | None:
        """Run statements; return whether the last command succeeds, or `None` if that is unknown."""
        succeeded: bool | None = None
        skipped = False
        for node in steps(nodes):
            if node.type in ("&&", "||"):
                skipped = succeeded is (node.type == "||")
                continue
            if skipped:
                skipped = False
                continue
            match node.type:
                case "if_statement":
                    first = [one for one in node.children if not one.type.endswith("_clause")]
                    clauses = [one.children for one in node.children if one.type.endswith("_clause")]
                    self._choice(node, [first, *clauses])
                    succeeded = None
                case "case_statement":
                    self._choice(node, [one.children for one in node.children if one.type == "case_item"])
                    succeeded = None
                case "for_statement" | "c_style_for_statement":
                    self._loop(node)
                    succeeded = None
                case "function_definition":
                    self._functions[text_of(node.child_by_field_name("name"))] = node
                case "negated_command":
                    inner = self._run(node.children)
                    succeeded = None if inner is None else not inner
                case _ if node.type in BLOCKS:
                    succeeded = self._run(node.children)
                case _ if node.type in COMMANDS:
                    succeeded = self._command(node)
        return succeeded

    def _command(self, command: Node) -> bool | None:
        at = line_of(command)
        self._step(at)
        further, body = redirected(command)
        words = [text for word in words_of(command) + further for text in self._expanded(word)]
        lines = range(at, command.end_point.row + 2)
        words += [unknown(self._errors[one]) for one in lines if one in self._errors]
        declared = len(words) > 1 and words[0] in _DECLARES
        while words and (declared or _ASSIGNMENT.match(words[0])):
            match = _ASSIGNMENT.match(words[0])
            if match:
                self.variables[match[1]] = words[0][match.end() :]
            words.pop(0)
        if not words:
            return None
        if words[0] == "shift" and (arguments := self._arguments()):
            count = int(words[1]) if words[1:] and words[1] in tuple("0123456789") else 1
            self._set_arguments(arguments[count:])
            return None
        if words[0] in self._functions:
            self.lines.add(at)
            self._call(self._functions[words[0]], words[0], words[1:])
            return None
        return self.handle(ShellCommand(at, words, body))

    def _call(self, function: Node, name: str, arguments: list[str]) -> None:
        if self._calls >= MOST_CALLS:
            self._remark(line_of(function), f"{name}()", "calls of functions are nested too deeply")
            return
        self._called.add(name)
        before = self._arguments()
        self._set_arguments(arguments)
        self._calls += 1
        self._run(function.children_by_field_name("body"))
        self._calls -= 1
        self._set_arguments(before)

    def _arguments(self) -> list[str]:
        """Return the arguments of the function or the script, up to the first unknown one."""
        found: list[str] = []
        while (text := self.variables.get(str(len(found) + 1))) is not None:
            found.append(text)
        return found

    def _set_arguments(self, arguments: list[str]) -> None:
        self.variables = {name: text for name, text in self.variables.items() if not name.isdigit()}
        self.variables |= {str(number): text for number, text in enumerate(arguments, 1)}

    def _choice(self, choice: Node, branches: list[list[Node]]) -> None:
        """Run the first branch with a relevant command, and report the others, which are not read."""
        matters = [(branch, self._line_that_matters(branch)) for branch in branches]
        taken = next((branch for branch, line in matters if line is not None), None)
        before = dict(self.variables)
        if taken is not None:
            self._run(taken)
        elif len(branches) == 1:
            self._run(branches[0])
        for branch, at in matters:
            if at is not None and branch is not taken:
                self._remark(
                    at, "", "only the first branch with a configuration is read, and this is another one"
                )
        # It is unknown which branch is taken; so is every variable that a branch may set.
        for assignment in descendants(chain(*branches), ("variable_assignment",)):
            name = text_of(assignment.child_by_field_name("name"))
            if self.variables.get(name) != before.get(name) or len(branches) > 1 or name not in before:
                self.variables[name] = unknown(f"${name}, which depends on line {line_of(choice)}")

    def _loop(self, loop: Node) -> None:
        body = loop.children_by_field_name("body")
        if loop.children[0].type != "for" or not (values := loop.children_by_field_name("value")):
            self._run(body)
            return
        for text in (text for value in values for text in self._expanded(word_of(value))):
            self._step(line_of(loop))
            self.variables[text_of(loop.child_by_field_name("variable"))] = text
            self._run(body)

    def _step(self, line: int) -> None:
        self._count += 1
        if self._count > MOST_COMMANDS:
            raise _EnoughError(line)

    def _expanded(self, word: Word) -> list[str]:
        """Return the words that a word expands to: unquoted variables are split at blanks."""
        arguments = self._arguments()
        pieces = [piece for piece in word if piece.text]
        if arguments and len(pieces) == 1 and pieces[0].kind == "variable" and pieces[0].text in "@*":
            return arguments
        words = [""]
        some = False
        for piece in word:
            some = some or piece.quoted or piece.kind != "text" or bool(piece.text)
            if piece.kind == "text":
                words[-1] += piece.text
                continue
            name = piece.text if piece.kind == "variable" else ""
            value = self.variables.get(name) if name else None
            if value is None:
                words[-1] += unknown(f"${name}" if name else piece.text)
            elif piece.quoted or UNKNOWN in value:
                words[-1] += value
            else:
                parts = value.split()
                if not parts:
                    some = some and bool("".join(words))
                    continue
                if value[0].isspace() and words[-1]:
                    words.append("")
                words[-1] += parts[0]
                words += parts[1:]
        if any(len(one) > MOST_TEXT for one in words):
            assigned = _ASSIGNMENT.match(words[0])
            return [
                (assigned[0] if assigned else "") + unknown(f"a text of more than {MOST_TEXT} characters")
            ]
        return words if some else []

    def _line_that_matters(self, nodes: Iterable[Node]) -> int | None:
        return next(self._lines_that_matter(nodes), None)

    def _lines_that_matter(self, nodes: Iterable[Node]) -> Iterator[int]:
        for command in descendants(nodes, COMMANDS):
            words = [literal(word) or "" for word in words_of(command)]
            if self.matters(words) or (words and words[0] in self._functions):
                yield line_of(command)

    def _remark(self, line: int, text: str, why: str) -> None:
        self.unread(Unread(Place(self.source, line), text, why))

"""Running a script on paper: variables, loops and functions, as far as they are made of literals.

Nothing is executed. What a command would have got from elsewhere stays unknown in its words, and whoever
needs such a word says so.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

from airpath_lint.setup import Place, Unread
from airpath_lint.shell_syntax import Choice, Command, Function, Loop, Node, TooDeepError, Word, parse
from airpath_lint.words import UNKNOWN, unknown

MOST_COMMANDS: Final = 2_000
"""More than this many commands, loops counted out, are not read."""
MOST_CALLS: Final = 8
"""How deep functions may call."""
MOST_TEXT: Final = 4096
"""A word that grows longer than this is not known."""

_ASSIGNMENT: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=")
_DECLARES: Final = ("export", "local", "readonly", "declare", "typeset")


class _EnoughError(Exception):
    """Loops and calls make more commands than are read."""

    def __init__(self, line: int) -> None:
        super().__init__(line)
        self.line = line


@dataclass(slots=True)
class ShellCommand:
    """A command after its variables were filled in."""

    line: int
    words: list[str]
    body: tuple[str, ...] = ()


Handler = Callable[[ShellCommand], bool | None]
"""Takes a command; tells whether it would succeed, or `None` where that cannot be known."""


@dataclass(slots=True)
class Script:
    """A script that is run on paper.

    Parameters
    ----------
    source
        The name of the input.
    handle
        What takes each command.
    matters
        Tells whether a command is worth a remark when it is not read.
    unread
        Takes remarks on what was not read.
    variables
        What is known of variables, by name.
    lines
        The lines of commands that matter, read or not.
    """

    source: str
    handle: Handler
    matters: Callable[[list[str]], bool]
    unread: Callable[[Unread], None]
    variables: dict[str, str] = field(default_factory=dict)
    lines: set[int] = field(default_factory=set)
    _functions: dict[str, Function] = field(default_factory=dict)
    _called: set[str] = field(default_factory=set)
    _count: int = 0
    _calls: int = 0

    def run(self, text: str) -> None:
        """Run the text of a script."""
        try:
            nodes = parse(text.replace(UNKNOWN, " "))
            self.lines = set(self._lines_that_matter(nodes))
            self._run(nodes)
        except TooDeepError:
            self._remark(1, "", "blocks nest too deep")
            return
        except _EnoughError as enough:
            self._remark(enough.line, "", f"more than {MOST_COMMANDS} commands; the rest is not read")
            return
        for name, function in self._functions.items():
            if name not in self._called and (line := self._line_that_matters(function.body)) is not None:
                self._remark(
                    line, f"{name}()", "this function is not called in the script with what it needs"
                )

    def _run(self, nodes: list[Node]) -> None:
        succeeded: bool | None = None
        for node in nodes:
            match node:
                case Command():
                    if (node.before == "||" and succeeded) or (node.before == "&&" and succeeded is False):
                        continue
                    succeeded = self._command(node)
                case Choice():
                    self._choice(node)
                case Loop():
                    self._loop(node)
                case Function():
                    self._functions[node.name] = node

    def _command(self, command: Command) -> bool | None:
        self._step(command.line)
        words: list[str] = []
        for word in command.words:
            words += self._expanded(word)
        # What a prompt puts before a command in notes.
        while words and words[0] in ("$", "%", ">"):
            words.pop(0)
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
            self.lines.add(command.line)
            self._call(self._functions[words[0]], words[1:])
            return None
        return self.handle(ShellCommand(command.line, words, command.body))

    def _call(self, function: Function, arguments: list[str]) -> None:
        if self._calls >= MOST_CALLS:
            self._remark(function.line, f"{function.name}()", "functions call each other too deep")
            return
        self._called.add(function.name)
        before = self._arguments()
        self._set_arguments(arguments)
        self._calls += 1
        self._run(function.body)
        self._calls -= 1
        self._set_arguments(before)

    def _arguments(self) -> list[str]:
        """Return the arguments of the function or the script, as far as they are known from the first on."""
        found: list[str] = []
        while (text := self.variables.get(str(len(found) + 1))) is not None:
            found.append(text)
        return found

    def _set_arguments(self, arguments: list[str]) -> None:
        self.variables = {name: text for name, text in self.variables.items() if not name.isdigit()}
        self.variables |= {str(number): text for number, text in enumerate(arguments, 1)}

    def _choice(self, choice: Choice) -> None:
        """Read the first branch in which anything matters, and say of the others that they are not read."""
        matters = [(branch, self._line_that_matters(branch)) for branch in choice.branches]
        taken = next((branch for branch, line in matters if line is not None), None)
        before = dict(self.variables)
        if taken is not None:
            self._run(taken)
        elif len(choice.branches) == 1:
            self._run(choice.branches[0])
        for branch, line in matters:
            if line is not None and branch is not taken:
                self._remark(
                    line, "", "only the first branch that sets something up is read, and this is another"
                )
        # Which branch is taken is not known, and with it what a variable is from here on.
        names = {name for branch in choice.branches for name in _assigned(branch)}
        for name in names:
            if self.variables.get(name) != before.get(name) or len(choice.branches) > 1 or name not in before:
                self.variables[name] = unknown(f"${name}, which depends on line {choice.line}")

    def _loop(self, loop: Loop) -> None:
        if not loop.variable:
            self._run(loop.body)
            return
        for word in loop.words:
            for value in self._expanded(word):
                self._step(loop.line)
                self.variables[loop.variable] = value
                self._run(loop.body)

    def _step(self, line: int) -> None:
        self._count += 1
        if self._count > MOST_COMMANDS:
            raise _EnoughError(line)

    def _expanded(self, word: Word) -> list[str]:
        """Return the words that a word becomes: unquoted variables are split at blanks."""
        arguments = self._arguments()
        pieces = [piece for piece in word.pieces if piece.text]
        if arguments and len(pieces) == 1 and pieces[0].kind == "variable" and pieces[0].text in "@*":
            return arguments
        words = [""]
        some = False
        for piece in word.pieces:
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

    def _line_that_matters(self, nodes: list[Node]) -> int | None:
        return next(self._lines_that_matter(nodes), None)

    def _lines_that_matter(self, nodes: list[Node]) -> Iterator[int]:
        for node in nodes:
            match node:
                case Command():
                    words = [word.literal or "" for word in node.words]
                    if self.matters(words) or words[0] in self._functions:
                        yield node.line
                case Choice():
                    for branch in node.branches:
                        yield from self._lines_that_matter(branch)
                case Loop() | Function():
                    yield from self._lines_that_matter(node.body)

    def _remark(self, line: int, text: str, why: str) -> None:
        self.unread(Unread(Place(self.source, line), text, why))


def _assigned(nodes: list[Node]) -> set[str]:
    """Return the names of the variables that may be set there."""
    found: set[str] = set()
    for node in nodes:
        match node:
            case Command():
                for word in node.words:
                    if word.pieces and (match := _ASSIGNMENT.match(word.pieces[0].text)):
                        found.add(match[1])
            case Choice():
                for branch in node.branches:
                    found |= _assigned(branch)
            case Loop() | Function():
                found |= _assigned(node.body)
    return found

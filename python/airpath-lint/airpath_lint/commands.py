"""From commands to a configuration: `tc qdisc`, `tc class`, `tc filter`, and others that matter."""

import re
from collections.abc import Callable, Mapping
from typing import Final

from airpath_lint.disciplines import read_class, read_options
from airpath_lint.editing import Editor
from airpath_lint.findings import finding
from airpath_lint.rules_table import RULES
from airpath_lint.setup import (
    INGRESS,
    INGRESS_HANDLE,
    ROOT,
    Device,
    Discipline,
    Filter,
    Place,
    TrafficClass,
    Unread,
)
from airpath_lint.shell import Script, ShellCommand
from airpath_lint.units import RefusedError, rate_bps, size_bytes
from airpath_lint.unwrap import SHELLS, unwrapped
from airpath_lint.words import UNKNOWN, NotUnderstoodError, Words, keyword, shown_unknown

OBJECTS: Final = ("qdisc", "class", "filter")
_VERBS: Final = ("add", "change", "replace", "link", "delete", "show", "list", "ls", "get", "monitor")
_CHANGES: Final = ("add", "change", "replace", "link", "delete")
_OFFLOADS: Final = {
    "tso": "tso",
    "gso": "gso",
    "gro": "gro",
    "tcp-segmentation-offload": "tso",
    "generic-segmentation-offload": "gso",
    "generic-receive-offload": "gro",
    "tx": "tso",
    "sg": "tso",
}
TRAFFIC: Final = (
    "iperf",
    "iperf3",
    "netperf",
    "flent",
    "curl",
    "wget",
    "nuttcp",
    "neper",
    "tcp_stream",
    "ping",
    "nc",
    "ncat",
    "h2load",
    "wrk",
)
"""Programs whose traffic is measured."""

_BATCH: Final = re.compile(r"\s*(?:tc\s+)?(qdisc|class|filter)\s+(add|change|replace|link|del|delete)\b")
MENTIONED: Final = re.compile(r"\btc\b.*\b(?:qdisc|class|filter)\s+(?:add|change|replace)\b")
"""Text that resembles a `tc` command, whatever surrounds it."""


class Commands:
    """A reader of scripts that builds a configuration.

    Parameters
    ----------
    editor
        The editor that applies the commands.
    source
        The name of the input.
    variables
        Values of variables that are known before the script runs; its arguments are 1, 2, ….
    """

    def __init__(self, editor: Editor, source: str, variables: Mapping[str, str]) -> None:
        self._editor = editor
        self._source = source
        self._namespace = ""
        self._script = Script(source, self._handle, _matters, editor.setup.unread.append)
        self._script.variables = dict(variables)
        self.seen: set[int] = set()

    def read(self, text: str) -> None:
        """Read a script or a plain list of commands."""
        self._script.run(text)
        self.seen |= self._script.lines
        for number, line in enumerate(text.splitlines(), 1):
            if number not in self.seen and MENTIONED.search(line) and not line.lstrip().startswith("#"):
                self._remark(number, line.strip(), "this is not a command of this script")

    def _handle(self, command: ShellCommand) -> bool | None:
        namespace, words = unwrapped(command.words)
        place = Place(self._source, command.line)
        if not words:
            return None
        before, self._namespace = self._namespace, namespace or self._namespace
        try:
            return self._program(command, words, place)
        finally:
            self._namespace = before

    def _program(self, command: ShellCommand, words: list[str], place: Place) -> bool | None:
        name, rest = words[0], words[1:]
        if name in OBJECTS and len(rest) > 1 and keyword(rest[0], _VERBS) in _CHANGES:
            # The line is as in a file for `tc -batch`.
            return self._tc(words, place)
        if name == "tc":
            return self._tc_with_options(command, rest, place)
        if name in SHELLS and "-c" in rest[:-1]:
            self._inner(rest[rest.index("-c") + 1], place)
        elif name == "ethtool":
            self._ethtool(rest)
        elif name in TRAFFIC:
            self._editor.setup.programs.setdefault(self._namespace, (name, place))
        if any("bbr" in word.lower() for word in words) and (name in ("sysctl", "echo") or name in TRAFFIC):
            self._editor.setup.paced = self._editor.setup.paced or place
        if UNKNOWN in name and len(rest) > 2 and rest[0] in OBJECTS:
            self._remark(place.line or 0, " ".join(words), f"the value of {shown_unknown(name)} is unknown")
            self.seen.add(place.line or 0)
        return None

    def _inner(self, text: str, place: Place) -> None:
        """Read the command line of `sh -c`; all of its lines are reported as this one."""

        def handle(command: ShellCommand) -> bool | None:
            return self._handle(ShellCommand(place.line or 0, command.words, command.body))

        if UNKNOWN in text:
            if MENTIONED.search(text):
                self._remark(place.line or 0, text, "part of this command line is unknown")
                self.seen.add(place.line or 0)
            return
        inner = Script(self._source, handle, _matters, self._editor.setup.unread.append)
        inner.variables = dict(self._script.variables)
        inner.run(text)

    def _tc_with_options(self, command: ShellCommand, words: list[str], place: Place) -> bool | None:
        while words and words[0].startswith("-"):
            option = words[0].lstrip("-")
            if option in ("n", "net", "netns"):
                self._namespace = words[1] if len(words) > 1 else self._namespace
                words = words[1:]
            elif option in ("b", "batch"):
                for number, line in enumerate(command.body, place.line or 0):
                    if _BATCH.match(line):
                        self._tc(line.removeprefix("tc ").split(), Place(self._source, number + 1))
                if not command.body:
                    what = " ".join(["tc", *words])
                    self._remark(place.line or 0, what, "pass the batch file to airpath lint instead")
                return None
            words = words[1:]
        return self._tc(words, place)

    def _tc(self, words: list[str], place: Place) -> bool | None:
        """Read a command; return whether it would succeed."""
        what = keyword(words[0], OBJECTS) if words else None
        verb = keyword(words[1], _VERBS) if len(words) > 1 else None
        self.seen.add(place.line or 0)
        if what is None or verb not in _CHANGES:
            return None
        verb = "replace" if verb == "link" else verb
        text = shown_unknown(" ".join(["tc", *words]))
        read: dict[str, Callable[[str, list[str], Place], bool]] = {
            "qdisc": self._qdisc,
            "class": self._class,
            "filter": self._filter,
        }
        self._editor.setup.written = True
        try:
            return read[what](verb, words[2:], place)
        except NotUnderstoodError as error:
            self._remark(place.line or 0, text, str(error))
        except RefusedError as error:
            self._editor.findings.append(finding(RULES["refused"], place, None, "", f"{text}: {error}"))
        return False

    def _qdisc(self, verb: str, words: list[str], place: Place) -> bool:
        device, at, left = self._where(words)
        tree = self._editor.setup.tree(device)
        tree.filters_known = True
        parent, handle = at.get("parent", ""), _handle(at.get("handle", ""))
        if verb == "delete":
            return self._editor.delete_discipline(tree, parent, handle)
        kind = left.take() if left else at.get("kind", "")
        if UNKNOWN in kind or not kind:
            raise NotUnderstoodError("the kind of the discipline is unknown")
        if not parent and verb != "change":
            raise RefusedError("root or parent is required")
        if kind in ("ingress", "clsact"):
            parent, handle = INGRESS, INGRESS_HANDLE
        new = Discipline(kind, handle, parent, read_options(kind, left), left.given, place)
        match verb:
            case "add":
                return self._editor.add_discipline(tree, new)
            case "change":
                return self._editor.change_discipline(tree, new)
        return self._editor.replace_discipline(tree, new)

    def _class(self, verb: str, words: list[str], place: Place) -> bool:
        device, at, left = self._where(words)
        tree = self._editor.setup.tree(device)
        classid = at.get("classid", "")
        if not classid:
            raise RefusedError("classid is required")
        if verb == "delete":
            return self._editor.delete_class(tree, classid)
        kind = left.take()
        new = TrafficClass(kind, classid, at.get("parent", ""), read_class(kind, left), left.given, place)
        return self._editor.add_class(tree, new, replaces=verb != "add")

    def _filter(self, verb: str, words: list[str], place: Place) -> bool:
        device, at, left = self._where(words)
        if verb == "delete":
            return True
        rest = left.rest()
        parent = at.get("parent", ROOT)
        tree = self._editor.setup.tree(device)
        if parent == ROOT and tree.root is not None:
            parent = tree.root.handle
        police = "police" in rest
        target = _after(rest, "flowid") or _after(rest, "classid")
        redirect = _after(rest[rest.index("mirred") :], "dev") if "mirred" in rest else ""
        rate, burst = _after(rest, "rate"), _after(rest, "burst") or _after(rest, "buffer")
        if police and UNKNOWN in rate + burst:
            raise NotUnderstoodError("police: rate or burst is unknown")
        return self._editor.add_filter(
            tree,
            Filter(
                _handle(parent) if parent != INGRESS else INGRESS_HANDLE,
                _classid(target) if target and UNKNOWN not in target else target,
                shown_unknown(redirect),
                rate_bps(rate) if police and rate else None,
                size_bytes(burst.split("/", 1)[0]) if police and burst else None,
                place,
            ),
        )

    def _where(self, words: list[str]) -> tuple[Device, dict[str, str], Words]:
        """Read the words before the kind (device, parent, handle), and return the remaining words."""
        left = Words(words)
        at: dict[str, str] = {}
        name = ""
        while left:
            word = left.peek()
            if word == "dev":
                left.take()
                name = shown_unknown(left.take())
            elif word in (ROOT, INGRESS, "clsact", "egress"):
                left.take()
                at["parent"] = {"clsact": INGRESS, "egress": ROOT}.get(word, word)
                if word in (INGRESS, "clsact"):
                    at["kind"] = word
            elif word in ("handle", "parent", "classid"):
                left.take()
                value = left.take()
                if UNKNOWN in value:
                    raise NotUnderstoodError(f"{word}: the value of {shown_unknown(value)} is unknown")
                if word == "handle":
                    at[word] = value
                else:
                    at[word] = value if value == ROOT else _classid(value)
            elif word in ("stab", "estimator"):
                raise NotUnderstoodError(f"unsupported parameter {word}")
            elif word in ("protocol", "pref", "prio", "preference", "chain", "ingress_block", "egress_block"):
                left.take()
                left.take()
            else:
                break
        if not name:
            raise RefusedError("dev is required")
        return Device(shown_unknown(self._namespace), name), at, left

    def _ethtool(self, words: list[str]) -> None:
        if not words or words[0] not in ("-K", "--features", "--offload") or len(words) < 2:
            return
        device = Device(shown_unknown(self._namespace), shown_unknown(words[1]))
        off = self._editor.setup.offloads_off.setdefault(device, set())
        for feature, state in zip(words[2::2], words[3::2], strict=False):
            if feature in _OFFLOADS:
                (off.add if state == "off" else off.discard)(_OFFLOADS[feature])

    def _remark(self, line: int, text: str, why: str) -> None:
        self._editor.setup.unread.append(Unread(Place(self._source, line), shown_unknown(text), why))


def _matters(words: list[str]) -> bool:
    """Return whether a command configures something relevant."""
    _, words = unwrapped([word for word in words if word])
    while words and words[0] == "tc" and len(words) > 1 and words[1].startswith("-"):
        words = [words[0], *words[3 if words[1] in ("-n", "-net", "-netns") else 2 :]]
    if len(words) > 2 and words[0] == "tc":
        words = words[1:]
    return (
        len(words) > 1 and words[0] in OBJECTS and keyword(words[1], _VERBS) in ("add", "change", "replace")
    )


def _after(words: list[str], name: str) -> str:
    """Return the word after another; empty if there is none."""
    place = words.index(name) + 1 if name in words else len(words)
    return words[place] if place < len(words) else ""


def _handle(text: str) -> str:
    """Return a handle in normal form: `1:`."""
    if not text or text in (ROOT, INGRESS):
        return text
    major, _, minor = text.partition(":")
    if minor and _number(minor):
        raise RefusedError(f'found the handle "{text}"; accepted: a number and a colon, such as 1:')
    return f"{_number(major):x}:"


def _classid(text: str) -> str:
    """Return the name of a class in normal form: `1:10`."""
    major, colon, minor = text.partition(":")
    if not colon:
        # iproute2 reads a bare number as the minor number, without a discipline.
        return f"0:{_number(major):x}"
    if not minor:
        return f"{_number(major):x}:"
    return f"{_number(major) if major else 0:x}:{_number(minor):x}"


def _number(text: str) -> int:
    digits = text.lower().removeprefix("0x")
    if not digits or len(digits) > 4 or set(digits) - set("0123456789abcdef"):
        raise RefusedError(f'found "{text}"; accepted: a number of up to four hexadecimal digits')
    return int(digits, 16)

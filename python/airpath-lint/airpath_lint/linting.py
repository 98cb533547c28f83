"""Reading and checking of inputs."""

import json
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from airpath._os.input_file import InputFile, input_file, refuse_standard_input_twice
from airpath.errors import LintError, UsageError
from airpath_lint.amounts import Directions, lanes
from airpath_lint.commands import Commands
from airpath_lint.editing import Editor
from airpath_lint.findings import Finding, Level, finding
from airpath_lint.rules import Context, judge
from airpath_lint.rules_table import RULES
from airpath_lint.screen import is_screen, read_screen
from airpath_lint.screen_json import read_json
from airpath_lint.setup import Setup, Tree

LARGEST: Final = 4 << 20
"""The maximum size of an input, in bytes."""
LIVE: Final = "live"
_TIMEOUT_S: Final = 10
_JSON: Final = re.compile(r"\s*(\[\s*(\{|\]|\[\s*[\[{\]])|\{\s*[\"}])")
"""The beginning of JSON, which no script has: `[[ -n $1 ]]`, `{ tc …; }`."""

_ORDER: Final = {Level.ERROR: 0, Level.WARNING: 1, Level.NOTE: 2}


@dataclass(frozen=True, slots=True)
class Linted:
    """The result of checking a configuration.

    Attributes
    ----------
    sources
        The inputs.
    trees
        The final state of each device; if it has been reset, its last state before that.
    directions
        The paths of packets out of these devices.
    findings
        The findings, in the order of inputs and lines.
    """

    sources: tuple[str, ...]
    trees: list[Tree]
    directions: Directions
    findings: list[Finding]

    @property
    def clean(self) -> bool:
        """Whether no finding is a warning or an error."""
        return not any(one.rule.level.counts for one in self.findings)


def lint(
    inputs: Sequence[str | Path], *, live: bool = False, variables: Mapping[str, str] | None = None
) -> Linted:
    """Check a traffic control configuration.

    Parameters
    ----------
    inputs
        Files, pipes or `-`: shell scripts, lists of `tc` commands, or the output of `tc -s qdisc show` (also
        with `-j`). Together they form one configuration, in this order.
    live
        Check this system instead: `tc -json -statistics qdisc show`, and the classes and filters of the
        devices found. Nothing is changed.
    variables
        Values of variables that scripts get from elsewhere; their arguments are 1, 2, ….

    Raises
    ------
    LintError
        If an input cannot be read or contains no configuration.
    UsageError
        If there is no input, or if inputs are given together with `live`.
    """
    refuse_standard_input_twice(inputs)
    if not inputs and not live:
        raise UsageError("no input; accepted: files, - for standard input, or live")
    if inputs and live:
        raise UsageError("live: found together with files; accepted: one of the two")
    editor = Editor(Setup())
    sources: list[str] = []
    for given in inputs:
        with input_file(given, LintError) as file:
            sources.append(file.name)
            _read(file, editor, variables or {})
    if live:
        sources.append(LIVE)
        _read_live(editor.setup)
    setup = editor.setup
    if not (setup.written or setup.shown or setup.unread):
        raise LintError(
            f"{', '.join(sources)}: found no tc command and no output of tc; accepted: a script or a list"
            " with tc qdisc add …, or the output of tc -s qdisc show"
        )
    return _judged(tuple(sources), editor)


def lint_text(text: str, source: str = "text") -> Linted:
    """Check a configuration that is given as text, as `lint` does.

    Raises
    ------
    LintError
        If the text is JSON that `tc` does not print.
    """
    editor = Editor(Setup())
    _read_text(text, source, editor, {})
    return _judged((source,), editor)


def _read(file: InputFile, editor: Editor, variables: Mapping[str, str]) -> None:
    with file.path.open("rb") as stream:
        content = stream.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise LintError(
            f"{file}: found more than {LARGEST >> 20} MiB; accepted: a script or the output of tc"
        )
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise LintError(
            f"{file}: not text (byte {error.start + 1}); accepted: a script or the output of tc"
        ) from None
    _read_text(text, file.name, editor, variables)


def _read_text(text: str, source: str, editor: Editor, variables: Mapping[str, str]) -> None:
    if _JSON.match(text):
        read_json(text, source, editor.setup)
    elif is_screen(text):
        read_screen(text, source, editor.setup)
    else:
        Commands(editor, source, variables).read(text)


def _judged(sources: tuple[str, ...], editor: Editor) -> Linted:
    current = editor.current()
    directions = Directions([lane for tree in current for lane in lanes(tree)])
    context = Context(editor.setup, editor.every(), current, directions)
    unread = [
        finding(
            RULES["not-understood"],
            one.place,
            None,
            "",
            f"{one.text}: {one.why}" if one.text else one.why,
            "use literal values, or pass the output of tc -s qdisc show from the target system",
        )
        for one in editor.setup.unread
    ]
    places = {source: number for number, source in enumerate(sources)}
    found = sorted(
        [*unread, *editor.findings, *judge(context)],
        key=lambda one: (places.get(one.place.source, 0), one.place.line or 0, _ORDER[one.rule.level]),
    )
    return Linted(sources, current, directions, found)


def _read_live(setup: Setup) -> None:
    """Read the configuration with `tc show`, which does not need root."""
    shown = _tc("qdisc", "show")
    read_json(shown, LIVE, setup)
    for device in list(setup.trees):
        for what in ("class", "filter"):
            read_json(_with_device(_tc(what, "show", "dev", device.name), device.name), LIVE, setup)
        setup.tree(device).filters_known = True


def _with_device(text: str, device: str) -> str:
    """Add the device to each entry: `tc` omits it if the command names the device."""
    try:
        entries: Any = json.loads(text or "[]")
    except (ValueError, RecursionError):
        return text
    if isinstance(entries, list):
        entries = [{"dev": device, **one} for one in entries if isinstance(one, dict)]
    return json.dumps(entries)


def _tc(*words: str) -> str:
    program = shutil.which("tc") or shutil.which("tc", path="/usr/sbin:/sbin")
    if program is None:
        raise LintError("live: tc was not found; accepted: a system with iproute2")
    try:
        done = subprocess.run(
            [program, "-json", "-statistics", *words],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise LintError(f"live: tc {' '.join(words)} did not answer: {error}") from None
    if done.returncode:
        said = (done.stderr.strip().splitlines() or ["no message"])[0]
        raise LintError(f"live: tc {' '.join(words)}: {said}")
    return done.stdout.strip() or "[]"

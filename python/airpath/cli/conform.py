"""`airpath conform`."""

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from airpath.cli.conform_tables import breach_lines, rules_table, steps_table, summary_of
from airpath.cli.output import (
    ForceOption,
    JsonOption,
    OutOption,
    answers,
    file_name_of,
    show,
    show_json,
    tell,
    write_file,
)
from airpath.conform.examination import LISTS, Examination, Failing, Replay, RuleVerdict
from airpath.conform.failing_file import failing_text, read_operations
from airpath.errors import PluginError, UsageError
from airpath.progress import progress_bar

HELP = """\
Two instances of the controller receive the same random lists of operations: packets leave, arrive, are lost,
timers expire. Rules of the interface must hold. Rules of good sense are those of RFC 5681, which some
controllers have reasons to break. The list that breaks the first rule is shortened, printed and written to a
file.

Exit codes: 0 the rules of the interface hold (with --strict all rules), 1 one is broken, 2 no verdict because
an argument is wrong.

Examples:

    airpath conform my.py:Mine

    airpath conform cubic:beta=0.8 my.py:Mine:keep=0.7 --strict

    airpath conform my.py:Mine --replay out/conform/my.py-Mine.json
"""

BROKEN: Final = 1


@answers
def conform(
    controllers: Annotated[
        list[str], typer.Argument(metavar="SPEC…", help="Controllers (`cubic:beta=0.8`, `my.py:Mine`).")
    ],
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 1 also if a rule of good sense is broken.")
    ] = False,
    replay: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="List of operations to repeat, instead of random lists.", show_default=False
        ),
    ] = None,
    out: OutOption = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> int:
    """Examine controllers."""
    from airpath.cli.place import claim

    examinations = [Examination(controller) for controller in controllers]
    if replay is not None:
        return _replay(examinations, replay, strict=strict, as_json=as_json)
    folder = claim(out, Path("out") / "conform", force=force, may_replace=_has_lists)
    code, contents = 0, []
    for examination in examinations:
        try:
            _examine(examination)
        except PluginError as error:
            tell(str(error))
            code |= BROKEN
            contents.append({"controller": examination.scheme, "error": str(error)})
            continue
        verdicts = examination.verdicts()
        failing = _shortest(examination, verdicts)
        file = None if failing is None else _write(examination, failing, folder)
        code |= _code((one.is_interface for one in verdicts if one.is_broken), strict=strict)
        contents.append(_json(examination, verdicts, failing, file))
        if not as_json:
            show(rules_table(examination, verdicts))
            show(summary_of(verdicts))
            if failing is not None:
                _show(examination, failing.operations, examination.replay(failing.operations))
                show(f"repeat it: airpath conform {shlex.quote(examination.scheme)} --replay {file}")
            elif any(one.is_broken for one in verdicts):
                show("no list breaks a rule again: the controller depends on more than its events")
    if as_json:
        show_json({"controllers": contents})
    return code


def _examine(examination: Examination) -> None:
    """Examine the usual number of lists."""
    with progress_bar(f"lists of {examination.scheme}", None) as on_share:

        def go_on(done: int) -> bool:
            on_share(done / LISTS)
            return True

        examination.examine(LISTS, go_on)


def _shortest(examination: Examination, verdicts: Iterable[RuleVerdict]) -> Failing | None:
    """Return a short list for the first broken rule; those of the interface come first."""
    broken = next((one for one in verdicts if one.is_broken), None)
    return None if broken is None else examination.shortest(broken.rule)


def _write(examination: Examination, failing: Failing, folder: Path) -> Path:
    file = folder / f"{file_name_of(examination.scheme)}.json"
    write_file(file, failing_text(examination.scheme, failing).encode())
    return file


def _has_lists(folder: Path) -> bool:
    return all(one.suffix == ".json" for one in folder.iterdir())


def _code(broken: Iterable[bool], *, strict: bool) -> int:
    """Return the exit code for broken rules, each of the interface or of good sense."""
    return BROKEN if any(strict or is_interface for is_interface in broken) else 0


def _show(examination: Examination, operations: Sequence[Any], replay: Replay) -> None:
    """Print what a list of operations does."""
    show(steps_table(operations, replay))
    for line in breach_lines(replay.breaches, examination.verdicts()):
        show(line)


def _replay(examinations: Sequence[Examination], file: Path, *, strict: bool, as_json: bool) -> int:
    """Repeat the list of a file with each controller."""
    operations = read_operations(file)
    code, contents = 0, []
    for examination in examinations:
        try:
            replay = examination.replay(operations)
        except ValueError as error:
            raise UsageError(f"{file}: {error}") from None
        is_interface = {one.rule: one.is_interface for one in examination.verdicts()}
        code |= _code((is_interface[one.rule] for one in replay.breaches), strict=strict)
        contents.append({"controller": examination.scheme, **asdict(replay)})
        if not as_json:
            show(examination.scheme)
            _show(examination, operations, replay)
    if as_json:
        show_json({"controllers": contents})
    return code


def _json(
    examination: Examination, verdicts: Iterable[RuleVerdict], failing: Failing | None, file: Path | None
) -> dict[str, Any]:
    """Return what came of a controller, for machines."""
    return {
        "controller": examination.scheme,
        "seed": examination.seed,
        "lists": examination.lists,
        "rules": [asdict(one) for one in verdicts],
        "failing": None if failing is None else asdict(failing),
        "file": None if file is None else str(file),
    }

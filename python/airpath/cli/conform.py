"""`airpath conform`."""

import secrets
import shlex
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from airpath._os.progress import progress_bar, progress_lines
from airpath.cli.conform_tables import breach_lines, links_table, rules_table, steps_table, summary_of
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
from airpath.conform.examination import LISTS, SEED, Examination, Failing, Replay, RuleVerdict
from airpath.conform.failing_file import failing_text, read_operations
from airpath.errors import PluginError, UsageError
from airpath.plugins.specs import Spec

HELP = """\
Two instances of the controller receive the same random lists of operations: packets leave, arrive, are lost,
timers expire. Rules of the interface must hold. Rules of good sense are those of RFC 5681, which some
controllers have reasons to break. The list that breaks the first rule is shortened, printed and written to a
file. A controller that keeps the rules of the interface then runs on the links of the suite `hard-links`.

Exit codes: 0 the rules of the interface hold (with --strict all rules, and no link has a bad result), 1 one
does not, 2 no verdict because an argument is wrong.

Examples:

    airpath conform my.py:Mine

    airpath conform cubic:beta=0.8 my.py:Mine:keep=0.7 --strict

    airpath conform my.py:Mine --replay out/conform/my.py-Mine.json

    airpath conform my.py:Mine --fuzz 10
"""

BROKEN: Final = 1
DIFFERS: Final = "answers differ between processes with another PYTHONHASHSEED; iterate over sorted sets"
LINKS: Final = "hard-links"
"""The suite of links on which controllers run."""


@answers
def conform(
    controllers: Annotated[
        list[str], typer.Argument(metavar="SPEC", help="Controllers (`cubic:beta=0.8`, `my.py:Mine`).")
    ],
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 1 also for rules of good sense and links.")
    ] = False,
    replay: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="List of operations to repeat, instead of random lists.", show_default=False
        ),
    ] = None,
    fuzz: Annotated[
        float | None,
        typer.Option(
            metavar="MINUTES",
            min=0,
            help="Time for which each controller is examined with new lists; Ctrl-C keeps the result.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=2**64 - 1,
            help="Seed of the lists; default: 1, with --fuzz random.",
            show_default=False,
        ),
    ] = None,
    out: OutOption = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> int:
    """Examine controllers."""
    from airpath.cli.place import claim

    if replay is not None and fuzz is not None:
        raise UsageError("--replay repeats one list, and --fuzz makes new ones; accepted: one of them")
    if seed is None:
        seed = SEED if fuzz is None else secrets.randbits(32)
    examinations = [Examination(controller, seed) for controller in controllers]
    if replay is not None:
        return _replay(examinations, replay, strict=strict, as_json=as_json)
    folder = claim(out, Path("out") / "conform", force=force, may_replace=_has_lists)
    code, contents, interrupted = 0, [], False
    for examination in examinations:
        done = _conform(examination, fuzz, folder, as_json=as_json)
        code |= _code(done.broken, strict=strict)
        contents.append(done.content)
        if interrupted := done.interrupted:
            break
    if as_json:
        show_json({"controllers": contents})
    if interrupted:
        raise KeyboardInterrupt
    return code


@dataclass
class _Done:
    """The result of a controller."""

    broken: list[bool]
    """For each broken rule or bad result, whether it is of the interface."""
    content: dict[str, Any]
    """Everything, for machines."""
    interrupted: bool = False


def _conform(examination: Examination, fuzz: float | None, folder: Path, *, as_json: bool) -> _Done:
    """Examine a controller, and print the result unless `as_json` is set."""
    interrupted = False
    if fuzz is not None and not as_json:
        show(f"{examination.scheme}: seed {examination.seed}")
    try:
        _examine(examination, fuzz)
    except PluginError as error:
        tell(str(error))
        return _Done([True], {"controller": examination.scheme, "error": str(error)})
    except KeyboardInterrupt:
        interrupted = True
    verdicts = examination.verdicts()
    failing = _shortest(examination, verdicts)
    file = None if failing is None else _write(examination, failing, folder)
    broken = [one.is_interface for one in verdicts if one.is_broken]
    done = _Done(broken, _json(examination, verdicts, failing, file), interrupted)
    if not as_json:
        show(rules_table(examination, verdicts))
        show(summary_of(verdicts))
        if failing is not None:
            _show(examination, failing.operations, examination.replay(failing.operations))
            show(f"repeat it: airpath conform {shlex.quote(examination.scheme)} --replay {file}")
        elif broken:
            show("no list breaks a rule again: the controller depends on more than its events")
    if fuzz is None and not interrupted and not any(broken):
        try:
            _compare_processes(examination, done)
            _run_on_links(examination, done, as_json=as_json)
        except PluginError as error:
            tell(str(error))
            broken.append(True)
    return done


def _compare_processes(examination: Examination, done: _Done) -> None:
    """Compare the answers of a controller in Python between processes."""
    if Spec.parse(examination.scheme) is None:
        return
    from airpath.conform.processes import differing_list

    number = differing_list(examination.scheme, examination.seed)
    done.content["differing_list"] = number
    if number is not None:
        tell(f"{examination.scheme}: {DIFFERS} (list {number} of seed {examination.seed})")
        done.broken.append(True)


def _run_on_links(examination: Examination, done: _Done, *, as_json: bool) -> None:
    """Run a controller on hard links."""
    from airpath.checks import Suite, check
    from airpath.checks.report import check_json

    checked = check(Suite.load(LINKS, scheme=examination.scheme))
    done.content["links"] = check_json(checked)["cases"]
    done.broken += [False for case in checked.cases if not case.passed]
    if not as_json:
        show(links_table(checked))


def _examine(examination: Examination, minutes: float | None) -> None:
    """Examine the usual number of lists, or new ones for some minutes."""
    started = time.monotonic()
    lists = LISTS if minutes is None else 2**62
    with (
        progress_bar(f"lists of {examination.scheme}", None) as on_bar,
        progress_lines(None, lambda: f"{examination.lists} lists", tell) as on_minute,
    ):

        def go_on(done: int) -> bool:
            share = done / LISTS if minutes is None else (time.monotonic() - started) / (60 * minutes)
            on_bar(min(share, 1.0))
            on_minute(min(share, 1.0))
            return share < 1

        examination.examine(lists, go_on)


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
    """Print the effects of a list of operations."""
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
    """Return the result of a controller, for machines."""
    return {
        "controller": examination.scheme,
        "seed": examination.seed,
        "lists": examination.lists,
        "rules": [asdict(one) for one in verdicts],
        "failing": None if failing is None else asdict(failing),
        "file": None if file is None else str(file),
    }

"""`airpath check`."""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from airpath.cli.output import (
    AllowCodeOption,
    ForceOption,
    IsolateOption,
    JobsOption,
    JsonOption,
    OutOption,
    WorldChoice,
    WorldOption,
    answers,
    enter_world,
    refuse_no_files,
    show,
    show_json,
    tell,
    write_file,
)

if TYPE_CHECKING:
    from airpath.checks import Checked, CheckedCase

HELP = """\
Limits are compared with means. Baselines, which --update records, are compared by the confidence interval
of the difference. Failed cases keep their tables and a report.

Exit codes: 0 all expectations are met, 1 at least one is not, 2 no verdict because the suite, a baseline or
an option is wrong.

Examples:

    airpath check wireless --scheme bbr

    airpath check my-suite.toml --update

    airpath check my-suite.toml --junit check.xml --markdown check.md --out failed

    airpath check wireless --scheme cubic-ebe --case lte --json | jq .cases
"""

FAILED = 1


@answers
def check(
    suite: Annotated[
        str, typer.Argument(help="Suite file, or name of a shipped suite (`airpath list suites`).")
    ],
    scheme: Annotated[
        str | None,
        typer.Option(help="Scheme under test in every case; default: that of the case.", show_default=False),
    ] = None,
    case: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Case to run; repeatable; default: all.")
    ] = None,
    update: Annotated[
        bool, typer.Option("--update", help="Write the measured values as the new baseline.")
    ] = False,
    baseline: Annotated[
        Path | None,
        typer.Option(
            help="File of baselines; default: SUITE.baseline.json in the folder of the suite, or in the"
            " current folder for a shipped suite.",
            show_default=False,
        ),
    ] = None,
    junit: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File for JUnit XML, for CI.", show_default=False)
    ] = None,
    markdown: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="File for the table as Markdown, for $GITHUB_STEP_SUMMARY.",
            show_default=False,
        ),
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Print all expectations, not only those that are not met.")
    ] = False,
    jobs: JobsOption = None,
    isolate: IsolateOption = False,
    out: OutOption = None,
    force: ForceOption = False,
    _allow_code: AllowCodeOption = False,
    world: WorldOption = WorldChoice.SIM,
    as_json: JsonOption = False,
) -> int:
    """Check a suite."""
    enter_world(world)
    from airpath.checks import CheckInterrupted, Suite
    from airpath.checks import check as check_suite
    from airpath.checks.suite import find_suite
    from airpath.cli.place import claim
    from airpath.plugins.specs import allow
    from airpath.results.directory import is_results

    allow([scheme])
    chosen = Suite.load(suite, scheme=scheme, only=case or ())
    out = claim(
        out,
        Path("out") / f"check-{chosen.name}",
        force=force,
        may_replace=lambda folder: all(map(is_results, folder.iterdir())),
    )
    refuse_no_files(
        {"junit": junit, "markdown": markdown},
        {"the suite": find_suite(suite), "the baselines": baseline or chosen.baseline},
    )

    def keep(done: "CheckedCase") -> None:
        place = out / done.case.name
        if not done.passed:
            _write(done, place, jobs)
        elif is_results(place):
            # Results of an earlier check, in which the case failed.
            shutil.rmtree(place)

    try:
        checked = check_suite(
            chosen,
            baseline=baseline,
            update=update,
            world=world.value,
            jobs=jobs,
            isolate=isolate,
            on_case=keep,
            on_line=tell,
        )
    except CheckInterrupted as interrupted:
        done = len(interrupted.checked.cases)
        tell(f"stopped after {done} of {len(chosen.cases)} cases; no verdict and no baseline is written")
        if done:
            _show(interrupted.checked, out, as_json=as_json, verbose=verbose, interrupted=True)
        raise
    _write_files(checked, junit=junit, markdown=markdown)
    _show(checked, out, as_json=as_json, verbose=verbose, interrupted=False)
    return 0 if checked.passed else FAILED


def _write(done: "CheckedCase", place: Path, jobs: int | None) -> None:
    """Write the runs of a case that failed, as `airpath compare` would."""
    from airpath.cli.work import Output, write_results

    scenarios = done.case.scenarios
    others = ", ".join(list(scenarios)[1:])
    note = f"# The flows under test use {done.case.scheme}; compared with {others}.\n" if others else ""
    text = note + scenarios[done.case.scheme].to_toml()
    write_results(done.results, Output(place, jobs), scenarios, text)


def _show(checked: "Checked", out: Path, *, as_json: bool, verbose: bool, interrupted: bool) -> None:
    from airpath.checks.report import check_json, check_table, check_text

    failed = {case.case.name: str(out / case.case.name) for case in checked.cases if not case.passed}
    if as_json:
        show_json({**check_json(checked), "interrupted": interrupted, "out": failed})
        return
    if (table := check_table(checked, verbose=verbose)) is not None:
        show(table)
    show(check_text(checked))
    for name, place in failed.items():
        show(f"{name}: {place}/report.html")
    if checked.updated:
        show(f"baselines: {checked.baseline}")


def _write_files(checked: "Checked", *, junit: Path | None, markdown: Path | None) -> None:
    from airpath.checks.markdown import check_markdown
    from airpath.checks.report import junit as junit_of

    for file, content in ((junit, junit_of(checked)), (markdown, check_markdown(checked).encode())):
        if file is not None:
            write_file(file, content)

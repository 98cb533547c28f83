"""Check that a rebuild changed no result and no message: store digests before it, compare them after it.

    python tools/frozen.py --store FILE      # run everything and write the digests of all tables and outputs
    python tools/frozen.py --compare FILE    # run everything again and print one line for each difference

`tools/frozen.toml` lists the runs, in the scenario language. More runs are derived: every shipped scenario,
cut short; every parameter with wrong values; and recorded data, if AIRPATH_TRACES and AIRPATH_CAPTURES name
folders. Plans and the descriptions of columns may change and are not compared.

The exit code is 0 if nothing differs, 1 if anything differs, 2 if FILE cannot be read.
"""

import argparse
import json
import os
import re
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import zip_longest
from pathlib import Path
from typing import Final

from frozen_kinds import Outcome, Run, sha256
from frozen_runs import all_runs

IS_DIGEST: Final = re.compile("[0-9a-f]{64}").fullmatch
"""Matches a digest."""
SHOWN: Final = 160
"""The maximum number of characters of a differing line that are shown."""

Document = dict[str, dict[str, Outcome]]
"""All outcomes, by section and name of the run."""


def main() -> int:
    """Store or compare, and return the exit code."""
    parser = argparse.ArgumentParser(description="Check that a rebuild changed no result and no message.")
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--store", type=Path, metavar="FILE", help="file for the digests of this tree")
    action.add_argument("--compare", type=Path, metavar="FILE", help="file with the digests of another tree")
    given = parser.parse_args()
    try:
        before: Document | None = given.compare and json.loads(given.compare.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        sys.stderr.write(f"{given.compare}: cannot be read: {error}\n")
        return 2
    started = time.monotonic()
    document = measure_all()
    found = [] if before is None else list(differences(before, document))
    if before is None:
        given.store.write_text(json.dumps(document, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    else:
        sys.stdout.writelines(f"{line}\n" for line in found)
    ending = "stored" if before is None else f"{len(found) or 'no'} differences"
    sys.stdout.write(f"{count(document)}: {ending} ({time.monotonic() - started:.0f} s)\n")
    return 1 if found else 0


def measured(run: Run) -> Outcome:
    """Measure one run in a process of the pool; an unexpected exception is an outcome too."""
    try:
        return run.measure()
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


def measure_all() -> Document:
    """Measure every run on all processors."""
    runs = list({(run.section, run.name): run for run in all_runs()}.values())
    document: Document = {}
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for run, outcome in zip(runs, pool.map(measured, runs, chunksize=2), strict=True):
            document.setdefault(run.section, {})[run.name] = outcome
    return document


def differences(before: Document, after: Document) -> Iterator[str]:
    """Yield one line for each table or output that differs, and for each run that only one tree completes."""
    for section in dict.fromkeys((*before, *after)):
        old, new = before.get(section, {}), after.get(section, {})
        for name in dict.fromkeys((*old, *new)):
            first, second = old.get(name, {}), new.get(name, {})
            if first.keys().isdisjoint(second):
                yield f"{section}: {name}: {_brief(first)} -> {_brief(second)}"
                continue
            for part in dict.fromkeys((*first, *second)):
                if first.get(part) != second.get(part):
                    yield f"{section}: {name}: {part}: {_change(first.get(part), second.get(part))}"


def _brief(outcome: Outcome) -> str:
    """Describe an outcome without counterpart in the other tree."""
    return repr(outcome["error"][:SHOWN]) if "error" in outcome else f"{len(outcome)} tables or outputs"


def _change(first: str | None, second: str | None) -> str:
    """Describe a change: both digests, or the first line in which a text differs."""
    if first is None or second is None:
        return "only before" if second is None else "only after"
    if IS_DIGEST(first) and IS_DIGEST(second):
        return f"{first[:12]} -> {second[:12]}"
    lines = zip_longest(first.splitlines(), second.splitlines(), fillvalue="")
    old, new = next(((old, new) for old, new in lines if old != new), ("", ""))
    digests = (sha256(text.encode())[:12] for text in (first, second))
    return f"{' -> '.join(digests)}: {old.strip()[:SHOWN]!r} -> {new.strip()[:SHOWN]!r}"


def count(document: Document) -> str:
    """Count runs with results, their tables, refused runs, and commands."""
    texts = ("commands", "captures")
    runs = [
        outcome
        for section, of_name in document.items()
        if section not in texts
        for outcome in of_name.values()
    ]
    refused = sum("error" in outcome for outcome in runs)
    lines = [outcome for section in texts for outcome in document.get(section, {}).values()]
    files = sum(name.endswith(".parquet") for outcome in lines for name in outcome)
    tables = sum(len(outcome) for outcome in runs if "error" not in outcome)
    return (
        f"{len(runs) - refused} runs, {tables} tables, {refused} refused runs, {len(lines)} commands,"
        f" {files} tables written by commands"
    )


if __name__ == "__main__":
    sys.exit(main())

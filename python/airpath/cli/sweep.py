"""`airpath sweep`."""

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from airpath.cli.output import (
    AllowCodeOption,
    JobsOption,
    JsonOption,
    OutOption,
    show,
    show_json,
    show_json_list,
    tell,
)

if TYPE_CHECKING:
    from airpath.sweeps import SweepPlan, SweepResults

HELP = """\
Finished runs are kept: after Ctrl-C, a crash or a failed run, the same command resumes the sweep.

Examples:

    airpath sweep lte-buffers --dry-run

    airpath sweep my-sweep.toml --out results --jobs 8

    airpath sweep my-sweep.toml --engine dask://scheduler:8786
"""

MOST_ROWS = 40
"""Number of variants printed; `statistics.parquet` has all."""
FAILED = 1


def sweep(
    plan: Annotated[
        str, typer.Argument(help="Sweep file, or name of a shipped sweep (`airpath list sweeps`).")
    ],
    out: OutOption = None,
    jobs: JobsOption = None,
    engine: Annotated[
        str,
        typer.Option(
            help="Execution engine: local, dask://HOST:PORT, ray (this machine), or ray://HOST:PORT."
        ),
    ] = "local",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="List the runs without running them.")] = False,
    _allow_code: AllowCodeOption = False,
    as_json: JsonOption = False,
) -> int:
    """Run a sweep."""
    from airpath.cli.place import claim
    from airpath.sweeps import SweepInterrupted, SweepPlan, default_out
    from airpath.sweeps import sweep as run_sweep
    from airpath.sweeps.running import can_resume

    chosen = SweepPlan.load(plan)
    if dry_run:
        _list(chosen, as_json=as_json)
        return 0
    tell(chosen.summary())
    if out is None:
        out = claim(None, default_out(chosen), resumes=lambda folder: can_resume(chosen, folder))
    try:
        results = run_sweep(chosen, out, jobs=jobs, engine=engine)
    except SweepInterrupted as interrupted:
        tell(
            f"stopped with {interrupted.finished} of {interrupted.asked} runs finished; they are kept, and"
            " the same command resumes the sweep"
        )
        raise
    if as_json:
        show_json(_as_json(results))
    else:
        _show(chosen, results)
    for failure in results.failures:
        where = ", ".join(f"{name} = {value}" for name, value in failure["axes"].items())
        labels = ", ".join(filter(None, (f"scheme {failure['scheme']}", where, f"seed {failure['seed']}")))
        tell(f"run {failure['run']} failed ({labels}): {failure['message']}")
    if results.failures:
        tell(f"{len(results.failures)} of {len(chosen)} runs failed; the same command runs them again")
        return FAILED
    return 0


def _list(plan: "SweepPlan", *, as_json: bool) -> None:
    if as_json:
        show_json_list(_facts(plan, run) for run in plan.runs())
        return
    # Line by line: the list may be very long.
    for run in plan.runs():
        fields = [f"{run.number:>6}", run.scheme, plan.axes.text(run.point), f"seed {run.task.seed}"]
        sys.stdout.write("  ".join(filter(None, fields)) + "\n")
    tell(plan.summary())


def _facts(plan: "SweepPlan", run: Any) -> dict[str, Any]:
    return {
        "run": run.number,
        "scheme": run.scheme,
        "axes": plan.axes.texts(run.point),
        "repetition": run.task.repetition,
        "seed": run.task.seed,
    }


def _as_json(results: "SweepResults") -> dict[str, Any]:
    import math

    rows = [
        {
            key: None if isinstance(value, float) and not math.isfinite(value) else value
            for key, value in row.items()
        }
        for row in results.statistics.to_pylist()
    ]
    return {
        "statistics": rows,
        "failures": results.failures,
        "complete": results.complete,
        "out": str(results.directory),
    }


def _show(plan: "SweepPlan", results: "SweepResults") -> None:
    from itertools import groupby

    from airpath.metrics import METRICS
    from airpath.results.blocks import Blocks
    from airpath.results.formatting import mean_and_half_width
    from airpath.results.terminal import CAPTION

    texts = {
        (axis.column, axis.cell(index)): axis.text(index)
        for axis in plan.axes.axes
        for index in range(len(axis.values))
    }
    statistics = results.statistics.to_pylist()
    labels = [*results.axes, "scheme"]
    variants = [
        (key, {row["metric"]: row for row in rows})
        for key, rows in groupby(statistics, key=lambda row: tuple(row[name] for name in labels))
    ]
    chosen = [name for name in plan.document.metrics if METRICS[name].headline] or plan.document.metrics
    shown = [name for name in chosen if any(rows[name]["n"] for _, rows in variants)]
    rows = variants[:MOST_ROWS]
    titles = (*(axis.name for axis in plan.axes.axes), "scheme")
    about = {
        title: [texts.get((name, key[place]), str(key[place])) for key, _ in rows]
        for place, (title, name) in enumerate(zip(titles, labels, strict=True))
    }
    about["n"] = [str(max((metric["n"] for metric in metrics.values()), default=0)) for _, metrics in rows]
    numbers = {
        METRICS[name].heading: [mean_and_half_width(metrics[name]) for _, metrics in rows] for name in shown
    }
    show(Blocks(about, numbers, CAPTION))
    if len(variants) > MOST_ROWS:
        show(f"and {len(variants) - MOST_ROWS} more in {results.directory / 'statistics.parquet'}")
    show(f"results: {results.directory}")

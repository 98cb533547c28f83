"""Running a sweep: `airpath.sweep`."""

import sys
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pyarrow as pa
import tomli_w

from airpath import _core
from airpath._os.durable import write_whole
from airpath._os.progress import progress_bar, progress_lines
from airpath.errors import OutputError, UsageError
from airpath.results.directory import write_parquet
from airpath.results.origin import origin_of_this_process
from airpath.results.provenance import environment
from airpath.runner import workers
from airpath.sweeps.dataset import remove_tables_of_others, write_dataset
from airpath.sweeps.engine import Engine, open_engine
from airpath.sweeps.folder import SweepFolder
from airpath.sweeps.part import RUNS
from airpath.sweeps.plan import SweepPlan
from airpath.sweeps.results import FAILURES, FORMAT, STATISTICS, SweepResults, read_failures
from airpath.sweeps.statistics import statistics_table
from airpath.sweeps.table_files import fault_of_table
from airpath.sweeps.task import version
from airpath.sweeps.work import Progress, do_runs, missing_runs

REPAIRS = 2
"""Number of times that damaged parts are recomputed before an error is raised."""


class SweepInterrupted(KeyboardInterrupt):
    """A sweep was interrupted (Ctrl-C); finished runs are kept.

    Attributes
    ----------
    finished
        Number of finished runs.
    asked
        Number of all runs.
    """

    def __init__(self, finished: int, asked: int) -> None:
        super().__init__(f"interrupted after {finished} of {asked} runs")
        self.finished = finished
        self.asked = asked


def sweep(
    plan: SweepPlan | str | Path | Mapping[str, Any],
    out: str | Path | None = None,
    *,
    jobs: int | None = None,
    engine: str = "local",
    progress: bool | None = None,
) -> SweepResults:
    """Run a scenario many times, with different values of its keys, and collect the results on disk.

    Each finished run is stored: a sweep that was interrupted or killed continues where it stopped. The bytes
    of the data set do not depend on `jobs`, `engine` or interruptions. Runs execute in other processes, so a
    script that calls this function must protect its code by `if __name__ == "__main__":`.

    Parameters
    ----------
    plan
        The sweep: a plan, the path of a file, the name of a shipped sweep, or nested dictionaries.
    out
        Directory of the data set; by default `out/sweep-NAME`.
    jobs
        Number of worker processes; by default one for each processor. On a cluster: largest number of
        simultaneous runs.
    engine
        `local`; `dask://HOST:PORT`, a scheduler of Dask; `ray`, Ray on this machine; or `ray://HOST:PORT`,
        the head of a Ray cluster.
    progress
        Show a progress bar on standard error. By default, if that is a terminal and the work takes more than
        two seconds; otherwise one line a minute.

    Returns
    -------
    SweepResults
        A handle on the data set. Runs that failed are in its `failures`; the same call tries them again.

    Raises
    ------
    ScenarioError
        If the plan is wrong, or a value of an axis makes the scenario invalid.
    OutputError
        If the directory contains something else, cannot be written, or contains a complete sweep with a
        damaged table.
    UsageError
        If there is no such engine, or its address has another form.
    EngineError
        If the engine cannot continue; finished runs are kept.
    SweepInterrupted
        On Ctrl-C; finished runs are kept.
    """
    if isinstance(plan, Mapping):
        plan = SweepPlan.from_dict(plan)
    elif isinstance(plan, str | Path):
        plan = SweepPlan.load(plan)
    elif not isinstance(plan, SweepPlan):
        raise UsageError(f"plan: found {plan!r}; accepted: a sweep, its tables, a file, or the name of one")
    workers(jobs)
    folder = SweepFolder(Path(out) if out is not None else default_out(plan))
    identity = _identity(plan)
    # Opened before anything is written, because this finds most mistakes about a cluster.
    needed = nullcontext() if folder.is_complete(identity) else open_engine(engine, jobs)
    with needed as opened, folder.opened(identity) as complete:
        if complete:
            _mend(plan, folder)
        elif opened is not None:
            _work(plan, folder, identity, engine, opened, progress)
    return SweepResults(folder.path)


def default_out(plan: SweepPlan) -> Path:
    """Return the default directory of the data set."""
    return Path("out") / f"sweep-{plan.document.name}"


def can_resume(plan: SweepPlan, out: Path) -> bool:
    """Return whether a directory contains this sweep, complete or not, or another that is unfinished."""
    if not out.is_dir() or not any(out.iterdir()):
        return False
    try:
        SweepFolder(out).is_complete(_identity(plan))
    except OutputError:
        return False
    return True


def _identity(plan: SweepPlan) -> dict[str, Any]:
    """Return everything that determines the data set of a sweep."""
    return {
        "sweep_sha256": plan.digest,
        "inputs_sha256": plan.inputs_digest,
        "computed_by_sha256": version(),
        "runs": len(plan),
        "axes": [axis.column for axis in plan.axes.axes],
    }


def _work(
    plan: SweepPlan,
    folder: SweepFolder,
    identity: Mapping[str, Any],
    engine_name: str,
    engine: Engine,
    shown: bool | None,
) -> None:
    progress = Progress(len(plan))
    title = f"{len(plan)} run{'s' if len(plan) > 1 else ''}"

    def show(share: float) -> None:
        on_bar(share)
        on_lines(share)

    def on_stall(why: str) -> None:
        if shown is not False:
            _say(why)

    try:
        with (
            progress_bar(title, shown) as on_bar,
            progress_lines(shown, lambda: f"{progress.finished} of {title}", _say) as on_lines,
        ):
            missing = missing_runs(plan, folder.parts, progress)
            do_runs(missing, engine, folder.parts, progress, show, on_stall)
            if plan.inputs_digest != identity["inputs_sha256"]:
                raise OutputError(
                    f"{folder.path}: an input changed during the sweep; the same command repeats the affected"
                    " runs"
                )
            inputs = _dataset(plan, folder, engine, progress, identity)
    except KeyboardInterrupt:
        raise SweepInterrupted(progress.kept + progress.done, progress.total) from None
    remove_tables_of_others(plan, folder.path)
    _describe(plan, folder, progress, inputs, engine_name)
    # Written last, after everything else is on disk.
    folder.write_state(identity, complete=not progress.failures)


def _say(line: str) -> None:
    sys.stderr.write(f"airpath: {line}\n")
    sys.stderr.flush()


def _dataset(
    plan: SweepPlan, folder: SweepFolder, engine: Engine, progress: Progress, identity: Mapping[str, Any]
) -> dict[str, str]:
    facts = {
        "format": FORMAT,
        "airpath": _core.__version__,
        "scenario_sha256": plan.scenario_digest,
        **identity,
    }
    for _ in range(1 + REPAIRS):
        damaged, inputs = write_dataset(plan, folder.parts, folder.path, progress.failures, facts)
        if not damaged:
            return inputs
        do_runs(iter(damaged), engine, folder.parts, progress, lambda _: None)
    raise OutputError(f"{folder.path / 'parts'}: files of finished runs cannot be read")


def _describe(
    plan: SweepPlan, folder: SweepFolder, progress: Progress, inputs: Mapping[str, str], engine: str
) -> None:
    """Write the files that accompany the tables."""
    _write_statistics(plan, folder)
    write_whole(folder.path / "sweep.toml", tomli_w.dumps(plan.tables).encode())
    write_whole(folder.path / "scenario.toml", plan.base_content)
    failures = [
        {
            "run": number,
            "scheme": run.scheme,
            "axes": plan.axes.texts(run.point),
            "seed": run.task.seed,
            "message": message,
        }
        for number, (run, message) in sorted(progress.failures.items())
    ]
    folder.write_json(FAILURES, {"failures": failures})
    origin = origin_of_this_process()
    facts = {
        "format": FORMAT,
        **environment(origin),
        "engine": engine,
        "sha256": {
            "sweep": plan.digest,
            "scenario": plan.scenario_digest,
            "computed_by": version(),
            "inputs": dict(sorted(inputs.items())),
        },
        **({"outside": plan.outside} if plan.outside else {}),
    }
    folder.write_json("provenance.json", facts)


def _write_statistics(plan: SweepPlan, folder: SweepFolder) -> None:
    columns = [axis.column for axis in plan.axes.axes]
    statistics = statistics_table(folder.path / f"{RUNS}.parquet", columns, plan.document.metrics)
    content = pa.BufferOutputStream()
    write_parquet(statistics, content)
    write_whole(folder.path / f"{STATISTICS}.parquet", content.getvalue().to_pybytes())


def _mend(plan: SweepPlan, folder: SweepFolder) -> None:
    """Rewrite the files that follow from the tables of a complete sweep, whose parts no longer exist.

    Raises
    ------
    OutputError
        If a table itself is missing or damaged.
    """
    for name in (RUNS, *plan.document.keep):
        if fault := fault_of_table(folder.path / f"{name}.parquet", pages=True):
            raise OutputError(
                f"{fault}; the sweep is complete, but its runs are no longer stored: remove {folder.path}, or"
                " choose another directory with --out, to run it anew"
            )
    if fault_of_table(folder.path / f"{STATISTICS}.parquet", pages=True):
        _write_statistics(plan, folder)
    try:
        read_failures(folder.path)
    except OutputError:
        folder.write_json(FAILURES, {"failures": []})

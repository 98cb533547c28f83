"""Results to a directory, all or nothing."""

import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from airpath.errors import OutputError
from airpath.results.columns import TABLES
from airpath.results.provenance import Origin, plan_text, provenance
from airpath.results.results import Results
from airpath.results.terminal import summary_json


def write(
    results: Results,
    out_dir: str | os.PathLike[str],
    *,
    scenario_text: str,
    origin: Origin,
    figures: bool = True,
    report: bool = True,
) -> Path:
    """Write results: tables, summary, scenario, plans, provenance, captures, figures and report.

    Everything is written beside `out_dir` first and then renamed, so a reader sees the whole directory or
    none. Earlier results at `out_dir` are replaced; a directory that holds anything else is left alone.

    Parameters
    ----------
    results
        What to write.
    out_dir
        The directory to make.
    scenario_text
        The scenario as its author wrote it.
    origin
        Where the results come from.
    figures, report
        Whether to draw figures and to write ``report.html``.

    Returns
    -------
    pathlib.Path
        The directory.

    Raises
    ------
    airpath.errors.OutputError
        If the directory holds something other than airpath results, or cannot be written.
    """
    out = Path(os.path.abspath(out_dir))  # noqa: PTH100 - resolve() would follow a link
    _refuse_foreign(out)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(prefix=f".{out.name}.partial-", dir=out.parent))
    except OSError as error:
        raise OutputError(f"cannot write to {out.parent}: {error.strerror or error}") from error
    try:
        partial.chmod(0o755)  # mkdtemp makes private directories
        _write_all(results, partial, scenario_text, origin, figures=figures, report=report)
        _put_in_place(partial, out)
    except OSError as error:
        raise OutputError(f"cannot write results to {out}: {error.strerror or error}") from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return out


def is_results(directory: Path) -> bool:
    """Whether a directory holds airpath results."""
    try:
        content = json.loads((directory / "provenance.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(content, dict) and str(content.get("format", "")).startswith("airpath results ")


def _refuse_foreign(out: Path) -> None:
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise OutputError(f"{out} is a file or a symbolic link; choose another directory")
    try:
        foreign = out.is_dir() and any(out.iterdir()) and not is_results(out)
    except OSError as error:
        raise OutputError(f"cannot read {out}: {error.strerror or error}") from error
    if foreign:
        raise OutputError(f"{out} is not empty and holds no airpath results; choose another directory")


def _write_all(
    results: Results, directory: Path, scenario_text: str, origin: Origin, *, figures: bool, report: bool
) -> None:
    for name, description in TABLES.items():
        table = results.table(name)
        if not description.optional or table.num_rows:
            _write_parquet(table, directory / f"{name}.parquet")
    _write_parquet(results.summary, directory / "summary.parquet")
    pyarrow.csv.write_csv(_nan_to_null(results.summary), directory / "summary.csv")
    _write_json(summary_json(results.summary), directory / "summary.json")
    (directory / "scenario.toml").write_text(scenario_text, encoding="utf-8", newline="")
    _write_json(_plans(results), directory / "plan.json")
    facts = provenance(results, scenario_text, origin)
    _write_json(facts, directory / "provenance.json")
    for number, run in enumerate(results.runs):
        if run.record.capture is not None:
            (directory / "captures").mkdir(exist_ok=True)
            (directory / "captures" / f"run-{number:04}.pcapng").write_bytes(run.record.capture)
    if not (figures or report):
        return
    from airpath.plots import save_figures, standard_figures  # here, because matplotlib is slow to import
    from airpath.report import report_html

    drawn = standard_figures(results)
    if figures:
        save_figures(drawn, directory / "figures")
    if report:
        html = report_html(results, scenario_text=scenario_text, provenance=facts, figures=drawn)
        (directory / "report.html").write_text(html, encoding="utf-8", newline="")


def _write_parquet(table: pa.Table, path: Path) -> None:
    """Zstandard, and nothing in the file but the table: equal tables give equal bytes."""
    pq.write_table(table.combine_chunks(), path, compression="zstd")


def _nan_to_null(table: pa.Table) -> pa.Table:
    """NaN means no value; in CSV an empty field says so to every reader."""
    return pa.table({name: pa.array(table[name].to_numpy(), from_pandas=True) for name in table.column_names})


def _plans(results: Results) -> dict[str, Any]:
    """Collect the runs' labels and plans; equal plans are kept once."""
    texts = list(dict.fromkeys(plan_text(run.record.plan) for run in results.runs))
    return {
        "plans": [json.loads(text) for text in texts],
        "runs": [
            {
                "scheme": run.record.scheme,
                "scenario_name": run.record.scenario_name,
                "repetition": run.record.repetition,
                "seed": run.record.seed,
                "plan": texts.index(plan_text(run.record.plan)),
                "capture": f"captures/run-{number:04}.pcapng" if run.record.capture is not None else None,
                "flow_schemes": dict(run.record.flow_schemes),
                "flow_groups": dict(run.record.flow_groups),
                "quantities": list(run.record.quantities),
            }
            for number, run in enumerate(results.runs)
        ],
    }


def _write_json(content: Any, path: Path) -> None:
    text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8", newline="")


def _put_in_place(partial: Path, out: Path) -> None:
    """Rename; earlier results step aside first and come back if that fails."""
    if not out.exists():
        partial.rename(out)
        return
    earlier = Path(tempfile.mkdtemp(prefix=f".{out.name}.earlier-", dir=out.parent))
    try:
        out.rename(earlier / out.name)
        try:
            partial.rename(out)
        except OSError:
            (earlier / out.name).rename(out)
            raise
    finally:
        shutil.rmtree(earlier, ignore_errors=True)

"""Writing results to a directory, completely or not at all."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pyarrow as pa

from airpath.results.columns import TABLES
from airpath.results.directory import write_directory, write_json, write_parquet
from airpath.results.provenance import Origin, plan_text, provenance
from airpath.results.qlog import qlog_files, qlog_name
from airpath.results.results import ESTIMATOR_ERRORS, Results
from airpath.results.terminal import summary_json


def write(
    results: Results,
    out_dir: str | os.PathLike[str],
    *,
    scenario_text: str,
    origin: Origin,
    files: Mapping[str, Any] = MappingProxyType({}),
) -> Path:
    """Write results: tables, summary, scenario, plans, provenance, captures and code.

    The directory is written under another name and then renamed, so a reader sees all of it or nothing.
    Earlier results at `out_dir` are replaced; a directory with other content is left unchanged.
    `airpath.explorer.writing.write_report` adds the report.

    Parameters
    ----------
    results
        The results.
    out_dir
        The directory to write.
    scenario_text
        The scenario as its author wrote it.
    origin
        The provenance of the results.
    files
        More files: name and content, written as JSON.

    Returns
    -------
    pathlib.Path
        The directory.

    Raises
    ------
    airpath.errors.OutputError
        If the directory contains something other than airpath results, or cannot be written.
    """

    def write_all(directory: Path) -> None:
        _write_tables(results, directory)
        (directory / "scenario.toml").write_text(scenario_text, encoding="utf-8", newline="")
        write_json(_plans(results), directory / "plan.json")
        write_json(provenance(results, scenario_text, origin), directory / "provenance.json")
        _write_packets(results, directory)
        for name, source in origin.code.items():
            file = directory / "code" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(source)
        for name, content in files.items():
            write_json(content, directory / name)

    return write_directory(out_dir, write_all)


def _write_tables(results: Results, directory: Path) -> None:
    import pyarrow.csv  # imported here because it is slow to import

    for name, description in TABLES.items():
        table = results.table(name)
        if not description.optional or table.num_rows:
            write_parquet(table, directory / f"{name}.parquet")
    if (errors := results.table(ESTIMATOR_ERRORS)).num_rows:
        write_parquet(errors, directory / f"{ESTIMATOR_ERRORS}.parquet")
    write_parquet(results.summary, directory / "summary.parquet")
    pyarrow.csv.write_csv(_nan_to_null(results.summary), directory / "summary.csv")
    write_json(summary_json(results.summary), directory / "summary.json")


def _write_packets(results: Results, directory: Path) -> None:
    for number, run in enumerate(results.runs):
        if run.record.capture is not None:
            (directory / "captures").mkdir(exist_ok=True)
            (directory / "captures" / f"run-{number:04}.pcapng").write_bytes(run.record.capture)
    for name, content in qlog_files(results).items():
        (directory / "qlog").mkdir(exist_ok=True)
        (directory / "qlog" / name).write_bytes(content)


def _nan_to_null(table: pa.Table) -> pa.Table:
    """NaN means no value; in CSV, an empty field is the convention for that."""
    return pa.table({name: pa.array(table[name].to_numpy(), from_pandas=True) for name in table.column_names})


def _plans(results: Results) -> dict[str, Any]:
    """Collect the runs' labels, plans and scenarios; equal ones are kept once."""
    texts = list(dict.fromkeys(plan_text(run.record.plan) for run in results.runs))
    scenarios = list(dict.fromkeys(run.record.scenario for run in results.runs if run.record.scenario))
    return {
        "plans": [json.loads(text) for text in texts],
        "scenarios": [{"text": scenario.text, "folder": scenario.folder} for scenario in scenarios],
        "runs": [
            {
                "scheme": run.record.scheme,
                "scenario_name": run.record.scenario_name,
                "repetition": run.record.repetition,
                "seed": run.record.seed,
                "plan": texts.index(plan_text(run.record.plan)),
                "scenario": scenarios.index(run.record.scenario) if run.record.scenario else None,
                "capture": f"captures/run-{number:04}.pcapng" if run.record.capture is not None else None,
                "qlogs": {str(flow): f"qlog/{qlog_name(number, flow)}" for flow in sorted(run.record.qlogs)},
                "flow_schemes": dict(run.record.flow_schemes),
                "flow_groups": dict(run.record.flow_groups),
                "quantities": list(run.record.quantities),
            }
            for number, run in enumerate(results.runs)
        ],
    }

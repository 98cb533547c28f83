"""Write ``docs/reference/results.md``, the users' reference of files, tables, columns and metrics.

Run as a module with the file to write: ``python -m airpath.results.documentation docs/reference/results.md``.
"""

import sys
from pathlib import Path

from airpath.metrics import BINS, ERRORS, EXCLUDED, METRICS, SCOPE, Metric, errors_schema
from airpath.results.columns import FLOW_LABELS, LINK_LABELS, RUN_LABELS, TABLES, TableDescription
from airpath.results.observations import FLOW_OBSERVATIONS, OBSERVATIONS


def reference() -> str:
    """Return the whole page, as Markdown."""
    parts = [
        _OPENING,
        _labels(),
        *(_table(table) for table in TABLES.values()),
        _errors(),
        _metrics(),
    ]
    return "\n".join(parts)


_OPENING = """# Results

<!-- Made from the package: python -m airpath.results.documentation docs/reference/results.md -->

The results of a run are tables. A command writes all of them to a directory, or none, and then adds the
report and the figures. [Compatibility](compatibility.md) states what may change; [Metrics](metrics.md)
explains the summary.

| file | content |
|---|---|
| `flows.parquet`, `links.parquet`, … | the tables below of all runs, one file each (Zstandard, or Snappy) |
| `estimator_errors.parquet` | the errors below of ACK-rate estimators, if flows have any |
| `summary.parquet`, `summary.csv` | the metrics below, one row for each run |
| `summary.json` | for each scheme mean, standard deviation, n and 95 % confidence interval; the runs |
| `scenario.toml` | the scenario as written |
| `plan.json` | the resolved scenario of each run, and the scenario and changes from which it was made |
| `provenance.json` | versions, platform, command line, seeds; SHA-256 of all files read or stored |
| `captures/run-0000.pcapng`, … | packets of each run (headers) at the links that `record.capture` names |
| `qlog/run-0000-flow-0000.sqlog`, … | with `record.qlog` [logs of flows](../how-to/qlog.md) |
| `report.html` | an interactive [page](../how-to/report.md) without other files; not with `--no-report` |
| `figures/*.png`, `figures/*.svg` | figures, with `--figures` or by `airpath figures DIR`; `captions.txt` |

The default directory is named after the command and its subject: `out/compare-12mbps`, then
`out/compare-12mbps-2`. `out/latest` is a symbolic link to the newest. A command rejects a directory in
`--out` that is not empty, unless `--force` allows it to replace the airpath results there; a sweep and
`airpath reproduce` resume their own unfinished directory.

Equal runs give equal bytes in every table. Times count from the start of the run; the *measured interval* is
from the end of the warm-up (`measure_from`) to the end of the run. A missing number is NaN in tables, empty
in CSV and null in JSON. 1 kB is 1000 bytes, 1 Mbit/s is 10⁶ bits per second.
"""

_ABOUT_ERRORS = f"""\
Each row is one ACK-rate estimator of a flow of one run; without estimators there is no file. An estimate is
compared with the capacity of the link at which the flow is measured, times the share of payload in a full
packet. Both are averages over {BINS} of the measured interval;
{EXCLUDED}.
Flows that share a link estimate their share of it, and no estimator observes unused capacity.
"""

_SHARED = {
    "flow": ("tables about flows", "flows"),
    "link": ("tables about links", "links"),
    "time_s": ("tables with a row for each interval", "flow_series"),
}
"""Columns with one meaning in several tables: where they are, and a table that describes them."""


def _labels() -> str:
    lines = ["## Columns of several tables", "", "The front end adds all of them but the last three.", ""]
    lines += ["| column | in | meaning |", "|---|---|---|"]
    for where, labels in (
        ("every table", RUN_LABELS),
        ("tables with a `link`", LINK_LABELS),
        ("tables with a `flow`", FLOW_LABELS),
    ):
        lines += [f"| `{name}` | {where} | {text} |" for name, _, text in labels]
    lines += [f"| `{name}` | {where} | {_shared(name)} |" for name, (where, _) in _SHARED.items()]
    return "\n".join([*lines, ""])


def _shared(name: str) -> str:
    columns = TABLES[_SHARED[name][1]].columns
    return next(column.description for column in columns if column.name == name)


_QUANTITIES = {
    "link_observations": ("managed queues, router protocols and capacity sources", OBSERVATIONS),
    "flow_observations": ("the controller", FLOW_OBSERVATIONS),
}


def _table(table: TableDescription) -> str:
    lines = [f"## {table.name}", "", f"Each row is {table.rows}.", ""]
    lines += ["| column | unit | meaning |", "|---|---|---|"]
    for column in table.columns:
        if column.name in _SHARED and column.description == _shared(column.name):
            continue
        names = f": {', '.join(f'`{name}`' for name in column.names)}" if column.names else ""
        lines.append(f"| `{column.name}` | {column.unit} | {column.description}{names} |")
    if any(column.names_of_run == "quantities" for column in table.columns):
        whose, quantities = _QUANTITIES[table.name]
        lines += ["", f"The quantities, which depend on {whose}:", ""]
        lines += ["| quantity | unit | meaning |", "|---|---|---|"]
        lines += [f"| `{one.name}` | {one.unit} | {one.description} |" for one in quantities.values()]
    return "\n".join([*lines, ""])


def _errors() -> str:
    schema = errors_schema(TABLES["flow_estimates"].schema)
    lines = ["## estimator_errors", "", _ABOUT_ERRORS, "| column | unit | meaning |", "|---|---|---|"]
    for name in ("estimator", "bins", *ERRORS):
        about = {key.decode(): text.decode() for key, text in schema.field(name).metadata.items()}
        lines.append(f"| `{name}` | {about['unit']} | {about['description']} |")
    return "\n".join([*lines, ""])


def _metrics() -> str:
    lines = ["## summary", "", f"One row for each run. {SCOPE}", ""]
    lines += ["| column | unit | definition |", "|---|---|---|"]
    lines += [f"| `{m.name}` | {m.unit} | {m.title}: {_definition(m)} |" for m in METRICS.values()]
    return "\n".join([*lines, ""])


def _definition(metric: Metric) -> str:
    """Return the definition of a metric, or a reference to the column above from which it is computed."""
    column = metric.name.removeprefix("bandwidth_estimate_")
    if column == metric.name:
        return metric.definition
    return (
        f"mean of `{column}` of [estimator_errors](#estimator_errors) over the flows under test, for"
        " controllers that estimate the bandwidth"
    )


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(reference(), encoding="utf-8", newline="")

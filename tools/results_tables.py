"""The reference of the columns of every table of the results, and of the metrics."""

from airpath.metrics import BINS, ERRORS, EXCLUDED, METRICS, SCOPE, Metric, errors_schema
from airpath.results.columns import FLOW_LABELS, LINK_LABELS, RUN_LABELS, TABLES, TableDescription
from airpath.results.observations import FLOW_OBSERVATIONS, OBSERVATIONS


def result_columns() -> str:
    """Return the columns and their meaning, as sections of a page in Markdown."""
    return "\n".join([_labels(), *(_table(table) for table in TABLES.values()), _errors(), _metrics()])


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

"""Engine columns become named, documented tables, and inconsistent ones are refused."""

import numpy as np
import pyarrow as pa
import pytest

from airpath.results import TABLES, Results, RunResult

from .synthetic import CUBIC, RENO, encode, flow, plan, small_record, small_tables


@pytest.mark.parametrize("name", TABLES)
def test_every_table_has_its_documented_schema(name: str) -> None:
    table = RunResult(small_record()).table(name)
    assert table.schema.equals(TABLES[name].schema, check_metadata=True)
    for field in table.schema:
        assert field.metadata[b"description"]
        assert b"unit" in field.metadata


def test_numbers_are_views_of_the_engines_arrays() -> None:
    tables = small_tables()
    run = RunResult(small_record(tables=tables))
    for column in ("departed_bytes", "cwnd_bytes"):
        data = tables["flow_series"][column]
        assert run.flow_series[column].chunk(0).buffers()[1].address == pa.py_buffer(data).address


def test_indices_and_codes_become_names() -> None:
    run = RunResult(small_record(flow_groups={"two": "late"}))
    assert run.flows["source_name"].to_pylist() == ["one", "two", "noise"]
    assert run.flows["flow_scheme"].to_pylist() == ["cubic", "cubic", None]
    assert run.flows["group"].to_pylist() == ["cubic", "late", "noise"]
    assert run.drops.select(["link_name", "source_name", "reason"]).to_pylist() == [
        {"link_name": "down", "source_name": "one", "reason": "overflow"},
        {"link_name": "down", "source_name": "two", "reason": "corruption"},
    ]
    assert run.flow_events["event"].to_pylist() == ["loss", "timeout"]
    assert run.flow_series["phase"].to_pylist()[:3] == ["slow start", "slow start", "congestion avoidance"]
    assert run.delay_histogram["source_name"].to_pylist() == ["one"] * 3 + ["two"] * 3 + ["noise"]
    assert set(run.delay_histogram["kind"].to_pylist()) == {"one-way", "queueing"}


def test_the_largest_seed_survives() -> None:
    assert RunResult(small_record(seed=2**64 - 1)).flows["seed"].to_pylist() == [2**64 - 1] * 3


def test_competing_controllers_are_named_by_kind_unless_the_scenario_names_them() -> None:
    sources = [flow("one", CUBIC), flow("two", RENO), flow("noise", None)]
    record = small_record(scheme="mixed", plan=plan(sources))
    assert record.source_schemes == ["cubic", "newreno", None]
    named = small_record(scheme="mixed", plan=plan(sources), flow_schemes={"two": "reno"})
    assert named.source_schemes[1] == "reno"
    assert small_record(scheme="cubic-2008").source_schemes[:2] == ["cubic-2008"] * 2


def test_runs_are_stacked_in_order() -> None:
    results = Results.from_records([small_record(scheme, n, n) for scheme in ("a", "b") for n in range(2)])
    assert results.schemes == ("a", "b")
    assert results.flows["scheme"].to_pylist() == ["a"] * 6 + ["b"] * 6
    assert results.flows["repetition"].to_pylist() == ([0] * 3 + [1] * 3) * 2
    assert results.summary.num_rows == 4
    assert results.run("b", 1).record.seed == 1
    assert results.packets.num_rows == 0


def test_a_scheme_and_repetition_occurs_once() -> None:
    with pytest.raises(ValueError, match="twice"):
        Results.from_records([small_record(), small_record()])


def test_no_runs_give_empty_tables() -> None:
    results = Results([])
    assert all(results.table(name).num_rows == 0 for name in [*TABLES, "summary"])


def test_data_frames_hold_the_same_rows() -> None:
    run = RunResult(small_record())
    assert run.to_pandas("drops")["reason"].tolist() == ["overflow", "corruption"]
    assert run.to_polars("drops")["bytes"].to_list() == [1500, 1500]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_library_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, library: str) -> None:
    monkeypatch.setattr("airpath.results.results.find_spec", lambda _name: None)
    with pytest.raises(ModuleNotFoundError, match=f"pip install {library}"):
        getattr(RunResult(small_record()), f"to_{library}")("drops")


def test_the_notebook_view_is_escaped() -> None:
    html = RunResult(small_record(scheme="<script>"))._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html


def broken(table: str, column: str | None, value: np.ndarray | None) -> dict[str, dict[str, np.ndarray]]:
    tables = small_tables()
    if column is None:
        tables[table] = {}
    elif value is None:
        del tables[table][column]
    else:
        tables[table][column] = value
    return tables


def whole(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int64)


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        (broken("flows", "departed_bytes", None), "departed_bytes"),
        (broken("flows", "colour", whole(1, 2, 3)), "colour"),
        (broken("nonsense", None, None), "nonsense"),
        (broken("drops", "bytes", np.zeros(2)), "float64, not int64"),
        (broken("drops", "bytes", whole(1)), "length"),
        (broken("drops", "flow", whole(0, 3)), "outside"),
        (broken("drops", "reason", whole(0, 3)), "outside"),
        (broken("drops", "link", whole(0, -1)), "outside"),
        (broken("flows", "source", whole(0, 1, 3)), "outside"),
        (broken("flows", "flow", whole(0, 1, 3)), "row number"),
    ],
)
def test_unsound_engine_tables_are_rejected(tables: dict[str, dict[str, np.ndarray]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        dict(RunResult(small_record(tables=tables)).tables)


def test_only_requested_tables_are_joined() -> None:
    run = RunResult(small_record(tables=broken("drops", "flow", whole(0, 3))))
    assert run.flows.num_rows == 3
    assert "drops" in run.tables
    assert "packets" not in run.tables
    with pytest.raises(ValueError, match="outside"):
        _ = run.drops


def test_absent_tables_are_empty() -> None:
    run = RunResult(small_record(tables={"flows": encode("flows", {})}))
    assert run.link_series.num_rows == 0

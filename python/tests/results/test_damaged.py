"""Files of results that another program wrote, or that were corrupted: an error of airpath, or no value."""

import math
from pathlib import Path

import pyarrow as pa
import pytest

from airpath.errors import OutputError
from airpath.results import Origin, Results
from airpath.results.directory import is_results, read_parquet, write_parquet
from airpath.results.reading import read
from airpath.results.writing import write
from airpath.sweeps.results import FAILURES, STATE, read_failures, read_state

from .synthetic import small_record

PROVENANCE = '{"format": "airpath results 1", "runs": []}'


@pytest.mark.parametrize("content", ["[" * 100_000, '{"a": ' * 100_000, "", "\x00", "7", "[]", "null"])
def test_invalid_records_are_none(tmp_path: Path, content: str) -> None:
    for name in ("provenance.json", "plan.json", STATE, FAILURES):
        (tmp_path / name).write_text(content)
    assert not is_results(tmp_path)
    assert read_state(tmp_path) == {}
    with pytest.raises(OutputError):
        read(tmp_path)
    with pytest.raises(OutputError):
        read_failures(tmp_path)


CHANGES = {
    "the column goodput_bytes is missing": lambda table: table.drop_columns("goodput_bytes"),
    "the column goodput_bytes is of string; accepted: int64": lambda table: table.set_column(
        table.schema.get_field_index("goodput_bytes"),
        "goodput_bytes",
        table["goodput_bytes"].cast(pa.string()),
    ),
}


@pytest.mark.parametrize(("said", "change"), CHANGES.items())
def test_a_complete_table_with_other_columns_is_rejected(tmp_path: Path, said, change) -> None:
    file = _written(tmp_path) / "flows.parquet"
    write_parquet(change(read_parquet(file)), file)
    with pytest.raises(OutputError, match=rf"flows\.parquet: {said}"):
        read(tmp_path / "results")


@pytest.mark.parametrize(
    ("name", "column", "value", "accepted"),
    [
        ("flows", "goodput_bytes", -1, "found -1; accepted: 0 to 9.0072e+15"),
        ("flows", "goodput_bytes", 2**62, "found 4611686018427387904; accepted: 0 to 9.0072e+15"),
        ("flows", "goodput_bytes", None, "found null; accepted: 0 to 9.0072e+15"),
        ("flows", "delay_mean_s", math.inf, "found inf; accepted: 0 to 9e+09, or NaN where there is none"),
        ("flows", "srtt_s", -1e-3, "found -0.001; accepted: 0 to 9e+09, or NaN where there is none"),
        ("flows", "timeouts", None, "found null; accepted: 0 to 9.0072e+15"),
        ("flows", "recoveries", -7, "found -7; accepted: 0 to 9.0072e+15, or null where nobody knows"),
        ("flow_series", "time_s", math.inf, "found inf; accepted: 0 to 9e+09"),
        ("flow_series", "time_s", math.nan, "found nan; accepted: 0 to 9e+09"),
        ("flow_series", "time_s", 1e300, "found 1e+300; accepted: 0 to 9e+09"),
        ("link_series", "queue_mean_bytes", 1e300, "found 1e+300; accepted: 0 to 1e+30, or NaN where there"),
        ("link_series", "offered_bytes", -math.inf, "found -inf; accepted: 0 to 1e+30, or NaN where there"),
        ("delay_histogram", "packets", -5, "found -5; accepted: 0 to 9.0072e+15"),
    ],
)
def test_an_impossible_number_is_rejected_with_its_position(
    tmp_path: Path, name: str, column: str, value: float | None, accepted: str
) -> None:
    file = _written(tmp_path) / f"{name}.parquet"
    table = read_parquet(file)
    row = table.num_rows - 1
    values = [*table[column].to_pylist()[:row], value]
    place = table.schema.get_field_index(column)
    write_parquet(table.set_column(place, column, pa.array(values, table[column].type)), file)
    with pytest.raises(OutputError) as refused:
        read(file.parent)
    assert str(refused.value).startswith(f"{file}: the column {column}, row {row} (from 0): {accepted}")


@pytest.mark.parametrize(
    ("name", "column"), [("flows", "source"), ("delay_histogram", "source"), ("drops", "link")]
)
def test_an_index_beyond_the_plan_is_rejected(tmp_path: Path, name: str, column: str) -> None:
    file = _written(tmp_path) / f"{name}.parquet"
    table = read_parquet(file)
    values = [*table[column].to_pylist()[:-1], 9]
    place = table.schema.get_field_index(column)
    write_parquet(table.set_column(place, column, pa.array(values, table[column].type)), file)
    with pytest.raises(
        OutputError, match=rf"{name}\.parquet: the column {column}, run .*/0: found 9; accepted: 0 to"
    ):
        read(file.parent)


def test_unknown_values_are_valid(tmp_path: Path) -> None:
    folder = _written(tmp_path)
    for name, columns in {"flows": ("recoveries", "srtt_s"), "link_series": ("offered_bytes",)}.items():
        table = read_parquet(folder / f"{name}.parquet")
        for column in columns:
            place, kind = table.schema.get_field_index(column), table[column].type
            nothing = pa.array([math.nan if kind == pa.float64() else None] * table.num_rows, kind)
            table = table.set_column(place, column, nothing)
        write_parquet(table, folder / f"{name}.parquet")
    assert read(folder).summary.num_rows == 1


def _written(tmp_path: Path) -> Path:
    results, origin = Results.from_records([small_record()]), Origin("2026-11-20T12:00:00Z", ["airpath"], {})
    write(results, tmp_path / "results", scenario_text="", origin=origin)
    return tmp_path / "results"

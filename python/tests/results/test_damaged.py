"""Files of results that somebody else wrote, or that were damaged: an error of ours, or nothing known."""

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
def test_what_is_no_record_is_none(tmp_path: Path, content: str) -> None:
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
def test_a_whole_table_with_other_columns_is_refused(tmp_path: Path, said, change) -> None:
    results, origin = Results.from_records([small_record()]), Origin("2026-11-20T12:00:00Z", ["airpath"], {})
    write(results, tmp_path / "results", scenario_text="", origin=origin, figures=False, report=False)
    file = tmp_path / "results" / "flows.parquet"
    write_parquet(change(read_parquet(file)), file)
    with pytest.raises(OutputError, match=rf"flows\.parquet: {said}"):
        read(tmp_path / "results")

"""Results on disk: complete, equal for equal runs, and all or nothing."""

import json
import math
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from airpath.errors import OutputError
from airpath.explorer.writing import write_report
from airpath.results import TABLES, Origin, Results, read, write, writing

from .router import router_record
from .synthetic import encode, small_record, small_tables

SCENARIO = '[link]\nname = "päth"\r\n'
ORIGIN = Origin(created="2026-11-20T12:00:00Z", command_line=["airpath", "run"], inputs={"trace": b"1\n2\n"})


@pytest.fixture
def results() -> Results:
    packets = {
        **small_tables(),
        "packets": encode("packets", {"flow": [0, 1], "sent_s": [1.0, 1.1], "received_s": [1.2, 1.3]}),
        "flow_estimates": encode(
            "flow_estimates", {"flow": [0, 1], "time_s": [1, 2], "estimate_bps": [5e6, 6e6]}
        ),
        "flow_limits": encode(
            "flow_limits", {"flow": [0, 1], "time_s": [1, 2], "recovery": [0.2, 0.0], "pacing": [0.8, 1.0]}
        ),
        "estimate_samples": encode(
            "estimate_samples", {"flow": [0, 1], "time_s": [1, 2], "sample_bps": [5e6, 6e6]}
        ),
    }
    return Results.from_records(
        [
            small_record("cubic", 0, 7, capture=b"captured", qlogs={1: b"log"}, flow_groups={"two": "late"}),
            small_record("cubic", 1, 8, tables={"flows": encode("flows", {})}),
            small_record("reno", 0, 7, tables=packets, wall_s=math.nan),
            router_record(),
        ]
    )


def write_plainly(results: Results, out: Path) -> Path:
    return write(results, out, scenario_text=SCENARIO, origin=ORIGIN)


def write_and_report(results: Results, out: Path) -> Path:
    write_report(results, write_plainly(results, out))
    return out


def without_nan(table: pa.Table) -> list[dict[str, object]]:
    return [
        {k: None if isinstance(v, float) and v != v else v for k, v in row.items()}
        for row in table.to_pylist()
    ]


def tree(directory: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()
    }


def test_written_results_are_read_back(results: Results, tmp_path: Path) -> None:
    back = read(write_plainly(results, tmp_path / "deep" / "out"))
    assert len(back.runs) == 4
    for name in [*TABLES, "summary"]:
        assert back.table(name).schema.equals(results.table(name).schema, check_metadata=True), name
        assert without_nan(back.table(name)) == without_nan(results.table(name)), name
    for mine, theirs in zip(back.runs, results.runs, strict=True):
        assert (mine.record.scheme, mine.record.seed, mine.record.plan) == (
            theirs.record.scheme,
            theirs.record.seed,
            theirs.record.plan,
        )
        assert mine.record.capture == theirs.record.capture
        assert mine.record.qlogs == theirs.record.qlogs
        assert tuple(mine.record.quantities) == tuple(theirs.record.quantities)
        for name in TABLES:
            assert without_nan(mine.table(name)) == without_nan(theirs.table(name)), name


def test_every_promised_file_exists_and_equal_results_produce_equal_bytes(
    results: Results, tmp_path: Path
) -> None:
    out = write_and_report(results, tmp_path / "out")
    files = set(tree(out))
    tables = {f"{name}.parquet" for name in [*TABLES, "summary"]}
    others = {"summary.json", "summary.csv", "scenario.toml", "plan.json", "provenance.json", "report.html"}
    assert tables | others | {"captures/run-0000.pcapng", "qlog/run-0000-flow-0001.sqlog"} <= files
    assert (out / "scenario.toml").read_bytes() == SCENARIO.encode()
    again = write_and_report(read(out), tmp_path / "again")
    assert tree(out) == tree(again)


def test_without_recorded_packets_there_is_no_packets_file(tmp_path: Path) -> None:
    out = write_plainly(Results.from_records([small_record()]), tmp_path / "out")
    assert not (out / "packets.parquet").exists()
    assert not (out / "link_observations.parquet").exists()
    assert not (out / "captures").exists()
    assert not (out / "qlog").exists()


def test_tables_are_compressed_with_zstandard_and_carry_units(results: Results, tmp_path: Path) -> None:
    out = write_plainly(results, tmp_path / "out")
    assert pq.ParquetFile(out / "flows.parquet").metadata.row_group(0).column(0).compression == "ZSTD"
    assert pq.read_schema(out / "flows.parquet").field("delay_mean_s").metadata[b"unit"] == b"s"


def test_json_and_csv_have_no_nan(results: Results, tmp_path: Path) -> None:
    out = write_plainly(results, tmp_path / "out")

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    for name in ("summary.json", "plan.json", "provenance.json"):
        json.loads((out / name).read_text(encoding="utf-8"), parse_constant=refuse)
    assert "nan" not in (out / "summary.csv").read_text(encoding="utf-8").lower()
    table = pyarrow.csv.read_csv(out / "summary.csv")
    assert table["utilisation"].to_pylist() == pytest.approx([0.75, None, 0.75, 10 / 14e6])


def test_provenance_contains_the_origin_of_results(results: Results, tmp_path: Path) -> None:
    facts = json.loads(
        (write_plainly(results, tmp_path / "out") / "provenance.json").read_text(encoding="utf-8")
    )
    assert facts["created"] == ORIGIN.created
    assert facts["command_line"] == ["airpath", "run"]
    # From sha256sum.
    expected = "a6e2b7a040683432de03a18fd8a1939a2fdf82585b364bfc874bdd4095c4cae1"
    assert facts["sha256"]["inputs"] == {"trace": expected}
    assert [run["seed"] for run in facts["runs"]] == [7, 8, 7, 3]


def test_earlier_results_are_replaced(results: Results, tmp_path: Path) -> None:
    out = write_plainly(results, tmp_path / "out")
    (out / "flows.parquet").write_bytes(b"old")
    write_plainly(Results(results.runs[:1]), out)
    assert len(read(out).runs) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_an_empty_directory_is_used_and_a_foreign_one_is_unchanged(results: Results, tmp_path: Path) -> None:
    empty, foreign = tmp_path / "empty", tmp_path / "foreign"
    empty.mkdir()
    foreign.mkdir()
    (foreign / "thesis.tex").write_text("do not delete")
    assert len(read(write_plainly(results, empty)).runs) == 4
    with pytest.raises(OutputError, match="contains no airpath results"):
        write_plainly(results, foreign)
    assert tree(foreign) == {"thesis.tex": b"do not delete"}


def test_a_file_is_never_replaced(results: Results, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")
    with pytest.raises(OutputError, match="is a file"):
        write_plainly(results, tmp_path / "out")
    with pytest.raises(OutputError, match="cannot write"):
        write_plainly(results, tmp_path / "out" / "below")


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_failure_while_writing_keeps_earlier_results_complete(
    results: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    out = write_plainly(results, tmp_path / "out")
    before = tree(out)

    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(writing, "provenance", fail)
    with pytest.raises(OutputError if isinstance(error, OSError) else KeyboardInterrupt):
        write_plainly(results, out)
    assert tree(out) == before
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_earlier_results_are_restored_if_the_last_step_fails(
    results: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = write_plainly(results, tmp_path / "out")
    before = tree(out)
    rename = Path.rename

    def fail_for_the_new_one(self: Path, target: Path) -> Path:
        if ".partial-" in self.name:
            raise OSError(5, "Input/output error")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fail_for_the_new_one)
    with pytest.raises(OutputError, match="Input/output error"):
        write_plainly(results, out)
    assert tree(out) == before
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_reading_something_else_is_a_clear_error(results: Results, tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"contains no airpath results: provenance\.json"):
        read(tmp_path)
    out = write_plainly(results, tmp_path / "out")
    (out / "flows.parquet").write_bytes(b"PAR1 but not really")
    with pytest.raises(OutputError, match="cannot read"):
        read(out)
    (out / "provenance.json").write_text('{"format": "airpath results 99"}')
    with pytest.raises(OutputError, match="format"):
        read(out)


def test_a_flipped_bit_is_a_clear_error(
    results: Results, tmp_path: Path, flip: Callable[[Path, str], None]
) -> None:
    out = write_plainly(results, tmp_path / "out")
    flip(out / "flows.parquet", "goodput_bytes")
    with pytest.raises(OutputError, match=r"cannot read results from .*CRC"):
        read(out)

"""`airpath estimate` over captures of simulated runs."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import airpath
from airpath.captures import analyse, estimator_names
from airpath.cli import main


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the capture of a short run."""
    folder = tmp_path_factory.mktemp("run")
    with pytest.raises(SystemExit) as left:
        main(
            [
                "run",
                "two-way",
                "--set",
                "duration=20s",
                "--capture",
                "bottleneck",
                "--out",
                str(folder / "out"),
            ]
        )
    assert left.value.code == 0
    return next((folder / "out" / "captures").glob("*.pcapng"))


def test_a_capture_gives_tables_pictures_and_provenance(
    capture: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        main(["estimate", str(capture), "--out", str(tmp_path / "found"), "--json"])
    assert left.value.code == 0
    said = json.loads(capsys.readouterr().out)["captures"][0]
    assert said["stopped_because"] is None
    assert set(said["flows"][0]["estimates"]) == set(estimator_names())
    flows = pq.read_table(tmp_path / "found" / "flows.parquet")
    assert flows.num_rows == len(said["flows"]) > 0
    assert all(flows.schema.field(name).metadata[b"description"] for name in flows.column_names)
    series = pq.read_table(tmp_path / "found" / "series.parquet").to_pydict()
    first = [k for k, flow in enumerate(series["flow"]) if flow == 1]
    delivered = sum(series["delivered_bps"][k] * series["bin_s"][k] / 8 for k in first)
    assert delivered == pytest.approx(flows["acked_bytes"][0].as_py())
    facts = json.loads((tmp_path / "found" / "provenance.json").read_text())
    assert len(facts["captures"][0]["sha256"]) == 64


@pytest.mark.parametrize(
    ("arguments", "message", "code"),
    [
        (["nothing.pcap"], "there is no such file", 1),
        (["{capture}", "--estimator", "sarb"], 'did you mean "sarbe"?', 2),
        (["{capture}", "--flow", "192.0.2.1"], "accepted: a number from 1 to", 2),
    ],
)
def test_bad_input_gives_one_message(
    capture: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
    code: int,
) -> None:
    with pytest.raises(SystemExit) as left:
        main(
            ["estimate", *(text.format(capture=capture) for text in arguments), "--out", str(tmp_path / "x")]
        )
    assert left.value.code == code
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1
    assert not (tmp_path / "x").exists()


def test_what_is_no_capture_is_refused(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.pcap"
    wrong.write_text("time,rate\n")
    with pytest.raises(airpath.errors.CaptureError, match="the file begins with `time,rate"):
        analyse(wrong)

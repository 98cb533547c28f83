"""`airpath estimate` over QUIC logs; `crates/replay/tests/it/qlog.rs` tests what the reader accepts."""

import gzip
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from airpath.captures import analyse
from airpath.cli import main
from airpath.errors import CaptureError

DIALECTS = Path(__file__).parents[3] / "crates" / "replay" / "tests" / "it" / "qlog"


def test_a_senders_log_produces_tables_with_its_logged_values(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = DIALECTS / "quiche-0.3.sqlog"
    with pytest.raises(SystemExit) as left:
        main(["estimate", str(log), "--out", str(tmp_path / "found"), "--json"])
    assert left.value.code == 0
    said = json.loads(capsys.readouterr().out)["captures"][0]
    assert (said["qlog_version"], said["events_used"], said["skipped"]) == ("0.3", 49, {})
    (flow,) = pq.read_table(tmp_path / "found" / "flows.parquet").to_pylist()
    assert (flow["source"], flow["destination"]) == ("server (quiche-server qlog)", "client")
    assert (flow["vantage"], flow["acked_bytes"], flow["retransmitted_packets"]) == ("sender", 28_750, 1)
    assert flow["sack"] is None
    assert flow["rtt_min_s"] == pytest.approx(0.04)
    series = pq.read_table(tmp_path / "found" / "series.parquet")
    window = [value for value in series["logged_congestion_window_bytes"].to_pylist() if value is not None]
    assert window[-1] == 15_200
    estimates = {
        row["estimator"]: row for row in pq.read_table(tmp_path / "found" / "estimates.parquet").to_pylist()
    }
    assert estimates["westwood"]["mean_bps"] == pytest.approx(1e6, rel=0.05)
    assert estimates["sarbe"]["missing"] == "the receiver sends no timestamps"


def test_a_receivers_log_produces_the_arrival_rate() -> None:
    (flow,) = analyse(DIALECTS / "client-0.4.qlog").flows
    assert (flow.name, flow.facts["vantage"]) == ("server > client (a client)", "receiver")
    assert flow.facts["delivered_bps"] == pytest.approx(1e6, rel=0.01)
    assert all("logged by the receiver" in entry["missing"] for entry in flow.estimates)


def test_figures_show_windows_and_round_trips_as_logged(tmp_path: Path) -> None:
    settings = ["--set", "duration=7s", "--set", "record.warm_up=0s", "--reps", "1"]
    with pytest.raises(SystemExit):
        main(
            [
                "run",
                "lte-download",
                *settings,
                "--qlog",
                str(tmp_path / "logs"),
                "--out",
                str(tmp_path / "out"),
            ]
        )
    (log,) = (tmp_path / "logs").iterdir()
    with pytest.raises(SystemExit) as left:
        main(["estimate", str(log), "--figures", "--out", str(tmp_path / "found")])
    assert left.value.code == 0
    (picture,) = (tmp_path / "found" / "figures").glob("*.svg")
    assert all(text in picture.read_text() for text in ("congestion window", "smoothed, as logged"))
    run = pq.read_table(tmp_path / "out" / "flows.parquet").to_pylist()[0]
    (flow,) = analyse(log).flows
    assert flow.facts["data_packets"] == run["sent_packets"]


def test_gzip_and_captures_together_with_logs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    packed = tmp_path / "log.sqlog.gz"
    packed.write_bytes(gzip.compress((DIALECTS / "ngtcp2-0.3.sqlog").read_bytes()))
    with pytest.raises(SystemExit) as left:
        main(
            [
                "estimate",
                str(packed),
                str(DIALECTS / "picoquic-draft-00.qlog"),
                "--estimators",
                "--out",
                str(tmp_path / "found"),
            ]
        )
    assert left.value.code == 0
    flows = pq.read_table(tmp_path / "found" / "flows.parquet")
    assert flows["acked_bytes"].to_pylist() == [28_750, 28_750]
    assert "Mbit/s of packets" in " ".join(capsys.readouterr().out.split())


def test_broken_lines_are_reported_and_the_rest_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = (DIALECTS / "quic-go-draft-02.qlog").read_text().splitlines(keepends=True)
    lines[3] = lines[3][:40] + "\n"
    (tmp_path / "cut.qlog").write_text("".join(lines))
    with pytest.raises(SystemExit) as left:
        main(["estimate", str(tmp_path / "cut.qlog"), "--out", str(tmp_path / "found")])
    assert left.value.code == 0
    assert "1 texts that are no event, the first in line 4 (no JSON:" in " ".join(
        capsys.readouterr().out.split()
    )
    document = (DIALECTS / "picoquic-draft-00.qlog").read_bytes()
    (tmp_path / "half.qlog").write_bytes(document[: len(document) // 2])
    assert analyse(tmp_path / "half.qlog").ended_early.startswith("reading ended: line ")


def test_json_that_is_no_log_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "no.qlog").write_text('{"a": 1}\n')
    with pytest.raises(CaptureError, match=r"no\.qlog: line 1: found JSON without .*; accepted: a qlog"):
        analyse(tmp_path / "no.qlog")

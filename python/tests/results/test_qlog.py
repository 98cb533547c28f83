"""Logs of flows (qlog) that runs write."""

import json
from pathlib import Path
from typing import Any

import pytest

import airpath
from airpath.cli import main
from airpath.results import Results


def texts(log: bytes) -> list[dict[str, Any]]:
    """Return the texts of a sequence of JSON texts (RFC 7464)."""
    assert (log[:1], log[-1:]) == (b"\x1e", b"\n")
    return [json.loads(text) for text in log[1:].split(b"\x1e")]


def logged(**options: Any) -> Results:
    scenario = airpath.Scenario.load("lte-download").override(
        {"record.qlog": True, "duration": "7s", "record.warm_up": "1s"}
    )
    return airpath.run(scenario, repetitions=1, progress=False, **options)


@pytest.fixture(scope="module")
def run() -> Results:
    return logged()


def test_the_header_contains_format_and_provenance(run: Results) -> None:
    log = run.runs[0].record.qlogs[0]
    header = texts(log)[0]
    assert b'"qlog_version":"0.3","qlog_format":"JSON-SEQ"' in log[:256]
    trace = header["trace"]
    assert trace["vantage_point"]["type"] == "server"
    assert trace["common_fields"]["time_format"] == "relative"
    facts = trace["configuration"]["airpath"]
    assert (facts["scenario"], facts["seed"], facts["version"]) == ("lte-download", 1, airpath.__version__)
    assert (facts["scheme"], facts["flow"], facts["world"]) == ("cubic", 0, "sim")


def test_events_agree_with_the_tables(run: Results) -> None:
    result = run.runs[0]
    events = texts(result.record.qlogs[0])[1:]
    names = [event["name"] for event in events]
    # The log covers the whole run, the table of flows the measured interval.
    start_ms = result.record.plan["record"]["measure_from_ns"] / 1e6
    sent = [event for event in events if event["name"] == "transport:packet_sent"]
    measured = sum(event["time"] > start_ms for event in sent)
    assert measured == result.table("flows").to_pylist()[0]["sent_packets"]
    assert names.count("recovery:metrics_updated") == result.table("flow_series").num_rows
    series = result.table("flow_series").to_pylist()[-1]
    last = [event for event in events if event["name"] == "recovery:metrics_updated"][-1]
    assert last["time"] == pytest.approx(series["time_s"] * 1e3)
    assert last["data"]["congestion_window"] == series["cwnd_bytes"]
    assert last["data"]["smoothed_rtt"] == pytest.approx(series["srtt_s"] * 1e3)
    capacity = [event["data"]["capacity_bps"] for event in events if event["name"] == "airpath:link_updated"]
    rows = result.table("link_series").to_pylist()
    offered = [row["offered_bytes"] * 8 / 0.1 for row in rows if row["link"] == 0]
    assert capacity == pytest.approx(offered, rel=1e-6, abs=10)


def test_the_same_seed_produces_the_same_bytes_for_any_number_of_workers(run: Results) -> None:
    assert logged(jobs=2).runs[0].record.qlogs == run.runs[0].record.qlogs


def test_over_quic_there_are_packets_too() -> None:
    events = texts(logged(world="quic").runs[0].record.qlogs[0])
    names = {event.get("name") for event in events}
    assert {"transport:packet_sent", "transport:packet_received", "recovery:metrics_updated"} <= names


def test_without_logs_there_are_none() -> None:
    assert airpath.compare(["newreno"], "8mbps", duration="2s", progress=False).runs[0].record.qlogs == {}


def test_the_command_writes_them_to_a_folder_and_to_the_results(tmp_path: Path) -> None:
    settings = ["--set", "duration=7s", "--set", "record.warm_up=1s", "--reps", "1"]
    with pytest.raises(SystemExit) as left:
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
    assert left.value.code == 0
    (log,) = (tmp_path / "logs").iterdir()
    assert log.name == "run-0000-flow-0000.sqlog"
    assert log.read_bytes() == (tmp_path / "out" / "qlog" / log.name).read_bytes()
    facts = json.loads((tmp_path / "out" / "provenance.json").read_text())
    assert list(facts["runs"][0]["qlog_sha256"]) == ["0"]
    assert "qlog = true" in (tmp_path / "out" / "scenario.toml").read_text()


def test_a_path_that_is_no_folder_is_rejected_before_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(SystemExit) as left:
        main(["run", "lte-download", "--qlog", str(tmp_path / "file"), "--out", str(tmp_path / "out")])
    assert left.value.code == 1
    assert "exists and is not a directory" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()

"""The answer of `airpath estimate`: bandwidth and limits of simulated flows with known truth."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import airpath
from airpath.captures import CaptureAnalysis, analyse
from airpath.cli import main
from airpath.units import parse_rate, parse_size

PAYLOAD = 1448 / 1500
"""Payload share of a simulated packet."""


def simulated(bottleneck: dict[str, Any], **flow: Any) -> airpath.Results:
    """Return 20 s of a flow, captured at the sender, with the causes that limited it."""
    queue = {"kind": "drop-tail", "limit": flow.pop("buffer", "1bdp"), **flow.pop("queue", {})}
    capture = flow.pop("capture", ["f-1-access", "f-1-access-reverse"])
    document = {
        "name": "truth",
        "duration": "20s",
        "seed": 3,
        "record": {
            "interval": "100ms",
            "capture": capture,
            "flow_limits": True,
        },
        "topology": {
            "kind": "dumbbell",
            "bottleneck": {"delay": "20ms", "queue": queue, **bottleneck},
            "access": {"delay": "10us"},
        },
        "flows": [{"name": "f", "scheme": "cubic", "start": "0s", **flow}],
    }
    return airpath.run(airpath.Scenario.from_dict(document), progress=False)


def analysis(folder: Path, results: airpath.Results) -> CaptureAnalysis:
    """Return the analysis of a run's capture."""
    capture = folder / "made.pcapng"
    content = results.runs[0].record.capture
    assert content is not None
    capture.write_bytes(content)
    return analyse(capture, ["samples"])


def made(folder: Path, bottleneck: dict[str, Any], **flow: Any) -> tuple[CaptureAnalysis, float]:
    """Return the analysis of 20 s at the sender, and the mean capacity from 1 s on in bit/s of payload."""
    results = simulated(bottleneck, **flow)
    links = results.table("link_series")
    mine = np.array(links["link_name"].to_pylist()) == "bottleneck"
    late = mine & (np.array(links["time_s"]) > 1)
    offered = np.array(links["offered_bytes"], dtype=float)[late].sum()
    return analysis(folder, results), offered * 8 * PAYLOAD / (20 - 1)


@pytest.mark.parametrize(
    ("bottleneck", "flow", "label"),
    [
        ({"rate": "8mbps"}, {}, "bottleneck"),
        ({"rate": "8mbps"}, {"scheme": "bbr"}, "bottleneck"),
        ({"rate": "lte.down"}, {"buffer": "300packets"}, "bottleneck"),
        ({"rate": "20mbps", "loss": 0.01}, {}, "random-loss"),
        ({"rate": "20mbps"}, {"transport": {"receive_window": "16 packets"}}, "receiver-window"),
        ({"rate": "100mbps"}, {"transport": {"receive_window": "200kB"}}, "receiver-window"),
        ({"rate": "20mbps"}, {"scheme": "fixed:window=2000packets,rate=2mbps"}, "application"),
        ({"rate": "20mbps"}, {"scheme": "fixed:window=9packets"}, "sender-window"),
    ],
)
def test_the_limit_and_the_bandwidth_of_a_simulated_flow(
    tmp_path: Path, bottleneck: dict[str, Any], flow: dict[str, Any], label: str
) -> None:
    capture, capacity_bps = made(tmp_path, bottleneck, **flow)
    diagnosis = capture.flows[0].diagnosis
    main_limit = diagnosis.shares[0]
    assert main_limit.label == label
    assert main_limit.time > 0.8
    headline = diagnosis.answer.headline
    assert headline is not None
    assert headline.full == (label == "bottleneck")
    if headline.full:
        assert headline.rate_bps == pytest.approx(capacity_bps, rel=0.03)
    else:
        assert headline.rate_bps < capacity_bps
    assert diagnosis.losses["by_queue"] in ((False,) if label == "random-loss" else (True, None))


@pytest.mark.parametrize("scheme", ["cubic", "bbr", "newreno"])
@pytest.mark.parametrize(
    ("rate", "burst"), [("2mbps", "30kB"), ("2mbps", "1MB"), ("5mbps", "100kB"), ("10mbps", "300kB")]
)
def test_a_policer_is_detected_with_its_rate_and_burst(
    tmp_path: Path, scheme: str, rate: str, burst: str
) -> None:
    queue = {"kind": "policer", "rate": rate, "burst": burst}
    capture, _ = made(tmp_path, {"rate": "100mbps"}, scheme=scheme, queue=queue)
    diagnosis = capture.flows[0].diagnosis
    assert diagnosis.shares[0].label == "policer"
    assert diagnosis.shares[0].time > 0.9
    (found,) = diagnosis.policers
    assert found["rate_bps"] == pytest.approx(parse_rate(rate), rel=0.09)
    assert found["burst_bytes"] == pytest.approx(parse_size(burst), rel=0.06)


@pytest.mark.parametrize("rate", ["2mbps", "5mbps", "10mbps"])
@pytest.mark.parametrize("buffer", ["0.2bdp", "1bdp"])
def test_a_link_of_the_same_rate_is_no_policer(tmp_path: Path, rate: str, buffer: str) -> None:
    capture, _ = made(tmp_path, {"rate": rate}, buffer=buffer)
    diagnosis = capture.flows[0].diagnosis
    assert not diagnosis.policers
    assert all(share.label != "policer" for share in diagnosis.shares)


@pytest.mark.parametrize("scheme", ["cubic", "bbr"])
@pytest.mark.parametrize("window", [6, 16, 30, 50, 300])
def test_the_receiver_is_named_if_its_window_limits_the_sender(
    tmp_path: Path, scheme: str, window: int
) -> None:
    transport = {"receive_window": f"{window} packets"}
    results = simulated({"rate": "20mbps"}, scheme=scheme, transport=transport)
    limited_by_receiver = np.mean(results.table("flow_limits")["receive_window"])
    shares = {share.label: share.time for share in analysis(tmp_path, results).flows[0].diagnosis.shares}
    # BBR paces part of the time at the rate that the window allows.
    if window < 300:
        assert limited_by_receiver > (0.95 if scheme == "cubic" else 0.35)
        assert shares["receiver-window"] > 0.95
    else:
        assert limited_by_receiver == 0
        assert "receiver-window" not in shares


@pytest.mark.parametrize("scheme", ["cubic", "bbr"])
@pytest.mark.parametrize("size", ["200kB", "1250kB"])
def test_an_application_that_writes_at_intervals_limits_its_flow_between_them(
    tmp_path: Path, scheme: str, size: str
) -> None:
    traffic = {"kind": "writes", "size": size, "interval": "2s"}
    results = simulated({"rate": "10mbps"}, scheme=scheme, traffic=traffic, stop="19.9s")
    (flow,) = analysis(tmp_path, results).flows
    assert flow.facts["bytes"] == 10 * parse_size(size)
    application = np.mean(results.table("flow_limits")["application"])
    shares = {share.label: share.time for share in flow.diagnosis.shares}
    assert shares["application"] == pytest.approx(application, abs=0.1)
    headline = flow.diagnosis.answer.headline
    assert headline is not None
    if size == "1250kB":
        assert headline.full
        assert headline.rate_bps == pytest.approx(10e6 * PAYLOAD, rel=0.1)
    else:
        assert headline.rate_bps < 10e6 * PAYLOAD


def test_application_bursts_that_overflow_a_queue_are_not_policing(tmp_path: Path) -> None:
    traffic = {"kind": "writes", "size": "150kB", "interval": "1s"}
    capture, _ = made(tmp_path, {"rate": "10mbps", "delay": "42ms"}, scheme="illinois", traffic=traffic)
    diagnosis = capture.flows[0].diagnosis
    assert diagnosis.losses["segments"] > 15
    assert diagnosis.losses["by_queue"]
    assert not diagnosis.policers


def test_flows_that_leave_an_even_link_idle_show_its_rate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capture, capacity_bps = made(tmp_path, {"rate": "20mbps", "loss": 0.01})
    (flow,) = capture.flows
    headline = flow.diagnosis.answer.headline
    assert headline is not None
    assert headline.rate_bps < 0.7 * capacity_bps
    assert flow.diagnosis.link_rate_bps == pytest.approx(capacity_bps, rel=0.005)
    with pytest.raises(SystemExit):
        main(["estimate", str(tmp_path / "made.pcapng"), "--no-report", "--out", str(tmp_path / "out")])
    assert "the link could carry about 19.3 Mbit/s" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("bottleneck", "flow"),
    [
        ({"rate": "lte.down", "loss": 0.02}, {"buffer": "300packets"}),
        ({"rate": "20mbps"}, {"scheme": "fixed:window=2000packets,rate=2mbps"}),
        ({"rate": "20mbps"}, {"transport": {"receive_window": "16 packets"}}),
        ({"rate": "40mbps"}, {"queue": {"kind": "policer", "rate": "5mbps", "burst": "100kB"}}),
    ],
)
def test_no_link_rate_is_reported_if_unknown(
    tmp_path: Path, bottleneck: dict[str, Any], flow: dict[str, Any]
) -> None:
    capture, _ = made(tmp_path, bottleneck, **flow)
    assert capture.flows[0].diagnosis.link_rate_bps is None


def test_a_capture_of_the_data_alone_shows_neither_bandwidth_nor_limits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capture, _ = made(tmp_path, {"rate": "10mbps"}, capture=["f-1-access"])
    (flow,) = capture.flows
    assert flow.diagnosis.losses["segments"] > 0
    assert flow.diagnosis.losses["by_queue"] is None
    with pytest.raises(SystemExit):
        main(["estimate", str(tmp_path / "made.pcapng"), "--out", str(tmp_path / "out")])
    text = " ".join(capsys.readouterr().out.split())
    for name in ("bandwidth", "limited by"):
        assert f"{name} not known: no acknowledgment of the data was captured" in text
    assert "episodes: the cause is not known" in text


def test_the_answer_comes_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made(tmp_path, {"rate": "8mbps"})
    arguments = ["estimate", str(tmp_path / "made.pcapng"), "--out", str(tmp_path / "out")]
    with pytest.raises(SystemExit) as left:
        main(arguments)
    assert left.value.code == 0
    text = capsys.readouterr().out
    lines = [line.split()[0] for line in text.splitlines()[2:] if line.strip() and not line.startswith(" ")]
    assert lines == ["bandwidth", "limited", "losses", "results:", "report:"]
    assert "while the link was full" in text
    assert "the bottleneck" in text
    with pytest.raises(SystemExit):
        main([*arguments, "--force", "--json"])
    (capture,) = json.loads(capsys.readouterr().out)["captures"]
    assert next(iter(capture)) == next(iter(capture["flows"][0])) == "answer"
    assert capture["answer"]["limited_by"][0]["label"] == "bottleneck"
    answers = pq.read_table(tmp_path / "out" / "answers.parquet")
    limits = pq.read_table(tmp_path / "out" / "limits.parquet")
    for table in (answers, limits):
        assert all(table.schema.field(name).metadata[b"description"] for name in table.column_names)
    full = [row for row in answers.to_pylist() if row["kind"] == "full"]
    mean = sum(row["rate_bps"] * row["width_s"] for row in full) / sum(row["width_s"] for row in full)
    assert mean == pytest.approx(capture["answer"]["rate_bps"])
    assert all(row["low_bps"] <= row["rate_bps"] <= row["high_bps"] for row in answers.to_pylist())
    windows = limits.to_pylist()
    assert all(a["to_s"] == pytest.approx(b["from_s"]) for a, b in pairwise(windows))


def test_the_sum_of_a_host_comes_before_its_flows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = {
        "name": "several",
        "duration": "10s",
        "seed": 3,
        "record": {"capture": ["bottleneck", "bottleneck-reverse"]},
        "topology": {"kind": "dumbbell", "bottleneck": {"rate": "8mbps", "delay": "20ms"}},
        "flows": [{"name": "f", "scheme": "newreno", "count": 5}],
    }
    results = airpath.run(airpath.Scenario.from_dict(document), progress=False)
    content = results.runs[0].record.capture
    assert content is not None
    file = tmp_path / "several.pcapng"
    file.write_bytes(_from_one_host(content))
    (total,) = analyse(file, ["samples"]).sums
    assert (total.host, total.down, len(total.flows)) == ("10.0.0.9", False, 5)
    headline = total.answer.headline
    assert headline is not None
    assert headline.full
    assert headline.rate_bps == pytest.approx(8e6 * PAYLOAD, rel=0.03)
    with pytest.raises(SystemExit):
        main(["estimate", str(file), "--out", str(tmp_path / "out")])
    text = capsys.readouterr().out
    assert (
        text.index("all 5 flows   sent by 10.0.0.9") < text.index("flow 1 of 5") < text.index("flow 3 of 5")
    )
    assert "flow 4 of 5" not in text
    assert "and 2 more flows: --all" in text
    with pytest.raises(SystemExit):
        main(["estimate", str(file), "--out", str(tmp_path / "all"), "--all", "--flow", "4", "--flow", "5"])
    text = capsys.readouterr().out
    assert "sent by" not in text
    assert "flow 5 of" in text


def _from_one_host(capture: bytes) -> bytes:
    """Return the capture with one address for all senders, and a port for each: the last byte of their
    addresses, 10.0.0.0 on.
    """
    content = bytearray(capture)
    at = 0
    while at < len(content):
        kind, size = (int.from_bytes(content[at + k : at + k + 4], "little") for k in (0, 4))
        if kind == 6:
            start = at + 28
            header = content[start:].find(b"\x45") if content[start] != 0x45 else 0
            ip = start + header
            for address, port in ((ip + 12, ip + 20), (ip + 16, ip + 22)):
                if content[address] == 10:
                    content[port + 1] = (content[port + 1] + content[address + 3]) % 256
                    content[address + 3] = 9
        at += size
    return bytes(content)


@pytest.mark.parametrize(
    ("scheme", "label"), [("cubic", "bottleneck"), ("fixed:window=9packets", "sender-window")]
)
def test_a_quic_log_has_a_diagnosis_as_well(tmp_path: Path, scheme: str, label: str) -> None:
    document = {
        "name": "log",
        "duration": "10s",
        "seed": 3,
        "record": {"qlog": True},
        "topology": {"kind": "dumbbell", "bottleneck": {"rate": "8mbps", "delay": "40ms"}},
        "flows": [{"name": "f", "scheme": scheme, "start": "0s"}],
    }
    results = airpath.run(airpath.Scenario.from_dict(document), progress=False)
    log = tmp_path / "f.sqlog"
    log.write_bytes(results.runs[0].record.qlogs[0])
    (flow,) = analyse(log, ["samples"]).flows
    assert flow.diagnosis.shares[0].label == label
    assert flow.diagnosis.shares[0].time > 0.8
    headline = flow.diagnosis.answer.headline
    assert headline is not None
    assert headline.full == (label == "bottleneck")
    if headline.full:
        assert headline.rate_bps == pytest.approx(8e6 * PAYLOAD, rel=0.03)

"""Runs in the emulator: real connections, and the tables of a simulation."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import airpath
from airpath.captures import analyse
from airpath.cli import main
from airpath.errors import ScenarioError
from airpath.explorer.writing import write_report
from airpath.metrics.run import columns
from airpath.results import Results, RunResult
from airpath.results.reading import read
from airpath.views.limits import LIMITS

FLOWS = [
    {"name": "long", "scheme": "cubic", "stop": "1.5s"},
    {
        "name": "files",
        "scheme": "newreno",
        "traffic": {"kind": "repeated", "size": "10kB", "pause": "50ms"},
    },
    {"name": "voice", "traffic": {"kind": "constant-bit-rate", "rate": "200kbps", "packet": "500B"}},
]

SCENARIO = {
    "name": "emulated",
    "duration": "2s",
    "topology": {
        "kind": "dumbbell",
        "bottleneck": {"rate": "5Mbps", "delay": "10ms", "queue": {"kind": "drop-tail", "limit": "1bdp"}},
    },
    "flows": FLOWS,
}


@pytest.fixture(scope="module")
def emulated(emulated_hosts: None, valid_run: Callable[..., RunResult]) -> Results:  # noqa: ARG001 - it skips
    return Results([valid_run(airpath.Scenario.from_dict(SCENARIO), "emulate")])


def test_the_kernel_fills_the_link(emulated: Results) -> None:
    (run,) = emulated.runs
    links, flows = columns(run.links), columns(run.flows)
    carried = links["departed_bytes"][0] * 8 / 2.0
    assert 3.5e6 < carried < 5.0e6  # the link is full for 1.5 of 2 s
    # Applications cannot receive more than what left the link.
    assert (flows["goodput_bytes"] <= flows["departed_bytes"]).all()
    assert flows["goodput_bytes"][0] > 0.8 * flows["departed_bytes"][0]
    assert flows["sent_packets"][2] == pytest.approx(100, abs=1)


def test_windows_come_from_the_kernel(emulated: Results) -> None:
    series = columns(emulated.flow_series)
    long = (series["source_name"] == "long-1") & (series["time_s"] > 0.3) & (series["time_s"] < 1.4)
    assert long.sum() >= 10
    window, flight = series["cwnd_bytes"][long], series["in_flight_bytes"][long]
    assert (window >= 2 * 1448).all()
    assert (window % 1448 == 0).all()
    assert (flight <= window + 3 * 1448).all()
    assert ((series["srtt_s"][long] > 0.02) & (series["srtt_s"][long] < 0.2)).all()
    voice = series["source_name"] == "voice-1"
    assert np.isnan(series["cwnd_bytes"][voice]).all()


def test_files_complete(emulated: Results) -> None:
    completions = columns(emulated.completions)
    assert len(completions["transfer"]) >= 5
    assert (completions["transfer"] == np.arange(len(completions["transfer"]))).all()
    assert (completions["bytes"] == 10_000).all()
    # A handshake and one window take at least two round trips.
    took = completions["end_s"] - completions["start_s"]
    assert (took >= 0.04).all()
    pauses = completions["start_s"][1:] - completions["end_s"][:-1]
    assert (pauses >= 0.05).all()


def test_results_contain_their_provenance(emulated: Results, tmp_path: Path) -> None:
    record = emulated.runs[0].record
    assert (record.scheme, record.world) == ("kernel:cubic+kernel:reno", "emulate")
    assert record.validity is not None
    assert record.validity["delivered_packets"] > 500
    assert emulated.flows["recoveries"].null_count == 3
    origin = airpath.results.Origin(created="now")
    airpath.results.write(emulated, tmp_path / "out", scenario_text="", origin=origin)
    again = read(tmp_path / "out").runs[0].record
    assert (again.world, again.validity) == ("emulate", record.validity)
    write_report(emulated, tmp_path / "out")
    report = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "real time" in report
    assert "valid runs" in report


@pytest.mark.usefixtures("emulated_hosts")
def test_a_receive_window_of_the_scenario_limits_only_its_sender() -> None:
    slow = {"name": "slow", "scheme": "cubic", "transport": {"receive_window": "8kB"}, "stop": "1.9s"}
    (run,) = airpath.run(
        airpath.Scenario.from_dict(
            SCENARIO | {"flows": [slow, {"name": "fast", "scheme": "cubic"}]}
        ).override({"topology.bottleneck.delay": "50ms"}),
        world="emulate",
    ).runs
    received = dict(
        zip(*(columns(run.flows)[name] for name in ("source_name", "goodput_bytes")), strict=True)
    )
    # A window per round trip of 0.1 s and the packets in the queue; the first window that the kernel
    # advertises is larger.
    assert received["slow-1"] < 1.9 / 0.1 * 8e3 * 1.2 + 64e3
    assert received["fast-1"] > 2 * received["slow-1"]
    assert not any("window" in problem for problem in (run.record.validity or {})["problems"])


@pytest.mark.usefixtures("emulated_hosts")
@pytest.mark.parametrize(
    ("flow", "column", "label"),
    [
        ({}, "congestion_window", "bottleneck"),
        ({"transport": {"receive_window": "16kB"}}, "receive_window", "receiver-window"),
        (
            # A write fits into the initial window. The kernel counts its round trip, 0.08 of 0.8 s, as
            # limited by the congestion window, because data are outstanding. The label is `application`.
            {"traffic": {"kind": "writes", "size": "10kB", "interval": "800ms"}, "stop": "3.9s"},
            "application",
            "application",
        ),
    ],
)
def test_what_limits_a_sender_is_counted_by_the_kernel_and_found_in_its_capture(
    valid_run: Callable[..., RunResult], tmp_path: Path, flow: dict[str, Any], column: str, label: str
) -> None:
    scenario = airpath.Scenario.from_dict(
        SCENARIO | {"duration": "4s", "flows": [{"name": "one", "scheme": "cubic", **flow}]}
    ).override(
        {
            "record.flow_limits": True,
            "record.capture": ["bottleneck", "bottleneck-reverse"],
            "topology.bottleneck.delay": "30ms",
        }
    )
    run = valid_run(scenario, "emulate")
    rows = columns(run.table("flow_limits"))
    # A row for each interval but the first, before the handshake is complete, and perhaps the last.
    assert 38 <= len(rows["time_s"]) <= 40
    assert np.mean(rows[column]) > 0.6
    assert sum(np.mean(rows[name]) for name in LIMITS) == pytest.approx(1)
    origin = airpath.results.Origin(created="now")
    airpath.results.write(Results([run]), tmp_path / "out", scenario_text="", origin=origin)
    (file,) = (tmp_path / "out" / "captures").iterdir()
    (analysed,) = analyse(file).flows
    main_limit = analysed.diagnosis.shares[0]
    assert main_limit.label == label
    assert main_limit.time == pytest.approx(np.mean(rows[column]), abs=0.2)


@pytest.mark.usefixtures("emulated_hosts")
def test_the_command_runs_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    changes = {"duration": "500ms", "flows": FLOWS[:1]}
    short = airpath.Scenario.from_dict(SCENARIO | changes).override({"flows.0.stop": "400ms"})
    file = tmp_path / "short.toml"
    file.write_text(short.to_toml())
    with pytest.raises(SystemExit) as left:
        main(["run", str(file), "--world", "emulate", "--json", "--out", str(tmp_path / "out")])
    assert left.value.code == 0
    told = json.loads(capsys.readouterr().out)
    assert set(told["schemes"]) == {"kernel:cubic"}
    assert told["validity"][0]["world"] == "emulate"


@pytest.mark.usefixtures("emulated_hosts")
def test_a_capture_of_links_is_read_by_the_estimators(tmp_path: Path) -> None:
    """A link's capture has the kernel's headers: `airpath estimate` finds the flow and its goodput."""
    scenario = airpath.Scenario.from_dict(SCENARIO | {"flows": FLOWS[:1]}).override(
        {"duration": "4s", "flows.0.stop": "3.5s", "record.capture": ["bottleneck", "bottleneck-reverse"]}
    )
    emulated = airpath.run(scenario, world="emulate")
    origin = airpath.results.Origin(created="now")
    airpath.results.write(emulated, tmp_path / "out", scenario_text="", origin=origin)
    (file,) = (tmp_path / "out" / "captures").iterdir()
    told = json.loads((tmp_path / "out" / "provenance.json").read_text())["runs"][0]
    assert told["capture_sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
    with pytest.raises(SystemExit) as left:
        main(["estimate", str(file), "--out", str(tmp_path / "found")])
    assert left.value.code == 0
    (flow,) = pq.read_table(tmp_path / "found" / "flows.parquet").to_pylist()
    (run,) = emulated.runs
    # One interface per direction, with all packets that arrived at either; both endpoints saw the handshake.
    assert flow["packets"] == sum(columns(run.links)["arrived_packets"])
    assert (flow["source"].split(":")[0], flow["vantage"], flow["mss_bytes"]) == ("10.7.0.1", "middle", 1448)
    assert flow["acked_bytes"] == columns(run.flows)["goodput_bytes"][0]
    # 5 Mbit/s of IP packets of 1500 bytes; the link is full except at the beginning and the end.
    assert 0.9 * 5e6 < flow["delivered_bps"] < 5e6 * 1448 / 1500
    (rate,) = (
        row["mean_bps"]
        for row in pq.read_table(tmp_path / "found" / "estimates.parquet").to_pylist()
        if row["estimator"] == "delivery-rate"
    )
    assert 0.9 * 5e6 < rate < 1.05 * 5e6


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"flows.0.estimators": ["westwood"]},
            "flows[0].estimators: those of senders run in the simulator only",
        ),
        (
            {"transport.mss": "8kB"},
            'transport.mss: found "8kB"; it makes packets of 8052 B; accepted in an emulation: packets of',
        ),
        (
            {"flows.1.transport": {"ecn": True}},
            "flows[1].transport.ecn: found true; marks (ECN) are on for flow files-1 and off for flow long-1",
        ),
        (
            {"transport.timestamps": False, "flows.0.transport": {"timestamps": True}},
            "transport.timestamps: found false; timestamps are off for flow files-1 and on for flow long-1; ",
        ),
        (
            {"flows.0.transport": {"recovery": "newreno"}},
            "flows[1].transport.recovery: selective acknowledgments are on for flow files-1 and off for flow",
        ),
        ({"flows.2.count": 65_600}, "flows: they are 65602 in all; accepted in an emulation: at most 65534"),
    ],
)
@pytest.mark.usefixtures("emulated_hosts")
def test_features_without_emulation_are_rejected_at_their_field(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        airpath.run(airpath.Scenario.from_dict(SCENARIO).override(changes), world="emulate")
    assert str(refused.value).startswith(f"scenario: {said}")

"""TCP connections of a command under `airpath emulate`: flows of its results, as the kernel reports them."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from airpath.emulation.connections import Connections, with_back_flow, with_connections
from airpath.results import Results, read

SEND = """
import os, socket, sys
for size in sys.argv[1:]:
    with socket.create_connection((os.environ["AIRPATH_SERVER"], 80)) as connection:
        connection.sendall(bytes(int(size)))
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(99) == size.encode()
"""
TAKE = """
import socket
server = socket.create_server(("10.8.0.1", 80))
while True:
    with server.accept()[0] as connection:
        received = 0
        while data := connection.recv(65536):
            received += len(data)
        connection.sendall(f"{received}".encode())
"""


class Emulated(NamedTuple):
    summary: dict[str, Any]
    results: Results
    out: Path
    """The folder of the results."""
    said: str


def emulated(cwd: Path, link: str, server: str, *command: str) -> Emulated:
    """Return the outcome of a command behind this link."""
    done = subprocess.run(
        [
            *(sys.executable, "-m", "airpath", "emulate", "--link", link, "--rtt", "20ms"),
            *("--json", "--figures"),
            *("--server", server, "--", *command),
        ],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    out = cwd / summary["out"]
    return Emulated(summary, read(out), out, done.stderr)


@pytest.fixture
def valid_emulated(tmp_path: Path, first_valid: Callable[..., Any]) -> Callable[..., Emulated]:
    """Return a function that runs a command until a run is valid."""

    def run(link: str, server: str, *command: str) -> Emulated:
        def once() -> tuple[Emulated, Sequence[str]]:
            folder = tmp_path / str(len(list(tmp_path.iterdir())))
            folder.mkdir()
            found = emulated(folder, link, server, *command)
            return found, found.summary["validity"]["problems"]

        return first_valid(once)

    return run


def default_control() -> str:
    return Path("/proc/sys/net/ipv4/tcp_congestion_control").read_text().strip()


@pytest.mark.usefixtures("emulated_hosts")
def test_a_connection_is_a_flow_with_the_values_of_the_kernel(valid_emulated: Callable[..., Emulated]):
    size = 1_500_000
    command = ("8mbps", f"{sys.executable} -c '{TAKE}'", sys.executable, "-c", SEND, str(size))
    summary, results, out, _ = valid_emulated(*command)
    record = summary["connections"]
    assert record["problems"] == []
    assert record["samples"] > 15
    data, answer = record["flows"]
    assert (data["host"], data["goodput_bytes"]) == ("senders", size)
    assert (answer["host"], answer["goodput_bytes"]) == ("receivers", len(str(size)))
    assert data["scheme"] == answer["scheme"] == f"kernel:{default_control()}"
    assert data["name"].endswith(" > 10.8.0.1:80")
    assert answer["name"] == " > ".join(reversed(data["name"].split(" > ")))
    # Of each packet of 1500 bytes at most 1448 are data.
    assert 0.9 * 8 * 1448 / 1500 < data["goodput_mbps"] < 8 * 1448 / 1500 * 1.01, (
        f"{data}, {summary['validity']}"
    )
    assert 0.02 <= data["min_rtt_s"] < 0.0215
    assert data["sent_packets"] - data["retransmitted_packets"] >= size / 1448

    flows = {row["source_name"]: row for row in results.flows.to_pylist()}
    assert list(flows)[:2] == ["command-1", "command-1-back"], "what is in no connection"
    row = flows[data["name"]]
    assert (row["flow_scheme"], row["group"]) == (data["scheme"], data["name"])
    assert row["goodput_bytes"] == size
    assert row["recoveries"] is None, "the kernel does not tell"
    assert row["delivered_packets"] + row["lost_packets"] == row["sent_packets"] == data["sent_packets"]
    assert flows[answer["name"]]["group"] == "other connections"

    series = results.flow_series.to_pandas()
    mine = series[series["flow"] == data["flow"]]
    assert mine["goodput_bytes"].sum() == size
    full = mine.iloc[4:13]
    # On a busy machine a sample may miss its row and be in the next one: one of nine more or less.
    assert full["goodput_bytes"].mean() * 80 == pytest.approx(8e6 * 1448 / 1500, rel=0.13)
    assert (full["cwnd_bytes"] >= 10 * 1448).all()
    assert full["srtt_s"].between(0.02, 0.2).all()
    # The summary covers the whole run, the row of a flow its own time.
    seconds = results.runs[0].record.plan["duration_ns"] * 1e-9
    assert results.summary["goodput_mbps"][0].as_py() == pytest.approx(size * 8e-6 / seconds)
    provenance = json.loads((out / "provenance.json").read_text(encoding="utf-8"))
    assert provenance["runs"][0]["validity"]["connections"]["samples"] == record["samples"]
    assert {path.name for path in (out / "figures").glob("*.png")} >= {
        "throughput-command.png",
        "window-command.png",
        "delay-command.png",
    }
    assert data["name"].split(" > ")[0] in (out / "report.html").read_text(encoding="utf-8")


@pytest.mark.usefixtures("emulated_hosts")
def test_connections_between_two_samples_are_recorded(tmp_path: Path):
    sizes = [str(500 * number) for number in range(1, 31)]
    summary, results, *_ = emulated(
        tmp_path, "100mbps", f"{sys.executable} -c '{TAKE}'", sys.executable, "-c", SEND, *sizes
    )
    record = summary["connections"]
    assert record["problems"] == []
    flows = sorted(record["flows"], key=lambda flow: flow["flow"])
    sent = [flow["goodput_bytes"] for flow in flows if flow["host"] == "senders"]
    assert sent == [int(size) for size in sizes]
    answers = [flow["goodput_bytes"] for flow in flows if flow["host"] == "receivers"]
    assert answers == [len(size) for size in sizes]
    assert results.flows.num_rows == 62
    assert set(results.flows["flow_scheme"].to_pylist()[2:]) <= {"kernel", f"kernel:{default_control()}"}


@pytest.mark.usefixtures("emulated_hosts")
def test_iperf3_and_the_tables_agree(valid_emulated: Callable[..., Emulated]):
    if shutil.which("iperf3") is None:
        pytest.skip("there is no iperf3")
    command = ("iperf3", "-c", "10.8.0.1", "-t", "3", "-P", "2", "-J", "-C", "cubic")
    summary, results, _, said = valid_emulated("20mbps", "iperf3 -s -1", *command)
    streams = json.loads(said[said.index("{") : said.rindex("}") + 1])["end"]["streams"]
    flows = [flow for flow in summary["connections"]["flows"] if flow["goodput_bytes"] > 100_000]
    by_port = {int(flow["name"].split(" > ")[0].split(":")[1]): flow for flow in flows}
    connected = json.loads(said[said.index("{") : said.rindex("}") + 1])["start"]["connected"]
    assert sorted(by_port) == sorted(one["local_port"] for one in connected)
    for one, stream in zip(connected, streams, strict=True):
        flow = by_port[one["local_port"]]
        assert flow["scheme"] == "kernel:cubic"
        # iperf3 stops counting at the end of its time, and sent data still arrives.
        assert stream["receiver"]["bytes"] <= flow["goodput_bytes"] <= stream["sender"]["bytes"]
        assert flow["retransmitted_packets"] >= stream["sender"]["retransmits"]
    tested = np.array([flow["controller"] is not None for flow in results.runs[0].record.plan["flows"]])
    assert tested.sum() == 2, "the connection by which iperf3 talks is not under test"
    assert results.summary["pantheon_throughput_mbps"][0].as_py() == pytest.approx(20, rel=0.03)


def record_of(**changes: Any) -> dict[str, Any]:
    flow = {
        "flow": 2,
        "host": "senders",
        "sender": "10.7.0.1:1",
        "receiver": "10.8.0.1:2",
        "congestion_control": "cubic",
        "busy_s": 1.0,
        "told": True,
    }
    asked = {
        "beyond_packets": 0,
        "samples": 9,
        "sampling_mean_s": 1e-3,
        "sampling_max_s": 2e-3,
        "late_samples": 0,
        "missing": "",
    }
    return {
        "flows": [flow, {**flow, "flow": 3, "congestion_control": None, "told": False}],
        **asked,
        **changes,
    }


def test_a_second_connection_between_the_same_ports_has_its_own_name():
    connections = Connections.from_engine(record_of())
    assert [flow.name for flow in connections.flows] == [
        "10.7.0.1:1 > 10.8.0.1:2",
        "10.7.0.1:1 > 10.8.0.1:2 #2",
    ]
    assert [flow.scheme for flow in connections.flows] == ["kernel:cubic", "kernel"]


def test_missing_features_are_reported():
    assert Connections.from_engine(record_of(flows=[])).problems == ()
    problems = Connections.from_engine(record_of(beyond_packets=7, missing="no room")).problems
    assert problems == (
        "connections: no room",
        "connections: of 1 of 2 the kernel did not tell",
        "connections: 7 packets are in no flow; there were too many connections",
    )


def test_without_a_reverse_path_there_are_no_connections():
    first = {"name": "command", "path": [0], "reverse_path": [], "measured_at": 0, "controller": None}
    plan, others = with_back_flow({"links": [{"name": "there", "record": True}], "flows": [first]})
    assert (plan["flows"], others) == ([first], None)
    nothing = Connections.from_engine(None)
    assert (nothing.flows, nothing.problems) == ((), ())
    assert with_connections(plan, others, nothing, {}) == plan


def test_connections_become_flows_of_the_plan():
    links = [
        {"name": "there", "record": True},
        {"name": "access", "record": False},
        {"name": "back", "record": True},
    ]
    first = {"name": "command", "path": [0], "reverse_path": [1, 2], "measured_at": 0, "controller": None}
    plan, others = with_back_flow({"links": links, "flows": [first]})
    assert others == (0, 1)
    assert (plan["flows"][1]["path"], plan["flows"][1]["measured_at"]) == ([1, 2], 2)
    raw = record_of()
    raw["flows"][1]["host"] = "receivers"
    tables = {
        "flows": {
            "goodput_bytes": np.array([0, 0, 1_000_000, 9_000]),
            "first_departure_s": np.array([np.nan, np.nan, 1.0, 1.0]),
            "last_departure_s": np.array([np.nan, np.nan, 2.0, 3.0]),
        }
    }
    connections = Connections.from_engine(raw)
    data, answer = with_connections(plan, others, connections, tables)["flows"][2:]
    assert (data["path"], data["controller"]) == ([0], {"kind": "kernel", "algorithm": "cubic"})
    assert (answer["path"], answer["controller"]) == ([1, 2], None), "less than 1 % of the other"
    assert [flow["traffic"]["kind"] for flow in (data, answer)] == ["bulk", "connection"]
    assert connections.groups(tables) == {data["name"]: data["name"], answer["name"]: "other connections"}

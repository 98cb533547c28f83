"""`airpath emulate`: a command over an emulated link, as root and as an ordinary user."""

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from airpath.errors import EmulationError, UsageError
from airpath.results import read

pytestmark = pytest.mark.usefixtures("emulated_hosts")


def airpath(*arguments: str, cwd: Path, **more) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "airpath", "emulate", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        **more,
    )


SEND = """
import os, socket, sys
connection = socket.create_connection((os.environ["AIRPATH_SERVER"], 80))
assert connection.getsockname()[0] == os.environ["AIRPATH_CLIENT"]
connection.sendall(bytes(int(sys.argv[1])))
connection.shutdown(socket.SHUT_WR)
print(connection.recv(9).decode())
"""
TAKE = """
import socket
server = socket.create_server(("10.8.0.1", 80))
connection, _ = server.accept()
received = 0
while data := connection.recv(65536):
    received += len(data)
connection.sendall(f"{received}".encode())
"""


def test_a_transfer_and_its_tables(tmp_path: Path):
    server = f"{sys.executable} -c '{TAKE}'"
    done = airpath(
        *("--link", "8mbps", "--rtt", "20ms", "--server", server, "--json", "--capture", "receivers"),
        *("--", sys.executable, "-c", SEND, "600000"),
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert "600000" in done.stderr, "the command's output is on standard error"
    summary = json.loads(done.stdout)
    assert summary["validity"]["sent_packets"] == (
        summary["validity"]["delivered_packets"]
        + summary["validity"]["lost_packets"]
        + summary["validity"]["inside_packets"]
    )
    assert (tmp_path / summary["capture"]).stat().st_size > 10_000
    out = tmp_path / summary["out"]
    results = read(out)
    bottleneck = results.links.filter(results.links["link_name"].to_numpy() == "bottleneck").to_pylist()[0]
    assert 620_000 < bottleneck["departed_bytes"] < 700_000
    provenance = json.loads((out / "provenance.json").read_text())
    assert provenance["runs"][0]["validity"]["links"][0]["configured_bps"] == pytest.approx(8e6)
    assert provenance["runs"][0]["validity"]["lasted_s"] > 0.6


def test_the_exit_code_is_the_commands_also_of_several_at_once(tmp_path: Path):
    def code(number: int, *command: str) -> int:
        return airpath("--link", "8mbps", "--out", f"out-{number}", "--", *command, cwd=tmp_path).returncode

    commands = (["true"], ["sh", "-c", "exit 7"], ["sh", "-c", "kill -TERM $$"])
    with ThreadPoolExecutor() as threads:
        codes = threads.map(lambda numbered: code(numbered[0], *numbered[1]), enumerate(commands))
        assert list(codes) == [0, 7, 128 + signal.SIGTERM]


def test_the_duration_ends_the_command(tmp_path: Path):
    done = airpath("--link", "8mbps", "--duration", "500ms", "--", "sleep", "100", cwd=tmp_path)
    assert done.returncode == 124


def test_standard_output_is_the_commands_alone(tmp_path: Path):
    done = airpath("--link", "8mbps", "--", "echo", "mine", cwd=tmp_path)
    assert done.stdout == "mine\n"
    assert "bottleneck" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--", "no-such-command"], "starting `no-such-command`"),
        (["--server", "false", "--", "true"], "the server `false` ended with exit code 1"),
        (["--server", "sh -c 'echo broken; exit 3'", "--", "true"], "broken"),
    ],
)
def test_failures_to_start_are_one_message(tmp_path: Path, arguments, words):
    done = airpath("--link", "8mbps", *arguments, cwd=tmp_path)
    assert done.returncode == 1
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_ctrl_c_ends_the_command_and_keeps_the_results(tmp_path: Path):
    ready = tmp_path / "ready"
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "airpath", "emulate", "--link", "8mbps"),
            *("--", "sh", "-c", f"touch {ready}; exec sleep 100"),
        ],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    until = time.monotonic() + 60
    while not ready.exists() and time.monotonic() < until:
        time.sleep(0.05)
    time.sleep(0.3)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=240)
    assert process.returncode == 128 + signal.SIGINT, said
    assert (tmp_path / "out" / "emulate-8mbps" / "links.parquet").exists()


def test_the_python_api():
    from airpath.emulation import emulate, emulated_scenario

    result = emulate(["sleep", "0.3"], emulated_scenario("8mbps", rtt="10ms"))
    assert result.exit_code == 0
    assert result.results is not None
    assert result.validity.lasted_s > 0.3
    with pytest.raises(UsageError, match="no command"):
        emulate([], emulated_scenario("8mbps"))
    with pytest.raises(EmulationError, match="no-such-command"):
        emulate(["no-such-command"], emulated_scenario("8mbps"))


def test_a_capture_that_does_not_fit_is_reported_with_its_file():
    from airpath.emulation import CaptureUnfinishedError, emulate, emulated_scenario

    send = [sys.executable, "-c", SEND, "300000"]
    # A device that is always full.
    with pytest.raises(CaptureUnfinishedError, match=r"^/dev/full: .*No space left on device") as refused:
        emulate(
            send,
            emulated_scenario("8mbps", rtt="10ms"),
            server=[sys.executable, "-c", TAKE],
            capture=(Path("/dev/full"), ["senders"]),
            to_stderr=True,
        )
    # The measurements are there nevertheless.
    result = refused.value.result
    assert result.exit_code == 0
    assert result.results is not None
    links = result.results.links
    bottleneck = links.filter(links["link_name"].to_numpy() == "bottleneck").to_pylist()[0]
    assert bottleneck["departed_bytes"] > 300_000


def test_a_command_keeps_its_tables_when_the_capture_does_not_fit(tmp_path: Path):
    (tmp_path / "here.pcapng").symlink_to("/dev/full")
    server = f"{sys.executable} -c '{TAKE}'"
    done = airpath(
        *("--link", "8mbps", "--rtt", "20ms", "--server", server, "--out", "here", "--capture", "sender"),
        *("--force", "--", sys.executable, "-c", SEND, "300000"),
        cwd=tmp_path,
    )
    assert done.returncode == 1
    assert "here.pcapng: writing the capture: No space left on device" in done.stderr
    assert (tmp_path / "here" / "flows.parquet").is_file()
    assert (tmp_path / "here" / "report.html").is_file()


def test_a_scenario_has_its_links_captured(tmp_path: Path):
    from airpath.captures import analyse
    from airpath.emulation import emulate, emulated_scenario

    scenario = emulated_scenario("8mbps", rtt="10ms").override(
        {"record.capture": ["bottleneck", "bottleneck-reverse"]}
    )
    send = [sys.executable, "-c", SEND, "300000"]
    result = emulate(send, scenario, server=[sys.executable, "-c", TAKE], to_stderr=True)
    assert result.exit_code == 0
    assert result.results is not None
    packets = result.results.runs[0].record.capture
    assert packets is not None
    (tmp_path / "packets.pcapng").write_bytes(packets)
    (flow,) = analyse(tmp_path / "packets.pcapng", ()).flows[:1]
    assert flow.facts["acked_bytes"] == 300_000

"""airpath's routers and controllers in the kernel, over the emulator; skipped if no daemon can be started."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from processes import is_alive

import airpath
from airpath._backends import BackendName
from airpath.errors import ScenarioError
from airpath.metrics.run import columns
from airpath.results import RunResult

pytestmark = pytest.mark.usefixtures("datapath")


def scenario(rate: Any, *, duration: str = "9s") -> airpath.Scenario:
    return airpath.Scenario.from_dict(
        {
            "name": "step",
            "duration": duration,
            "record": {"warm_up": "1s"},
            "topology": {
                "kind": "dumbbell",
                "bottleneck": {
                    "rate": rate,
                    "delay": "10ms",
                    "queue": {"kind": "scheme", "limit": "100kB"},
                },
            },
            "transport": {"initial_window": "10 packets"},  # the window of the kernel
            "flows": [{"name": "flow", "scheme": "vcp-ebe", "count": 2}],
        }
    )


def test_vcp_over_a_router_that_estimates_follows_a_step(
    valid_run: Callable[[airpath.Scenario, BackendName], RunResult],
) -> None:
    stepping = scenario({"kind": "steps", "steps": [["0s", "10mbps"], ["5s", "5mbps"]]})
    run = valid_run(stepping, "routers")
    assert run.record.validity is not None
    assert (run.record.scheme, run.record.world) == ("kernel:airpath_vcp with routers", "routers")
    there, back = run.record.validity["routers"]
    assert (there["link"], back["link"]) == ("bottleneck", "bottleneck-reverse")
    assert (there["rate_changes"], there["vanished_packets"], there["stranger_packets"]) == (1, 0, 0)
    # The link is in the kernel, its record is that of the simulator.
    series = columns(run.link_series)
    mine = series["link"] == 0
    time_s, carried = series["time_s"][mine], series["departed_bytes"][mine] * 8 / 0.1
    before, after = carried[(time_s > 3) & (time_s < 5)].mean(), carried[time_s > 7].mean()
    assert 7e6 < before <= 10.1e6
    assert 3.5e6 < after <= 5.05e6
    # The estimates of the daemon are in the same table as those of a simulated router.
    observed = columns(run.link_observations)
    estimate = (observed["link"] == 0) & (observed["quantity"] == "capacity_estimate_bps")
    late = estimate & (observed["time_s"] > 7)
    assert np.isclose(observed["time_s"][late] * 10, np.round(observed["time_s"][late] * 10)).all()
    assert np.median(observed["value"][late]) == pytest.approx(5e6, rel=0.25)
    assert estimate.sum() >= 85
    assert np.isfinite(run.metrics["capacity_estimate_error_mean_percent"])


def test_a_rate_that_the_kernels_queue_cannot_follow_is_rejected_with_one_message() -> None:
    drawn = {"kind": "uniform", "low": "1mbps", "high": "5mbps", "hold": "50ms"}
    said = (
        "scenario: topology.bottleneck.rate: it changes more often than every 100 ms, .* accepted: steps of"
    )
    with pytest.raises(ScenarioError, match=said):
        airpath.run(scenario(drawn), world="routers")


def daemons_of(parent: int) -> dict[int, str]:
    """Return the daemons that a process has started, and the network namespace of each."""
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            status = (process / "status").read_text()
            name = (process / "comm").read_text().strip()
            namespace = str((process / "ns" / "net").readlink())
        except OSError:  # it has just ended
            continue
        if name == "airpathd" and f"PPid:\t{parent}\n" in status:
            found[int(process.name)] = namespace
    return found


def namespaces() -> set[str]:
    """Return the network namespaces of all processes and threads."""
    found = set()
    for namespace in Path("/proc").glob("[0-9]*/task/[0-9]*/ns/net"):
        try:
            found.add(str(namespace.readlink()))
        except OSError:
            continue
    return found


def test_nothing_is_left_behind_after_a_kill(tmp_path: Path) -> None:
    file = tmp_path / "step.json"
    file.write_text(json.dumps(scenario("10mbps", duration="60s").to_dict()))
    code = (
        "import json, sys, airpath;"
        "airpath.run(airpath.Scenario.from_dict(json.load(open(sys.argv[1]))), world='routers')"
    )
    runner = subprocess.Popen([sys.executable, "-c", code, str(file)])
    try:
        daemons: dict[int, str] = {}
        until = time.monotonic() + 120
        while len(daemons) < 3 and runner.poll() is None and time.monotonic() < until:
            time.sleep(0.2)
            daemons = daemons_of(runner.pid)
        assert len(daemons) == 3, "one for the hosts, one for each router"
        time.sleep(1)  # traffic is running
        assert set(daemons.values()) <= namespaces()
    finally:
        runner.send_signal(signal.SIGKILL)
        runner.wait()
    routers = set(daemons.values()) - {str(Path("/proc/self/ns/net").readlink())}
    assert len(routers) == 2
    until = time.monotonic() + 30
    while (left := [pid for pid in daemons if is_alive(pid)]) and time.monotonic() < until:
        time.sleep(0.05)
    assert not left
    # No other process holds them either, once the last threads have ended.
    while (held := routers & namespaces()) and time.monotonic() < until:
        time.sleep(0.05)
    assert not held
    # No connection continues without a process, which would keep its controller in use.
    if bpftool := shutil.which("bpftool", path=f"{os.environ['PATH']}:/usr/sbin"):
        until = time.monotonic() + 30
        while "airpath_vcp" in (maps := subprocess.check_output([bpftool, "map", "show"], text=True)):
            assert time.monotonic() < until, maps
            time.sleep(0.05)
    # The next run finds everything free.
    (run,) = airpath.run(scenario("10mbps", duration="2s"), world="routers").runs
    assert run.metrics["goodput_mbps"] > 1

"""Our controllers in the kernel, over the emulator; skipped where the daemon cannot be started."""

import pytest

import airpath
from airpath.datapath import Daemon, datapath_missing
from airpath.errors import EmulationError
from airpath.worlds import kernel_congestion_controls

pytestmark = pytest.mark.skipif(datapath_missing() is not None, reason=f"no datapath: {datapath_missing()}")


def test_vcp_in_the_kernel_hears_the_simulators_router() -> None:
    before = kernel_congestion_controls()
    scenario = airpath.Scenario.from_dict(
        {
            "name": "vcp",
            "duration": "4s",
            "record": {"warm_up": "1s"},
            "topology": {
                "kind": "dumbbell",
                "bottleneck": {
                    "rate": "2Mbps",
                    "delay": "20ms",
                    "queue": {"kind": "scheme", "limit": "60kB"},
                },
            },
            "flows": [{"name": "flow", "scheme": "vcp", "count": 2}],
        }
    )
    (run,) = airpath.run(scenario, world="datapath").runs
    assert (run.record.scheme, run.record.world) == ("kernel:airpath_vcp", "datapath")
    # A window-based TCP would fill the buffer (240 ms) and lose; VCP keeps the queue short.
    assert run.metrics["utilisation"] > 0.7
    assert run.metrics["queueing_p95_ms"] < 120
    assert run.metrics["retransmitted_packets"] == 0
    assert kernel_congestion_controls() == before


def test_a_daemon_that_cannot_start_says_why() -> None:
    daemon = Daemon()
    with pytest.raises(EmulationError, match="airpathd did not start"):
        daemon.start(["/proc/self/ns/net"], "no-such-dev")
    daemon.stop()
